"""RLOO: REINFORCE with the mean of the other samples as baseline.

    A    = R_i - mean of R_j, j != i  =  n/(n-1) (R_i - mean of group)
    loss = -A sg(min(r, c)) log pi + k sg(min(r, c)) k2(pi, ref),   r = pi/mu

Token losses are summed inside each sample (the log-prob of the whole completion), then averaged over
samples, so gradients grow with length: lower the learning rate for long completions.

Paper: 2402.14740.
No signal: all valid rewards of a group are equal, or fewer than two are valid.
How ours differs: the paper subtracts k times the summed k1 from the reward of a completion. Ours charges each
token for its own k1 only, which has the same gradient as k2 in the loss, and leaves later tokens and the
baseline out of it. Tokens drawn by an older policy carry the truncated weight; on-policy it is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from burnish.algorithms import aggregation
from burnish.algorithms.advantages import leave_one_out
from burnish.algorithms.base import RewardBatch, TokenBatch, TokenLoss
from burnish.algorithms.losses import capped_ratio, policy_gradient
from burnish.algorithms.metrics import token_metrics
from burnish.algorithms.penalties import reference_k2
from burnish.algorithms.scales import DomainScales
from burnish.algorithms.settings import AlgorithmSettings


@dataclass(frozen=True)
class Rloo:
    """The preset `rloo`."""

    settings: AlgorithmSettings
    name: ClassVar[str] = "rloo"

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Leave-one-out; the scales are not used."""
        return leave_one_out(batch.rewards, batch.valid), scales

    def token_loss(self, batch: TokenBatch) -> TokenLoss:
        """Policy gradient with truncated weights plus weighted k2; `clipped` marks truncated weights."""
        s = self.settings
        ratio = capped_ratio(batch.logprobs, batch.behaviour, s.ratio_cap)
        loss = policy_gradient(batch.logprobs, batch.advantages, ratio)
        loss = loss + reference_k2(batch, ratio, s.kl_coef)
        log_ratio = batch.logprobs.detach() - batch.behaviour
        return TokenLoss(loss, token_metrics(batch, log_ratio > math.log(s.ratio_cap)))

    def weights(self, lengths: Tensor, active: Tensor) -> Tensor:
        """Sum over tokens of a sample, mean over samples."""
        return aggregation.sequence_mean_token_sum(lengths, active)
