"""Dr.GRPO: GRPO without its two divisions, which favour easy and hard prompts and long wrong answers.

    A    = R - mean of group
    loss = -min(r A, clip(r, 1 - low, 1 + high) A),   r = pi/mu

Token losses are summed inside each sample and divided by the longest completion allowed, then averaged over
samples.

Paper: 2503.20783.
No signal: all valid rewards of a group are equal, or fewer than two are valid.
How ours differs: groups without signal leave the denominator; the constant is rollout.max_tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from burnish.algorithms import aggregation
from burnish.algorithms.advantages import centred
from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.group import GroupRelative
from burnish.algorithms.losses import clipped_surrogate
from burnish.algorithms.scales import DomainScales


@dataclass(frozen=True)
class DrGrpo(GroupRelative):
    """The preset `dr_grpo`."""

    name: ClassVar[str] = "dr_grpo"

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Centred by group; the scales are not used."""
        return centred(batch.rewards, batch.valid), scales

    def surrogate(self, batch: TokenBatch) -> tuple[Tensor, Tensor]:
        """Clipped ratio."""
        return clipped_surrogate(batch, self.settings)

    def weights(self, lengths: Tensor, active: Tensor) -> Tensor:
        """Sum over tokens of a sample over the constant, mean over samples."""
        return aggregation.sequence_mean_token_sum_over(max(self.max_tokens, 1), lengths, active)
