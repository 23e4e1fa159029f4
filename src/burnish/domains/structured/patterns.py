"""Formats of short texts: in words, as an expression, and as texts that have the format or just miss it."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

Kind = Literal["literal", "class", "choice", "optional", "list"]

CLASSES = {
    "digit": ("[0-9]", "0123456789"),
    "lowercase letter": ("[a-z]", "abcdefghijklmnopqrstuvwxyz"),
    "capital letter": ("[A-Z]", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    "lowercase vowel": ("[aeiou]", "aeiou"),
    "even digit": ("[02468]", "02468"),
    "letter or digit": ("[A-Za-z0-9]", "ABCXYZabcxyz0189"),
}
"""Names of sets of characters, each with its expression and characters to draw from. ASCII only."""
MARKS = "-_:/#.+"
CHOICES = ("cat", "dog", "red", "blue", "on", "off", "new", "old", "east", "west")
_KINDS: tuple[tuple[Kind, ...], ...] = (
    ("class", "literal"),
    ("class", "class", "literal", "choice"),
    ("class", "class", "literal", "choice", "optional", "list"),
    ("class", "class", "literal", "choice", "optional", "list"),
)
"""Kinds of parts by level."""
_OUTSIDE = "aZ5-_ .q%7Kx"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a format."""

    kind: Kind
    words: str
    """The part in words."""
    pattern: str
    texts: tuple[str, ...] = ()
    """What a literal or a choice can be."""
    characters: str = ""
    low: int = 1
    high: int = 1

    def draw(self, rng: Random) -> str:
        """A text of this part."""
        if self.kind == "list":
            parts = (
                "".join(rng.choices(self.characters, k=2)) for _ in range(rng.randint(self.low, self.high))
            )
            return ",".join(parts)
        if self.kind == "class":
            counts = (self.low, self.high, rng.randint(self.low, self.high))
            return "".join(rng.choices(self.characters, k=rng.choice(counts)))
        return rng.choice(self.texts)


def draw_pieces(rng: Random, level: int) -> tuple[Piece, ...]:
    """The parts of a format; more of them, and other kinds, with the level."""
    count = rng.randint(*((1, 2), (2, 3), (4, 4), (5, 5))[level])
    kinds = _KINDS[level]
    pieces = [_piece(rng, rng.choice(kinds), level) for _ in range(count)]
    if not any(piece.kind in ("class", "list") for piece in pieces):
        pieces[0] = _class(rng, level)
    return tuple(pieces)


def _piece(rng: Random, kind: Kind, level: int) -> Piece:
    if kind == "class":
        return _class(rng, level)
    if kind == "list":
        return _list(rng)
    if kind == "choice":
        texts = tuple(rng.sample(CHOICES, rng.randint(2, 3)))
        shown = " or ".join(f'"{text}"' for text in texts)
        return Piece(kind, f"one of {shown}", f"(?:{'|'.join(texts)})", texts)
    text = rng.choice(MARKS)
    if kind == "optional":
        return Piece(kind, f'optionally the character "{text}"', f"[{text}]?", ("", text))
    return Piece(kind, f'the character "{text}"', f"[{text}]", (text,))


def _class(rng: Random, level: int) -> Piece:
    name = rng.choice(list(CLASSES))
    pattern, characters = CLASSES[name]
    low = rng.randint(1, 4)
    plural = "letters or digits" if name == "letter or digit" else f"{name}s"
    ways = ["exact"] if level == 0 else ["exact", "between", "least"]
    way = rng.choice(ways)
    if way == "exact":
        words = f"exactly {low} {name if low == 1 else plural}"
        return Piece("class", words, pattern + (f"{{{low}}}" if low > 1 else ""), (), characters, low, low)
    if way == "between":
        high = low + rng.randint(1, 3)
        return Piece(
            "class", f"{low} to {high} {plural}", f"{pattern}{{{low},{high}}}", (), characters, low, high
        )
    return Piece("class", f"{low} or more {plural}", f"{pattern}{{{low},}}", (), characters, low, low + 5)


def _list(rng: Random) -> Piece:
    name = rng.choice(("digit", "lowercase letter", "capital letter"))
    pattern, characters = CLASSES[name]
    words = f"one or more groups of exactly 2 {name}s, with commas between the groups"
    return Piece("list", words, f"{pattern}{{2}}(?:,{pattern}{{2}})*", (), characters, 1, 4)


def in_words(pieces: tuple[Piece, ...]) -> str:
    """The format in words."""
    return "; then ".join(piece.words for piece in pieces)


def expression(pieces: tuple[Piece, ...]) -> str:
    """The format as an expression."""
    return "".join(piece.pattern for piece in pieces)


def damaged(rng: Random, pieces: tuple[Piece, ...], way: int) -> str:
    """A text that probably misses the format, by one of `WAYS` ways."""
    parts = [piece.draw(rng) for piece in pieces]
    at = rng.randrange(len(parts))
    piece = pieces[at]
    changed = (
        _drawn(rng, piece, piece.low - 1),
        _drawn(rng, piece, piece.high + 1),
        "",
        parts[at] * 2,
        parts[at].swapcase(),
        _with_odd_character(rng, parts[at]),
    )
    if way < len(changed):
        parts[at] = changed[way]
    elif way == len(changed):
        parts.reverse()
    text = "".join(parts)
    return (text, rng.choice(_OUTSIDE) + text, text + rng.choice(_OUTSIDE), text * 2)[
        max(way - len(changed), 0)
    ]


WAYS = 10
"""A part one character short or long, missing, double, in the other case, or with an odd character; the parts
turned round; something before the text, something behind it, the text twice."""


def _drawn(rng: Random, piece: Piece, count: int) -> str:
    """A part with another number of characters; of one that has none, less or more of it."""
    if piece.kind == "class":
        return "".join(rng.choices(piece.characters, k=count))
    text = piece.draw(rng)
    return text[:-1] if count < piece.low else text + text[:1]


def _with_odd_character(rng: Random, text: str) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice(_OUTSIDE) + text[place + 1 :]
