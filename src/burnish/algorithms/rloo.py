"""RLOO: REINFORCE with the mean of the other samples as baseline.

    A    = R_i - mean of R_j, j != i  =  n/(n-1) (R_i - mean of group)
    loss = -A sg(min(r, c)) log pi + k sg(min(r, c)) k2(pi, ref),   r = pi/mu

Token losses are summed inside each sample (the log-prob of the whole completion), then averaged over
samples, so gradients grow with length: lower the learning rate for long completions.

Paper: 2402.14740.
No signal: all valid rewards of a group are equal, or fewer than two are valid.
How ours differs: the paper subtracts k times the summed k1 from the reward of a completion, and so from the
baseline too; `kl_in = "reward"` with k1 charges each token for itself and what follows, which has the same
expected gradient. By default each token pays for its own KL only, as k2 in the loss. Tokens drawn by an older
policy carry the truncated weight; on-policy it is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from burnish.algorithms import aggregation
from burnish.algorithms.advantages import leave_one_out
from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.group import GroupRelative
from burnish.algorithms.losses import weighted_gradient
from burnish.algorithms.scales import DomainScales


@dataclass(frozen=True)
class Rloo(GroupRelative):
    """The preset `rloo`."""

    name: ClassVar[str] = "rloo"

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Leave-one-out; the scales are not used."""
        return leave_one_out(batch.rewards, batch.valid), scales

    def surrogate(self, batch: TokenBatch) -> tuple[Tensor, Tensor]:
        """Policy gradient with truncated weights; clipped are those that were truncated."""
        return weighted_gradient(batch.logprobs, batch.behaviour, batch.advantages, self.settings.ratio_cap)

    def weights(self, lengths: Tensor, active: Tensor) -> Tensor:
        """Sum over tokens of a sample, mean over samples."""
        return aggregation.sequence_mean_token_sum(lengths, active)
