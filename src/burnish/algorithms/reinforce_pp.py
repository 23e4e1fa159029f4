"""REINFORCE++: rewards whitened over the whole batch, a clipped ratio, k1 charged in the reward.

    A    = whiten over the tokens of the batch (R)
    loss = -min(r A', clip(r, 1 - low, 1 + high) A'),   A' = A - k sum of k1 from here on,   r = pi/mu

`group_baseline` subtracts the mean of the group first (the paper's "-baseline" variant). Token losses are
averaged over all tokens of the step.

Paper: 2501.03262.
No signal: all scored rewards of the batch are equal (with `group_baseline`: those of each group). Otherwise a
group whose rewards are all equal still learns, for it is compared with the batch, not with itself.
How ours differs: rewards are whitened before the KL is charged, not after, so the KL neither widens the
spread nor moves the mean; undiscounted; mu, the sampler, stands for the old policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from burnish.algorithms import aggregation
from burnish.algorithms.advantages import centred, live, whitened
from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.losses import clipped_surrogate
from burnish.algorithms.scales import DomainScales
from burnish.algorithms.settings import PresetSettings


@dataclass(frozen=True)
class ReinforcePp:
    """The preset `reinforce_pp`."""

    settings: PresetSettings
    max_tokens: int = 0
    name: ClassVar[str] = "reinforce_pp"

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Whitened over the tokens of the batch; the scales are not used."""
        tokens = torch.ones_like(batch.valid, dtype=torch.int64) if batch.lengths is None else batch.lengths
        if not self.settings.group_baseline:
            return whitened(batch.rewards, batch.valid, tokens), scales
        counts = live(batch.rewards, batch.valid)
        return whitened(centred(batch.rewards, batch.valid), counts, tokens), scales

    def active(self, batch: RewardBatch) -> Tensor:
        """Every scored sample, unless all rewards of the batch are equal."""
        if self.settings.group_baseline:
            return live(batch.rewards, batch.valid)
        known = batch.rewards[batch.valid]
        return batch.valid & bool(known.numel() >= 2 and (known != known[0]).any())

    def surrogate(self, batch: TokenBatch) -> tuple[Tensor, Tensor]:
        """Clipped ratio."""
        return clipped_surrogate(batch, self.settings)

    def weights(self, lengths: Tensor, active: Tensor) -> Tensor:
        """Mean over all tokens of the step."""
        return aggregation.token_mean(lengths, active)
