"""CISPO: the importance weight is clipped, not the token.

    A    = (R - mean of group) / (std of group + 1e-6)
    loss = -sg(clip(r, low, high)) A log pi,   r = pi/mu

No token is ever left without gradient, which keeps rare and decisive ones in the update. Token losses are
averaged over all tokens of the step.

Papers: 2506.13585; 2510.13786 for the bound 5 without a lower one.
No signal: all valid rewards of a group are equal, or fewer than two are valid.
How ours differs: `weight_high` bounds the ratio itself, as in TRL; in verl and open-instruct it is 1 + high.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from burnish.algorithms import aggregation
from burnish.algorithms.advantages import standardised
from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.group import GroupRelative
from burnish.algorithms.losses import MAX_LOG_RATIO, policy_gradient
from burnish.algorithms.scales import DomainScales


@dataclass(frozen=True)
class Cispo(GroupRelative):
    """The preset `cispo`."""

    name: ClassVar[str] = "cispo"

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Standardised by group; the scales are not used."""
        return standardised(batch.rewards, batch.valid), scales

    def surrogate(self, batch: TokenBatch) -> tuple[Tensor, Tensor]:
        """Policy gradient with clipped weights; clipped are the tokens whose weight was."""
        s = self.settings
        ratio = (batch.logprobs - batch.behaviour).detach().clamp(max=MAX_LOG_RATIO).exp()
        weight = ratio.clamp(s.weight_low, s.weight_high)
        return policy_gradient(batch.logprobs, batch.advantages, weight), weight != ratio

    def weights(self, lengths: Tensor, active: Tensor) -> Tensor:
        """Mean over all tokens of the step."""
        return aggregation.token_mean(lengths, active)
