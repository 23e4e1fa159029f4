"""Running spread of the rewards of each domain.

Memory is counted in groups of that domain and not in steps, so a domain drawn every tenth step is
forgotten no faster than one drawn every step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Moments:
    """Decayed count, mean and sum of squared deviations of the rewards of one domain."""

    weight: float = 0.0
    mean: float = 0.0
    squares: float = 0.0

    @property
    def std(self) -> float:
        """Population standard deviation; 0 before any reward."""
        return math.sqrt(self.squares / self.weight) if self.weight > 0 else 0.0

    def add(self, groups: Sequence[Sequence[float]], decay: float) -> Moments:
        """Decay once per group, then merge all rewards with equal weight (Chan, Golub & LeVeque 1979).

        The order of groups and of rewards does not matter, to the bit: sums are correctly rounded.
        """
        groups = [group for group in groups if group]
        rewards = [reward for group in groups for reward in group]
        if not rewards:
            return self
        kept = decay ** len(groups)
        old, new = kept * self.weight, float(len(rewards))
        mean = math.fsum(rewards) / new
        squares = math.fsum((reward - mean) ** 2 for reward in rewards)
        shift = mean - self.mean
        return Moments(
            weight=old + new,
            mean=self.mean + shift * new / (old + new),
            squares=kept * self.squares + squares + shift * shift * old * new / (old + new),
        )


@dataclass(frozen=True, slots=True)
class DomainScales:
    """Moments of every domain seen so far; `DomainScales()` is the start of a run."""

    moments: Mapping[str, Moments] = field(default_factory=dict, hash=False)

    def std(self, domain: str) -> float:
        """Running reward std of a domain, total over its groups; 0 before its first reward."""
        return self.moments.get(domain, Moments()).std

    def update(self, rewards: Mapping[str, Sequence[Sequence[float]]], decay: float) -> DomainScales:
        """New state after one step.

        Args:
            rewards: per domain, one sequence of scored rewards for each of its groups.
            decay: what remains of older rewards after each group, in [0, 1).
        """
        fresh = {name: self.moments.get(name, Moments()).add(rows, decay) for name, rows in rewards.items()}
        return DomainScales({**self.moments, **fresh})

    def to_json(self) -> dict[str, list[float]]:
        """Plain data for `json.dumps`; floats survive the round trip to the bit."""
        return {name: [m.weight, m.mean, m.squares] for name, m in sorted(self.moments.items())}

    @classmethod
    def from_json(cls, data: Mapping[str, Sequence[float]]) -> DomainScales:
        """Inverse of `to_json`."""
        return cls({name: Moments(*values) for name, values in data.items()})
