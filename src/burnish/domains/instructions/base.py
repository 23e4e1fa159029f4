"""What a constraint is, and when two can be asked for together.

A constraint is one record: how its numbers are drawn, how it is put to the model, how a response is checked,
and what it asks of a reference response. What it lays down (`owns`) nobody else may; what it needs in a
response (`brings`) must not be what another cannot bear (`bars`). That is all combination knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from burnish.domains.instructions.plan import Plan
from burnish.domains.instructions.text import Text

Params = Mapping[str, Any]
"""Numbers and texts by name."""

WORDS, LABELS, LINES, CAPITALS = "given words", "labels", "lines", "capitals"
REPEATS, COMMAS, DIGITS, SYMBOLS, MARKS = "repeats", "commas", "digits", "symbols", "marks"
SHORT, PHRASES = "short", "phrases"
"""What a response can be made to contain: given Latin words, text outside of sentences, several lines,
capital letters, a word more than once, commas, digits, other marks, certain ends of sentences, short words
only, given phrases with words that are common."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """One thing that a request can demand of a response."""

    name: str
    """`family/constraint`."""
    sample: Callable[[Random, int], Params]
    """Draws the parameters of a level."""
    text: Callable[[Params], str]
    """The demand, a sentence."""
    check: Callable[[Text, Params], bool]
    """Whether a response does what is demanded."""
    plan: Callable[[Plan, Params], Plan]
    """What a reference response must do in addition."""
    owns: frozenset[str]
    brings: frozenset[str] = frozenset()
    bars: frozenset[str] = frozenset()
    ends: bool = False
    """Whether it settles how the response ends, which is otherwise with `.`, `!` or `?`."""

    @property
    def family(self) -> str:
        """The part of the name before the slash."""
        return self.name.partition("/")[0]


def names(*texts: str) -> frozenset[str]:
    """A set of names."""
    return frozenset(texts)


def conflict(one: Constraint, other: Constraint) -> bool:
    """Whether two constraints are never asked for together."""
    return bool(one.owns & other.owns or one.brings & other.bars or other.brings & one.bars)


def number(*spans: tuple[int, int]) -> Callable[[Random, int], Params]:
    """Draws `n` from the span of the level, ends included; the last one serves all levels above."""
    return lambda rng, level: {"n": rng.randint(*spans[min(level, len(spans) - 1)])}


def nothing(rng: Random, level: int) -> Params:
    """Draws no parameter."""
    del rng, level
    return {}


def listed(texts: tuple[str, ...]) -> str:
    """Texts in quotes, with commas between."""
    return ", ".join(f'"{text}"' for text in texts)


def things(count: int, thing: str) -> str:
    """A number and its noun, in the plural where need be."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
