"""DAPO: GRPO with a wider upper clip, a mean over all tokens, and no reward for running on.

    R'   = R - penalty * max(0, L - (1 - share) M) / (share M),   M the longest completion allowed
    A    = (R' - mean of group) / (std of group + 1e-6)
    loss = -min(r A, clip(r, 1 - low, 1 + high) A),   r = pi/mu

Token losses are averaged over all tokens of the step. `overlong_filter` leaves completions that were cut off
out of the update altogether.

Paper: 2503.14476.
No signal: all R' of a group are equal, or fewer than two are valid. The length of an answer is signal too.
How ours differs: prompts without signal are left out of the denominator; replacing them by others of their
domain is the curriculum's business.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from torch import Tensor

from burnish.algorithms import aggregation
from burnish.algorithms.advantages import live, standardised
from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.group import GroupRelative
from burnish.algorithms.losses import clipped_surrogate
from burnish.algorithms.scales import DomainScales


@dataclass(frozen=True)
class Dapo(GroupRelative):
    """The preset `dapo`."""

    name: ClassVar[str] = "dapo"

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Standardised by group after the penalty; the scales are not used."""
        shaped = self._shaped(batch)
        return standardised(shaped.rewards, shaped.valid), scales

    def active(self, batch: RewardBatch) -> Tensor:
        """Samples that count, of groups with signal after the penalty."""
        shaped = self._shaped(batch)
        return live(shaped.rewards, shaped.valid)

    def _shaped(self, batch: RewardBatch) -> RewardBatch:
        s = self.settings
        if s.overlong_filter and batch.cut is not None:
            batch = replace(batch, valid=batch.valid & ~batch.cut)
        if batch.lengths is None or not (s.overlong_share and s.overlong_penalty and self.max_tokens):
            return batch
        return replace(
            batch,
            rewards=batch.rewards
            - s.overlong_penalty * overlong(batch.lengths, self.max_tokens, s.overlong_share),
        )

    def surrogate(self, batch: TokenBatch) -> tuple[Tensor, Tensor]:
        """Clipped ratio."""
        return clipped_surrogate(batch, self.settings)

    def weights(self, lengths: Tensor, active: Tensor) -> Tensor:
        """Mean over all tokens of the step."""
        return aggregation.token_mean(lengths, active)


def overlong(lengths: Tensor, longest: int, share: float) -> Tensor:
    """How far each completion is into the last `share` of `longest` tokens: 0 before it, 1 at its end."""
    room = share * longest
    return ((lengths - (longest - room)) / room).clamp(0, 1)
