"""Write a regular expression for a format described in words.

The expression is tried on texts that have the format and on texts that just miss it, most of which are not
shown: one that lists what it was shown is wrong. It has to match whole texts. It is run by an automaton
(`nfa.py`), so none takes long; one that is malformed, too large or uses what is not regular is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from burnish.domains.structured.base import Structured
from burnish.domains.structured.nfa import Automaton, PatternError, compiled
from burnish.domains.structured.patterns import WAYS, Piece, damaged, draw_pieces, expression, in_words

LEVELS = 4
INSIDE, OUTSIDE, SHOWN = 12, 18, 3
"""Texts that have the format, that miss it, and how many of each are shown."""
TRIES = 6
"""Texts made by each way of damage; at most two are kept."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format with texts that have it and texts that do not."""

    words: str
    pattern: str
    inside: tuple[str, ...]
    outside: tuple[str, ...]


@dataclass(frozen=True)
class Regex(Structured[Format]):
    """`structured/regex`."""

    @property
    def name(self) -> str:
        """Full name."""
        return "structured/regex"

    @property
    def levels(self) -> int:
        """Up to two parts; up to three with ranges and choices; then with optional parts and lists."""
        return LEVELS

    def make(self, rng: Random, level: int) -> Format | None:
        """A format with its texts; None when too few differ."""
        pieces = draw_pieces(rng, level)
        pattern = expression(pieces)
        automaton = compiled(pattern)
        inside = list(dict.fromkeys("".join(piece.draw(rng) for piece in pieces) for _ in range(4 * INSIDE)))
        outside = _outside(rng, pieces, automaton)
        if len(inside) <= SHOWN or len(outside) < INSIDE or not all(map(automaton.matches, inside)):
            return None
        return Format(in_words(pieces), pattern, tuple(inside[:INSIDE]), tuple(outside[:OUTSIDE]))

    def question(self, exercise: Format) -> str:
        """The format and some texts."""
        inside, outside = (
            ", ".join(map(repr, texts[:SHOWN])) for texts in (exercise.inside, exercise.outside)
        )
        return (
            "Write a regular expression in Python's syntax that matches whole texts of this format and "
            f"no others: {exercise.words}. For example, it matches {inside}, and it does not match "
            f"{outside}. Use no look-around, back-references or flags."
        )

    def kind(self) -> str:
        """What an answer is."""
        return "the regular expression"

    def answer(self, exercise: Format) -> str:
        """The expression that the texts were made with."""
        return exercise.pattern

    def is_right(self, exercise: Format, answer: str) -> bool:
        """Whether an expression matches the texts of the format and none of the others."""
        try:
            automaton = compiled(answer)
        except PatternError:
            return False
        return all(map(automaton.matches, exercise.inside)) and not any(
            map(automaton.matches, exercise.outside)
        )


def _outside(rng: Random, pieces: tuple[Piece, ...], automaton: Automaton) -> list[str]:
    """Different texts that miss the format, in random order, two of each way where there are two."""
    found: dict[str, None] = {}
    for way in range(WAYS):
        made = dict.fromkeys(damaged(rng, pieces, way) for _ in range(TRIES))
        found.update(dict.fromkeys([text for text in made if not automaton.matches(text)][:2]))
    return rng.sample(list(found), len(found))
