"""Names that mean nothing outside the document they are in."""

from __future__ import annotations

from random import Random

_STARTS = (
    "b",
    "br",
    "d",
    "dr",
    "f",
    "g",
    "gr",
    "h",
    "k",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "st",
    "t",
    "tr",
    "v",
    "z",
)
_VOWELS = ("a", "e", "i", "o", "u")
_ENDS = ("l", "n", "r", "s", "m", "nd", "st", "ck", "lt")
_SYMBOLS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without letters and digits that look alike."""

THINGS: tuple[str, ...] = (
    "acorn", "anchor", "arrow", "beacon", "blanket", "bottle", "button", "candle", "canyon", "carpet",
    "castle", "cedar", "cherry", "copper", "cotton", "cradle", "dagger", "desert", "diamond", "dragon",
    "falcon", "feather", "finger", "flute", "garnet", "glacier", "hammer", "helmet", "island", "ivory",
    "jacket", "jungle", "kitten", "lantern", "lemon", "lizard", "magnet", "marble", "meadow", "needle",
    "onion", "orchard", "oyster", "paddle", "pearl", "pepper", "pigeon", "pillow", "pocket", "quarry",
    "rabbit", "ribbon", "saddle", "salmon", "shovel", "silver", "spider", "summit", "temple", "thunder",
    "timber", "tunnel", "turtle", "velvet", "violin", "walnut", "whistle", "willow", "wizard",
)  # fmt: skip
"""Words that filler does not use as the answer to anything."""


def names(rng: Random, count: int) -> list[str]:
    """Different made-up names of two syllables, such as `Drovel`."""
    found: dict[str, None] = {}
    while len(found) < count:
        first = rng.choice(_STARTS) + rng.choice(_VOWELS)
        found[(first + rng.choice(_STARTS) + rng.choice(_VOWELS) + rng.choice(_ENDS)).capitalize()] = None
    return list(found)


def keys(rng: Random, count: int) -> list[str]:
    """Different keys of four characters, such as `K7QX`."""
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(rng.choice(_SYMBOLS) for _ in range(4))] = None
    return list(found)


def codes(rng: Random, count: int) -> list[str]:
    """Different numbers of four digits, as text."""
    return [str(code) for code in rng.sample(range(1000, 10_000), count)]
