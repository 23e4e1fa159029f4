"""Amounts that change from sentence to sentence; the question is what is left at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from burnish.domains.documents.base import WORDS, Documents, Reading
from burnish.domains.documents.filler import weave
from burnish.domains.documents.names import THINGS

Stocks = dict[str, int]

_CHANGES = (0, 1, 3, 6, 12)
"""Changes after the first amounts, by level."""
_STORES = (2, 3, 3, 4, 6)
"""Variables, by level."""


@dataclass(frozen=True)
class VariableTracking(Documents):
    """`documents/variable_tracking`: variables are set, copied, raised and lowered."""

    @property
    def name(self) -> str:
        """Full name."""
        return "documents/variable_tracking"

    def make(self, rng: Random, level: int) -> Reading | None:
        """A document in whose order things happen; None when the variable asked about never changes."""
        held = dict(
            zip(rng.sample(THINGS, _STORES[level]), rng.sample(range(10, 100), _STORES[level]), strict=True)
        )
        facts = [f"The variable {name} is set to {amount}." for name, amount in held.items()]
        changed: set[str] = set()
        for _ in range(_CHANGES[level]):
            name = rng.choice(list(held))
            facts.append(rng.choice(_ACTIONS[: 1 + (level > 1) * 2])(rng, held, name))
            changed.add(name)
        asked = rng.choice(sorted(changed or held))
        if level > 0 and list(held.values()).count(held[asked]) > 2:
            return None
        document = weave(rng, facts, WORDS[level])
        return Reading(document, f"What is the value of the variable {asked} at the end?", str(held[asked]))


def _copy(rng: Random, held: Stocks, name: str) -> str:
    source = rng.choice([other for other in held if other != name])
    held[name] = held[source]
    return f"The value of {source} is copied to {name}."


def _raise(rng: Random, held: Stocks, name: str) -> str:
    by = rng.randint(1, 9)
    held[name] += by
    return f"The variable {name} is raised by {by}."


def _lower(rng: Random, held: Stocks, name: str) -> str:
    by = rng.randint(1, 9)
    held[name] -= by
    return f"The variable {name} is lowered by {by}."


_ACTIONS: tuple[Callable[[Random, Stocks, str], str], ...] = (_copy, _raise, _lower)
