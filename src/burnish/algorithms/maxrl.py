"""MaxRL: advantages divided by the group's success rate.

    A    = (R - mean of group) / mean of group, 0 where the mean is 0
    loss = -min(r A, clip(r, 1 - low, 1 + high) A),   r = pi/mu

With rewards of 0 and 1 the expected weight of a prompt is (1 - (1 - p)^(N-1)) / p, p its success rate: near
1/p, so the update climbs log p, the likelihood of success, and hard prompts come first. Token losses are
averaged over all tokens of the step.

Paper: 2602.02710.
No signal: all valid rewards of a group are equal, or fewer than two are valid.
How ours differs: rewards are not negative, and 0 means failure. Adding a constant to them is another
objective, as it is nowhere else: the mean is what is divided by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from burnish.algorithms import aggregation
from burnish.algorithms.advantages import mean_normalised
from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.group import GroupRelative
from burnish.algorithms.losses import clipped_surrogate
from burnish.algorithms.scales import DomainScales


@dataclass(frozen=True)
class MaxRl(GroupRelative):
    """The preset `maxrl`."""

    name: ClassVar[str] = "maxrl"

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Divided by the group's mean; the scales are not used."""
        return mean_normalised(batch.rewards, batch.valid), scales

    def surrogate(self, batch: TokenBatch) -> tuple[Tensor, Tensor]:
        """Clipped ratio."""
        return clipped_surrogate(batch, self.settings)

    def weights(self, lengths: Tensor, active: Tensor) -> Tensor:
        """Mean over all tokens of the step."""
        return aggregation.token_mean(lengths, active)
