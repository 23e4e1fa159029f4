"""The presets: a line on each, its paper, where its code is, and the recipe keys it reads.

This file imports no framework, so that a recipe is judged before anything heavy is loaded. A key that a
preset does not read is refused in its recipe; a default given here takes the place of the general one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PULLS = ("kl_coef", "kl_estimator", "kl_in", "ratio_cap", "entropy_coef")
"""Read for every preset: the pull towards the reference and the entropy bonus."""
RUN_WIDE = ("kl_target", "kl_horizon", "reference_every", "reference_decay", "entropy_target", "entropy_step")
"""Read once for the whole run: they steer what is shared by all domains."""
CORRECTION = ("correction", "correction_low", "correction_high")
CRITIC = (
    "critic", "critic_lr", "critic_warmup", "gae_decay", "gae_discount", "value_clip", "value_coef",
)  # fmt: skip
CLIP = ("clip_low", "clip_high", "dual_clip")

NO_PULL = {"kl_coef": 0.0}
FORWARD_PULL = {"kl_estimator": "k3"}


@dataclass(frozen=True, slots=True)
class Preset:
    """One named algorithm."""

    name: str
    line: str
    """What it does, in one line."""
    paper: str
    """arXiv numbers."""
    code: str
    """`module:Class` of its arithmetic."""
    own: tuple[str, ...] = ()
    """Keys it reads beside those that every preset reads."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Defaults that differ from the general ones."""
    per_domain: bool = True
    """Whether it may be chosen for some domains of a run only."""
    least_samples: int = 2
    """Completions of a prompt below which it learns nothing."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key of `[algorithm]` it reads, but for `name` and `overrides`."""
        return (*self.own, *PULLS, *RUN_WIDE)


_DPPO = ("trust_region", "std_floor", "std_decay", "advantage_clip", "behaviour_coef")

PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "dppo",
            "the default: advantages in units of the domain's running std, a trust region in probabilities",
            "2602.04879",
            "burnish.algorithms.dppo:Dppo",
            _DPPO,
        ),
        Preset(
            "grpo",
            "group-standardised advantages, a clipped ratio, k3 to the reference",
            "2402.03300",
            "burnish.algorithms.grpo:Grpo",
            (*CLIP, *CORRECTION),
            FORWARD_PULL,
        ),
        Preset(
            "dr_grpo",
            "GRPO without the divisions by the group's std and by the length",
            "2503.20783",
            "burnish.algorithms.dr_grpo:DrGrpo",
            (*CLIP, *CORRECTION),
            {**NO_PULL, "clip_high": 0.2},
        ),
        Preset(
            "dapo",
            "GRPO with a wider upper clip, a mean over all tokens and a penalty on overlong answers",
            "2503.14476",
            "burnish.algorithms.dapo:Dapo",
            (*CLIP, *CORRECTION, "overlong_share", "overlong_penalty", "overlong_filter"),
            NO_PULL,
        ),
        Preset(
            "gspo",
            "one clipped ratio for a whole completion, the geometric mean of its tokens'",
            "2507.18071",
            "burnish.algorithms.gspo:Gspo",
            ("clip_low", "clip_high", *CORRECTION),
            {**NO_PULL, "clip_low": 3e-4, "clip_high": 4e-4},
        ),
        Preset(
            "cispo",
            "policy gradient whose importance weight is clipped: no token is left without gradient",
            "2506.13585",
            "burnish.algorithms.cispo:Cispo",
            ("weight_low", "weight_high", *CORRECTION),
            NO_PULL,
        ),
        Preset(
            "sapo",
            "a smooth gate in place of the clip, sharper for negative advantages",
            "2511.20347",
            "burnish.algorithms.sapo:Sapo",
            ("gate_positive", "gate_negative", *CORRECTION),
            NO_PULL,
        ),
        Preset(
            "maxrl",
            "advantages divided by the group's success rate: the likelihood of success, hard prompts first",
            "2602.02710",
            "burnish.algorithms.maxrl:MaxRl",
            (*CLIP, *CORRECTION),
            NO_PULL,
        ),
        Preset(
            "rloo",
            "REINFORCE with the mean of the other samples as baseline",
            "2402.14740",
            "burnish.algorithms.rloo:Rloo",
        ),
        Preset(
            "remax",
            "REINFORCE with the reward of the greedy completion as baseline",
            "2310.10505",
            "burnish.algorithms.remax:ReMax",
            per_domain=False,
            least_samples=1,
        ),
        Preset(
            "reinforce_pp",
            "rewards whitened over the whole batch, a clipped ratio, k1 in the reward",
            "2501.03262",
            "burnish.algorithms.reinforce_pp:ReinforcePp",
            (*CLIP, *CORRECTION, "group_baseline"),
            {"kl_estimator": "k1", "kl_in": "reward"},
            least_samples=1,
        ),
        Preset(
            "ppo",
            "a learned critic says how well each token went (GAE); a clipped ratio",
            "1707.06347",
            "burnish.algorithms.ppo:Ppo",
            (*CLIP, *CORRECTION, *CRITIC),
            {"clip_high": 0.2},
            per_domain=False,
            least_samples=1,
        ),
    )
}
