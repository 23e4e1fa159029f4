"""GRPO: group-standardised advantages, a clipped ratio, and k3 to the reference.

    A    = (R - mean of group) / (std of group + 1e-6)
    loss = -min(r A, clip(r, 1 - low, 1 + high) A) + k k3(pi, ref),   r = pi/mu

Token losses are averaged inside each sample, then over samples.

Papers: 2402.03300; 2503.14476 for the wider upper clip (equal clips give the original); 1912.09729 for
`dual_clip`, which bounds the loss of a token with A < 0.
No signal: all valid rewards of a group are equal, or fewer than two are valid; then std + eps would divide 0.
How ours differs: mu, the sampler, stands for the old policy; groups without signal leave the denominator.
Dividing by the group's std makes a group with rewards .01 and .05 push as hard as one with .01 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from burnish.algorithms import aggregation
from burnish.algorithms.advantages import standardised
from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.group import GroupRelative
from burnish.algorithms.losses import clipped_surrogate
from burnish.algorithms.scales import DomainScales


@dataclass(frozen=True)
class Grpo(GroupRelative):
    """The preset `grpo`."""

    name: ClassVar[str] = "grpo"

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Standardised by group; the scales are not used."""
        return standardised(batch.rewards, batch.valid), scales

    def surrogate(self, batch: TokenBatch) -> tuple[Tensor, Tensor]:
        """Clipped ratio."""
        return clipped_surrogate(batch, self.settings)

    def weights(self, lengths: Tensor, active: Tensor) -> Tensor:
        """Mean over tokens of a sample, then over samples."""
        return aggregation.sequence_mean_token_mean(lengths, active)
