"""ReMax: REINFORCE with the reward of the greedy completion as baseline.

    A    = R - R(greedy completion of the same prompt)
    loss = -A sg(min(r, c)) log pi + k sg(min(r, c)) k2(pi, ref),   r = pi/mu

Token losses are summed inside each sample, then averaged over samples. One more completion a prompt is drawn,
greedily; it is graded and never trained on.

Paper: 2310.10505.
No signal: every scored sample of a group earns what the greedy one earns, or the greedy one has no verdict.
How ours differs: the paper puts k1 into the reward of each token; ours has k2 in the loss unless
`kl_in = "reward"`. Tokens drawn by an older policy carry the truncated weight; on-policy it is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from burnish.algorithms import aggregation
from burnish.algorithms.advantages import greedy_gap
from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.losses import weighted_gradient
from burnish.algorithms.scales import DomainScales
from burnish.algorithms.settings import PresetSettings


@dataclass(frozen=True)
class ReMax:
    """The preset `remax`."""

    settings: PresetSettings
    max_tokens: int = 0
    name: ClassVar[str] = "remax"
    greedy: ClassVar[bool] = True

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Gap to the last sample of the group, the greedy one; the scales are not used."""
        if not batch.greedy:
            raise ValueError(f"the {len(batch.domains)} groups have no greedy sample, which is the baseline")
        return greedy_gap(batch.rewards, batch.valid), scales

    def active(self, batch: RewardBatch) -> Tensor:
        """Scored samples of groups in which one differs from the greedy one."""
        gap = greedy_gap(batch.rewards, batch.valid)
        counts = batch.valid & batch.valid[:, -1:] & (gap != 0).any(dim=1, keepdim=True)
        counts[:, -1] = False
        return counts

    def surrogate(self, batch: TokenBatch) -> tuple[Tensor, Tensor]:
        """Policy gradient with truncated weights; clipped are those that were truncated."""
        return weighted_gradient(batch.logprobs, batch.behaviour, batch.advantages, self.settings.ratio_cap)

    def weights(self, lengths: Tensor, active: Tensor) -> Tensor:
        """Sum over tokens of a sample, mean over samples."""
        return aggregation.sequence_mean_token_sum(lengths, active)
