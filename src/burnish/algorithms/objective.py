"""A preset with what all presets share: importance correction, pull to the reference, entropy bonus.

    loss = w surrogate(A - charge) + b kl - c H

w is the importance correction, and KL is a charge on the advantages or a term of the loss, never both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from burnish.algorithms import corrections, penalties
from burnish.algorithms.base import Needs, Preset, RewardBatch, TokenBatch, TokenLoss
from burnish.algorithms.losses import capped_ratio
from burnish.algorithms.metrics import token_metrics
from burnish.algorithms.scales import DomainScales
from burnish.algorithms.settings import PresetSettings


@dataclass(frozen=True)
class Objective:
    """An algorithm for every domain of a run, or for some."""

    preset: Preset
    settings: PresetSettings
    needs: Needs

    @property
    def name(self) -> str:
        """Name of the preset."""
        return self.preset.name

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Those of the preset."""
        return self.preset.advantages(batch, scales)

    def active(self, batch: RewardBatch) -> Tensor:
        """Those of the preset."""
        return self.preset.active(batch)

    def weights(self, lengths: Tensor, active: Tensor, domains: Sequence[str] = ()) -> Tensor:
        """Those of the preset."""
        return self.preset.weights(lengths, active)

    def token_loss(self, batch: TokenBatch) -> TokenLoss:
        """The formula of the header."""
        s = self.settings
        kl_coef = s.kl_coef * batch.controls.kl_scale
        entropy_coef = s.entropy_coef + batch.controls.entropy_extra
        seen = batch
        if kl_coef and s.kl_in == "reward":
            charge = penalties.in_reward(batch, s.kl_estimator, kl_coef)
            seen = replace(seen, advantages=seen.advantages - charge)
        if s.correction == "none":
            loss, clipped = self.preset.surrogate(seen)
        else:
            weight = corrections.weight(s.correction, batch, s.correction_low, s.correction_high)
            loss, clipped = self.preset.surrogate(corrections.from_start_of_update(seen))
            loss = loss * weight
        if kl_coef and s.kl_in == "loss":
            ratio = capped_ratio(batch.logprobs, batch.behaviour, s.ratio_cap)
            loss = loss + penalties.in_loss(batch, s.kl_estimator, ratio, kl_coef)
        if entropy_coef:
            loss = loss - entropy_coef * penalties.entropy_of(batch, entropy_coef)
        return TokenLoss(loss, token_metrics(batch, clipped))
