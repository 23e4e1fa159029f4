"""GSPO: one clipped ratio for a whole completion.

    A    = (R - mean of group) / (std of group + 1e-6)
    s    = exp(mean over tokens of log r) = (pi(y) / mu(y))^(1/L),   r = pi/mu
    loss = -min(s A, clip(s, 1 - low, 1 + high) A)

Each token stands for its completion: the value is that of s, the gradient flows through its own log pi. Token
losses are averaged inside each sample, then over samples.

Paper: 2507.18071; with the ratio of a completion this near 1, the clips are 3e-4 and 4e-4.
No signal: all valid rewards of a group are equal, or fewer than two are valid.
How ours differs: mu, the sampler, stands for the old policy; groups without signal leave the denominator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from burnish.algorithms import aggregation
from burnish.algorithms.advantages import standardised
from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.group import GroupRelative
from burnish.algorithms.losses import clipped_by, sequence_ratio
from burnish.algorithms.scales import DomainScales


@dataclass(frozen=True)
class Gspo(GroupRelative):
    """The preset `gspo`."""

    name: ClassVar[str] = "gspo"

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Standardised by group; the scales are not used."""
        return standardised(batch.rewards, batch.valid), scales

    def surrogate(self, batch: TokenBatch) -> tuple[Tensor, Tensor]:
        """Clipped ratio of the completion; needs `lengths`."""
        s = self.settings
        ratio = sequence_ratio(batch.logprobs, batch.behaviour, batch.bounds)
        return clipped_by(ratio, batch.advantages, s.clip_low, s.clip_high)

    def weights(self, lengths: Tensor, active: Tensor) -> Tensor:
        """Mean over tokens of a sample, then over samples."""
        return aggregation.sequence_mean_token_mean(lengths, active)
