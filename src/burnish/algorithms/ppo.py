"""PPO with a learned critic: credit for every token, from how much better it went than expected.

    A    = GAE(R at the last token, V), whitened over the tokens of the step
    loss = -min(r A, clip(r, 1 - low, 1 + high) A) + k sg(min(r, c)) k2(pi, ref),   r = pi/mu
    critic: max((v - ret)^2, (clip(v, v_old +- e) - ret)^2) / 2,   ret = A + V

Policy and value losses are averaged over all tokens of the step. The critic lives in `training/critic.py`.

Papers: 1707.06347, 1506.02438.
No signal: never for want of difference within a group; one sample a prompt is enough.
How ours differs: one update a batch; mu, the sampler, stands for the old policy; KL is a term of the loss
unless `kl_in = "reward"`, which charges it past the critic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from burnish.algorithms import aggregation
from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.losses import clipped_surrogate
from burnish.algorithms.scales import DomainScales
from burnish.algorithms.settings import PresetSettings


@dataclass(frozen=True)
class Ppo:
    """The preset `ppo`."""

    settings: PresetSettings
    max_tokens: int = 0
    name: ClassVar[str] = "ppo"
    critic: ClassVar[bool] = True

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """The rewards themselves: the critic makes advantages of them."""
        return torch.where(batch.valid, batch.rewards, 0.0), scales

    def active(self, batch: RewardBatch) -> Tensor:
        """Every scored sample."""
        return batch.valid

    def surrogate(self, batch: TokenBatch) -> tuple[Tensor, Tensor]:
        """Clipped ratio."""
        return clipped_surrogate(batch, self.settings)

    def weights(self, lengths: Tensor, active: Tensor) -> Tensor:
        """Mean over all tokens of the step."""
        return aggregation.token_mean(lengths, active)
