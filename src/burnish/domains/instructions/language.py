"""Scripts, letters, and which words may be chosen."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from burnish.domains.instructions.base import (
    LABELS,
    REPEATS,
    SHORT,
    WORDS,
    Constraint,
    Params,
    names,
    nothing,
    number,
    things,
)
from burnish.domains.instructions.plan import Plan, with_items
from burnish.domains.instructions.text import Text, in_script
from burnish.domains.instructions.vocabulary import ADJECTIVES, FOREIGN, KEYWORDS, NOUNS, VERBS

_LONG = ("extraordinary", "magnificent", "comfortable", "conversations", "neighbours", "travellers",
         "understanding", "celebrations")  # fmt: skip
_AVOIDED = ("qzxjkv", "bwyfgpc", "umdhlr", "iotnas")
"""Letters to do without, by level: the rarer, the easier."""
_WANTED = ("aeio", "lmdcbp", "wfgyhu", "kvjxzq")
_BY_LETTER = {
    letter: sorted(word for word in (*KEYWORDS, *ADJECTIVES, *NOUNS, *VERBS) if letter in word)
    for letter in "abcdefghijklmnopqrstuvwxyz"
}


def _avoided(rng: Random, level: int) -> Params:
    return {"letter": rng.choice(_AVOIDED[min(level, 3)])}


def _wanted(rng: Random, level: int) -> Params:
    return {
        "letter": rng.choice(_WANTED[min(level, 3)]),
        "n": (4, 5, 5, 4)[min(level, 3)] + rng.randint(0, 2),
    }


def _initial(rng: Random, level: int) -> Params:
    letters = [letter for letter in "abcdefghijklmnopqrstuvwy" if len(_starting(letter)) >= 4]
    return {"letter": rng.choice(letters), "n": rng.randint(*((2, 2), (2, 3), (3, 4), (4, 4))[min(level, 3)])}


def _starting(letter: str) -> list[str]:
    return [word for word in _BY_LETTER[letter] if word[0] == letter]


def _script(rng: Random, level: int) -> Params:
    del level
    return {"script": rng.choice(sorted(FOREIGN))}


def _in_script(text: Text, p: Params) -> bool:
    return bool(text.letters) and all(in_script(letter, p["script"]) for letter in text.letters)


def _lettered(plan: Plan, p: Params) -> Plan:
    words = sorted(_BY_LETTER[p["letter"]], key=lambda word: -word.count(p["letter"]))
    return with_items(plan, *(words[at % len(words)] for at in range(p["n"])))


CONSTRAINTS = (
    Constraint(
        "language/ascii",
        nothing,
        lambda _p: "Use ASCII characters only.",
        lambda t, _p: t.raw.isascii(),
        lambda plan, _p: plan,
        owns=names("script"),
    ),
    Constraint(
        "language/script",
        _script,
        lambda p: f"All letters must be {p['script']} letters.",
        _in_script,
        lambda plan, p: replace(plan, script=p["script"]),
        owns=names("script", "letters", "initials", "counted letters", "asterisks", "exclude"),
        bars=names(WORDS, LABELS),
    ),
    Constraint(
        "language/without_letter",
        _avoided,
        lambda p: f'Do not use the letter "{p["letter"]}", neither small nor capital.',
        lambda t, p: p["letter"] not in t.raw.lower(),
        lambda plan, p: replace(plan, avoid=p["letter"]),
        owns=names("letters"),
        bars=names(WORDS, LABELS),
    ),
    Constraint(
        "language/letter_at_least",
        _wanted,
        lambda p: f'Use the letter "{p["letter"]}" at least {things(p["n"], "time")}.',
        lambda t, p: t.raw.lower().count(p["letter"]) >= p["n"],
        _lettered,
        owns=names("counted letters"),
        brings=names(WORDS),
    ),
    Constraint(
        "language/initial",
        _initial,
        lambda p: f'At least {things(p["n"], "word")} must begin with the letter "{p["letter"]}".',
        lambda t, p: sum(word.startswith(p["letter"]) for word in t.folded) >= p["n"],
        lambda plan, p: with_items(plan, *_starting(p["letter"])[: p["n"]]),
        owns=names("initials"),
        brings=names(WORDS),
    ),
    Constraint(
        "language/no_repeats",
        number((5, 8), (9, 12), (13, 20), (21, 30)),
        lambda p: f"Use no word twice, and at least {p['n']} words.",
        lambda t, p: len(set(t.folded)) == len(t.folded) >= p["n"],
        lambda plan, p: replace(plan, distinct=True, words=p["n"] + 2),
        owns=names("length"),
        bars=names(REPEATS, LABELS),
    ),
    Constraint(
        "language/long_words",
        number((1, 1), (2, 2), (3, 4), (5, 7)),
        lambda p: (
            f"Use at least {p['n']} different {'word' if p['n'] == 1 else 'words'} of ten or more letters."
        ),
        lambda t, p: len({word for word in t.folded if len(word) >= 10}) >= p["n"],
        lambda plan, p: with_items(plan, *_LONG[: p["n"]]),
        owns=names("long words"),
        brings=names(WORDS),
        bars=names(SHORT),
    ),
    Constraint(
        "language/different_words",
        number((8, 10), (11, 16), (17, 24), (25, 40)),
        lambda p: f"Use at least {p['n']} different words.",
        lambda t, p: len(set(t.folded)) >= p["n"],
        lambda plan, p: replace(plan, distinct=True, words=p["n"] + 2),
        owns=names("length"),
        bars=names(LABELS),
    ),
)
