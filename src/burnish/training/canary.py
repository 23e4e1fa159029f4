"""The weight-sync canary: after every sync, what the engine holds must be what the trainer has.

Three checks, cheapest first: the version, an exact checksum of every trained tensor (of all tensors at the
first sync), and the log-probs of fixed completions, which also see what checksums cannot: a stale cache, or
an adapter that is held but not used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from burnish.errors import TrainingError
from burnish.models.checksums import checksums
from burnish.models.policy import Policy, hidden_states, output_weight
from burnish.records import WeightVersion
from burnish.rollout.held import Held, Probe

TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 0.1}
"""Largest difference of a log-prob between two ways to compute it from the same weights, by type."""
_TEXT = "1 + 1 = 2, 2 + 2 = 4, 3 + 3 = 6, 4 + 4 = 8, 5 + 5 = 10, 6 + 6 = 12"
_LENGTH, _SCORED = 16, 4
"""Tokens of the probe, and how many of them are scored: a forward pass of a few rows on each side, of a
length that engines need not pad, so that both sides round alike."""
_KEPT = 16
"""Versions whose expectations are remembered; above the largest staleness."""


def probes_for(policy: Policy) -> tuple[Probe, ...]:
    """The fixed completions, in the tokens of a policy."""
    ids = policy.encode_completion(_TEXT)[:_LENGTH]
    return (Probe(ids[:-_SCORED], ids[-_SCORED:]),)


@torch.no_grad()
def score(policy: Policy, probe: Probe) -> list[float]:
    """Log-prob of each completion token of a probe, by the model that is trained."""
    ids = torch.tensor([[*probe.prompt_ids, *probe.completion_ids]])
    length, first = ids.shape[1], len(probe.prompt_ids)
    mask = torch.ones(length, length, dtype=torch.bool).tril()[None, None]
    hidden = hidden_states(policy.causal, ids, mask, torch.arange(length)[None])[0, first - 1 : -1]
    logprobs = (hidden.float() @ output_weight(policy.causal).float().T).log_softmax(-1)
    return logprobs.gather(-1, ids[0, first:, None])[:, 0].tolist()


class Canary:
    """Knows what the trainer held at each sync, and compares."""

    def __init__(self, policy: Policy, probes: Sequence[Probe]):
        """Watch a policy.

        Args:
            policy: the one that is trained.
            probes: completions to score.
        """
        self._policy = policy
        self._probes = tuple(probes)
        self._frozen = checksums({n: p for n, p in policy.model.named_parameters() if not p.requires_grad})
        self._expected: dict[WeightVersion, Held] = {}
        self.gap = 0.0
        """Largest difference of a log-prob seen so far."""

    def expect(self, version: WeightVersion) -> None:
        """Note what the trainer holds now, as this version."""
        held = Held(version, checksums(self._policy.trainable()), self._score())
        self._expected[version] = held
        for old in sorted(self._expected)[:-_KEPT]:
            del self._expected[old]

    def _score(self) -> tuple[float, ...]:
        return tuple(value for probe in self._probes for value in score(self._policy, probe))

    def verify(self, held: Held, version: WeightVersion) -> None:
        """Compare what an engine holds with what was sent as `version`.

        Raises:
            TrainingError: they differ; it says in which check and by how much.
        """
        expected = self._expected[version]
        if held.version != version:
            raise _disagree("version", f"version {held.version}", f"version {version}")
        self._compare_tensors(held.checksums, {**self._frozen, **expected.checksums})
        gaps = [abs(a - b) for a, b in zip(expected.logprobs, held.logprobs, strict=True)]
        gap = max(gaps, default=0.0)
        bound = TOLERANCE.get(self._policy.dtype, 0.1)
        if not gap <= bound:
            raise _disagree("score", f"log-probs that differ by up to {gap:.3g}", f"at most {bound:g}")
        self.gap = max(self.gap, gap)

    def _compare_tensors(self, held: Mapping[str, str], expected: Mapping[str, str]) -> None:
        odd = sorted(n for n, value in expected.items() if held.get(n) != value)
        if not odd:
            return
        name = odd[0]
        raise _disagree(
            "tensors",
            f"{len(odd)} of {len(expected)} tensors differ, the first: {name}: {held.get(name, 'missing')}",
            f"{name}: {expected[name]}",
        )


def _disagree(check: str, got: str, expected: str) -> TrainingError:
    return TrainingError(
        f"the rollout engine does not hold the trainer's weights (canary check: {check})",
        got=got,
        expected=expected,
        next_step="nothing drawn with these weights was used; resume from the last checkpoint, and if it "
        "happens again report it",
    )
