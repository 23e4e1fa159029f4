"""From rewards to what the update works on: credit for samples or tokens, and the groups that carry any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from burnish.algorithms.base import Algorithm, RewardBatch
from burnish.algorithms.scales import DomainScales
from burnish.records import Group
from burnish.training.update import GroupUpdate, distinct


@dataclass(frozen=True, slots=True)
class Assigned:
    """Credit of one step."""

    advantages: Tensor
    """[G, N]."""
    active: Tensor
    """[G, N] bool: the sample takes part in the loss."""
    updates: list[GroupUpdate]
    """Groups with signal."""
    scales: DomainScales

    @property
    def signal(self) -> Tensor:
        """[G] bool: whether a group reaches the loss."""
        return self.active.any(dim=1)


def assign(
    algorithm: Algorithm, groups: Sequence[Group], rewards: RewardBatch, scales: DomainScales
) -> Assigned:
    """Credit for the samples of graded groups.

    Args:
        algorithm: says what a reward is worth.
        groups: G groups of N samples.
        rewards: of these groups.
        scales: running reward spread of each domain.
    """
    advantages, scales = algorithm.advantages(rewards, scales)
    active = algorithm.active(rewards)
    assert rewards.lengths is not None  # noqa: S101 - `reward_batch` always counts them
    weights = algorithm.weights(rewards.lengths, active, rewards.domains)
    rows = zip(groups, advantages.tolist(), weights.tolist(), active.tolist(), strict=True)
    merged = [distinct(group, a, w, counts) for group, a, w, counts in rows if any(counts)]
    return Assigned(advantages, active, [update for update in merged if update.branches], scales)
