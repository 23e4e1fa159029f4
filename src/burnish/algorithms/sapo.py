"""SAPO: a smooth gate in place of the clip.

    A    = (R - mean of group) / (std of group + 1e-6)
    loss = -(4 / t) sigmoid(t (r - 1)) A,   r = pi/mu,   t = t_pos where A > 0, else t_neg

The slope in r is A at r = 1 and fades on both sides, faster where A < 0. Token losses are averaged inside
each sample, then over samples.

Paper: 2511.20347.
No signal: all valid rewards of a group are equal, or fewer than two are valid.
How ours differs: mu, the sampler, stands for the old policy; groups without signal leave the denominator.
Nothing is clipped, so the figure `clipped` counts tokens whose slope has fallen below half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from burnish.algorithms import aggregation
from burnish.algorithms.advantages import standardised
from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.group import GroupRelative
from burnish.algorithms.losses import MAX_LOG_RATIO, smooth_gate
from burnish.algorithms.scales import DomainScales


@dataclass(frozen=True)
class Sapo(GroupRelative):
    """The preset `sapo`."""

    name: ClassVar[str] = "sapo"

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Standardised by group; the scales are not used."""
        return standardised(batch.rewards, batch.valid), scales

    def surrogate(self, batch: TokenBatch) -> tuple[Tensor, Tensor]:
        """Gated ratio."""
        s = self.settings
        loss = smooth_gate(
            batch.logprobs, batch.behaviour, batch.advantages, s.gate_positive, s.gate_negative
        )
        return loss, self._slope(batch) < 0.5

    def _slope(self, batch: TokenBatch) -> Tensor:
        """4 sigmoid (1 - sigmoid): 1 at r = 1."""
        s = self.settings
        ratio = (batch.logprobs - batch.behaviour).detach().clamp(max=MAX_LOG_RATIO).exp()
        steepness = torch.where(batch.advantages > 0, s.gate_positive, s.gate_negative)
        gate = torch.sigmoid(steepness * (ratio - 1))
        return 4 * gate * (1 - gate)

    def weights(self, lengths: Tensor, active: Tensor) -> Tensor:
        """Mean over tokens of a sample, then over samples."""
        return aggregation.sequence_mean_token_mean(lengths, active)
