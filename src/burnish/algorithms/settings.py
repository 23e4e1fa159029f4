"""The `[algorithm]` table of a recipe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from burnish.algorithms.catalogue import PRESETS, RUN_WIDE

Name = Literal[
    "dppo",
    "grpo",
    "dr_grpo",
    "dapo",
    "gspo",
    "cispo",
    "sapo",
    "maxrl",
    "rloo",
    "remax",
    "reinforce_pp",
    "ppo",
]
Estimator = Literal["k1", "k2", "k3"]
Correction = Literal["none", "truncate", "mask", "sequence_truncate", "sequence_mask", "geometric_mask"]

_ALWAYS = ("name", "overrides", "domains")


class PresetSettings(BaseModel):
    """A preset and its keys; `burnish algorithms` says which preset reads which."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)

    name: Name = "dppo"
    """Preset; `burnish algorithms` lists them with the keys that each reads."""
    trust_region: float = Field(default=0.2, gt=0, le=1)
    """A token leaves the loss once its probability moved this far in the direction of its update."""
    std_floor: float = Field(default=0.1, gt=0)
    """Advantages are divided by the domain's running reward std, or by this if it is smaller."""
    std_decay: float = Field(default=0.9, ge=0, lt=1)
    """What remains of a domain's old rewards in its running std after each new group of that domain."""
    advantage_clip: float = Field(default=5.0, gt=0)
    """Largest absolute advantage."""
    behaviour_coef: float = Field(default=1e-3, ge=0)
    """Strength of the pull towards the sampler, the square of log(policy/sampler)."""
    clip_low: float = Field(default=0.2, gt=0, le=1)
    """The ratio policy/sampler is clipped below at 1 - clip_low."""
    clip_high: float = Field(default=0.28, gt=0)
    """The ratio policy/sampler is clipped above at 1 + clip_high."""
    dual_clip: float = Field(default=0.0, ge=0)
    """Where the advantage is negative, the ratio counts at most this much (1912.09729); 0 = no such bound."""
    weight_low: float = Field(default=0.0, ge=0)
    """Smallest importance weight of a token."""
    weight_high: float = Field(default=5.0, ge=1)
    """Largest importance weight of a token."""
    gate_positive: float = Field(default=1.0, gt=0)
    """Steepness of the gate where the advantage is positive."""
    gate_negative: float = Field(default=1.05, gt=0)
    """Steepness of the gate where the advantage is negative."""
    overlong_share: float = Field(default=0.2, ge=0, le=1)
    """Last share of rollout.max_tokens in which the penalty on length rises; 0 = no penalty."""
    overlong_penalty: float = Field(default=1.0, ge=0)
    """Reward taken from an answer that reaches rollout.max_tokens."""
    overlong_filter: bool = False
    """Leave answers that were cut off out of the update."""
    group_baseline: bool = False
    """Subtract the mean of the group before whitening over the batch."""
    critic: Literal["own", "shared"] = "own"
    """Backbone of the critic: a copy of the starting policy, or the policy itself."""
    critic_lr: float = Field(default=1e-5, gt=0)
    """Learning rate of the critic; constant."""
    critic_warmup: int = Field(default=0, ge=0)
    """Steps in which only the critic learns."""
    gae_decay: float = Field(default=0.95, ge=0, le=1)
    """Lambda of GAE: 1 trusts rewards alone, 0 the critic alone."""
    gae_discount: float = Field(default=1.0, gt=0, le=1)
    """What a reward is worth one token earlier."""
    value_clip: float = Field(default=0.2, ge=0)
    """How far from its old value a value still learns; 0 = no bound."""
    value_coef: float = Field(default=0.1, ge=0)
    """Weight of the value loss where it reaches the policy's weights (`critic = "shared"`)."""
    correction: Correction = "none"
    """Importance correction of what older weights have drawn. `none`: the loss compares the policy with the
    sampler itself. Otherwise it compares the policy with the start of the update, and each token is weighted
    by policy/sampler: its own ratio or the product over its completion, truncated at correction_high, or 0
    outside of both limits; `geometric_mask` keeps completions whose mean ratio is inside, unweighted."""
    correction_low: float = Field(default=0.5, ge=0)
    """Ratios below this are masked."""
    correction_high: float = Field(default=2.0, gt=0)
    """Ratios above this are truncated or masked."""
    ratio_cap: float = Field(default=20.0, ge=1)
    """Largest importance weight policy/sampler of a token, in the pull towards the reference too."""
    kl_coef: float = Field(default=1e-3, ge=0)
    """Strength of the pull towards the reference; 0 needs no reference."""
    kl_estimator: Estimator = "k2"
    """Estimator of the KL to the reference. In the loss, k2 has the gradient of KL(policy, reference), k3
    that of KL(reference, policy), k1 none; in the reward, k1 has that of KL(policy, reference)."""
    kl_in: Literal["loss", "reward"] = "loss"
    """Where the pull enters: as a term of the loss, or taken from the reward of this and earlier tokens."""
    entropy_coef: float = Field(default=0.0, ge=0)
    """Bonus on the entropy of the next-token distribution at every trained token."""


class DomainAlgorithm(PresetSettings):
    """Another preset, or other values of its keys, for some domains."""

    domains: tuple[str, ...] = Field(min_length=1)
    """Domains by name or pattern (`reasoning-gym/games/*`); of several tables that match, the last counts."""

    @model_serializer(mode="wrap")
    def _only_what_is_read(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        read = (*_ALWAYS, *set(PRESETS[self.name].keys) - set(RUN_WIDE))
        return {key: value for key, value in handler(self).items() if key in read}


class AlgorithmSettings(PresetSettings):
    """How rewards become a policy update."""

    kl_target: float = Field(default=0.0, ge=0)
    """KL to the reference in nats a token that kl_coef is steered to (1909.08593); 0 leaves it alone."""
    kl_horizon: float = Field(default=10_000.0, gt=0)
    """Completions over which the steering of kl_coef acts; fewer is faster."""
    reference_every: int = Field(default=0, ge=0)
    """Steps after which the reference becomes the present policy and the optimiser starts anew; 0 = never."""
    reference_decay: float = Field(default=0.0, ge=0, lt=1)
    """The reference follows the policy: after each step this share of it remains; 0 keeps it frozen."""
    entropy_target: float = Field(default=0.0, ge=0)
    """Entropy in nats a token below which the entropy bonus is raised; 0 leaves the bonus alone."""
    entropy_step: float = Field(default=5e-3, gt=0)
    """How much the entropy bonus is raised or lowered after a step."""
    overrides: tuple[DomainAlgorithm, ...] = ()
    """Tables with other settings for some domains."""

    @property
    def needs_reference(self) -> bool:
        """Whether any domain is pulled towards a reference."""
        return self.kl_coef > 0 or any(override.kl_coef > 0 for override in self.overrides)

    @property
    def moves_reference(self) -> bool:
        """Whether the reference is anything but frozen."""
        return self.reference_every > 0 or self.reference_decay > 0

    @model_validator(mode="after")
    def _resolve(self) -> AlgorithmSettings:
        complaints = [
            *_ignored(self, ""),
            *(c for i, o in enumerate(self.overrides) for c in _over(self, o, i)),
        ]
        if complaints:
            raise ValueError("\n".join(complaints))
        _fill(self, PRESETS[self.name].defaults)
        for override in self.overrides:
            same = "name" not in override.model_fields_set or override.name == self.name
            inherited = {key: getattr(self, key) for key in PRESETS[self.name].keys if key not in RUN_WIDE}
            _fill(override, {"name": self.name, **inherited} if same else PRESETS[override.name].defaults)
        return self

    @model_serializer(mode="wrap")
    def _only_what_is_read(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        read = (*_ALWAYS, *PRESETS[self.name].keys)
        return {key: value for key, value in handler(self).items() if key in read}


def _fill(settings: PresetSettings, defaults: Any) -> None:
    """Give keys that the recipe does not set the defaults of their preset."""
    for key, value in defaults.items():
        if key not in settings.model_fields_set:
            object.__setattr__(
                settings, key, value
            )  # frozen for everybody but the validator that completes it


def _over(base: AlgorithmSettings, override: DomainAlgorithm, number: int) -> list[str]:
    name = override.name if "name" in override.model_fields_set else base.name
    if name != base.name and not (PRESETS[name].per_domain and PRESETS[base.name].per_domain):
        odd = base.name if not PRESETS[base.name].per_domain else name
        return [f'overrides #{number + 1}: "{odd}" is for a whole run, not for some of its domains']
    return _ignored(override, f"overrides #{number + 1}: ", name, without=RUN_WIDE)


def _ignored(
    settings: PresetSettings, where: str, name: str | None = None, without: Iterable[str] = ()
) -> list[str]:
    """A sentence for every key that is set although its preset does not read it."""
    name = name or settings.name
    read = [key for key in PRESETS[name].keys if key not in set(without)]
    odd = sorted(settings.model_fields_set - {*read, *_ALWAYS})
    return [
        f'{where}{key} is not read by "{name}"{_readers(key, settings)}; it takes {", ".join(sorted(read))}'
        for key in odd
    ]


def _readers(key: str, settings: PresetSettings) -> str:
    """Who reads a key, where somebody does."""
    names: Sequence[str] = [f'"{p.name}"' for p in PRESETS.values() if key in p.keys]
    return f" but by {', '.join(names)}" if names and len(names) < len(PRESETS) else ""
