"""What a curriculum takes and gives: a state and a count to draws, outcomes to a new state.

A policy holds what never changes (domains, weights, seed); everything that does is in a frozen state with
a plain JSON form, so a run resumes with the very sequence it would have drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

from burnish.curriculum.settings import CurriculumSettings


@dataclass(frozen=True, slots=True)
class Draw:
    """The position of one training task."""

    domain: str
    level: int
    index: int
    """Counts up from 0 within its domain; never repeated in a run."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one draw."""

    draw: Draw
    values: tuple[float, ...]
    """Rewards of the scored samples."""
    passed: int
    """How many of them count as successes."""
    unscored: int = 0
    """Samples whose grader abstained or faulted."""


class State(Protocol):
    """Frozen state of a policy."""

    def to_json(self) -> dict[str, object]:
        """Plain data for `json.dumps`."""
        ...

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Self:
        """Inverse of `to_json`."""
        ...


S = TypeVar("S", bound=State)


class Policy(Protocol[S]):
    """Chooses training tasks; pure functions of the state, so an adaptive policy is one new class."""

    def start(self) -> S:
        """State at the start of a run."""
        ...

    def restore(self, data: Mapping[str, object]) -> S:
        """State from its JSON form."""
        ...

    def draw(self, state: S, count: int) -> tuple[list[Draw], S]:
        """The next `count` tasks.

        Raises:
            TrainingError: no domain is left to draw from.
        """
        ...

    def observe(self, state: S, outcomes: Sequence[Outcome]) -> S:
        """Learn from graded groups; their order must not matter."""
        ...

    def active(self, state: S) -> list[str]:
        """Domains that can be drawn."""
        ...

    def quarantine(self, state: S, domain: str, reason: str) -> S:
        """Draw no more from a domain."""
        ...

    def release(self, state: S, domain: str) -> S:
        """Draw again from a domain that was quarantined; what it missed is not made up for."""
        ...


def build(settings: CurriculumSettings, levels: Mapping[str, int], seed: int) -> Policy:
    """The policy that the settings name.

    Args:
        settings: the recipe's `[curriculum]` table.
        levels: training level of each training domain.
        seed: seed of the run.

    Raises:
        RecipeError: a weight is wrong.
    """
    # The policies import this module for its records.
    from burnish.curriculum.mixture import Mixture  # noqa: PLC0415

    return Mixture(levels, settings.weights, seed)
