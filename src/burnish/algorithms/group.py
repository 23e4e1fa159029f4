"""What presets that compare the samples of one prompt have in common."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from burnish.algorithms.advantages import live
from burnish.algorithms.base import RewardBatch
from burnish.algorithms.settings import PresetSettings


@dataclass(frozen=True)
class GroupRelative:
    """Base of such presets: a group takes part when two of its samples were scored differently."""

    settings: PresetSettings
    max_tokens: int = 0
    """Longest completion of the run."""

    def active(self, batch: RewardBatch) -> Tensor:
        """[G, N]: scored samples of groups with signal."""
        return live(batch.rewards, batch.valid)
