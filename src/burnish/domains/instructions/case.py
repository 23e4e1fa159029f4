"""Capital and small letters."""

from __future__ import annotations

from dataclasses import replace

from burnish.domains.instructions.base import (
    CAPITALS,
    SYMBOLS,
    WORDS,
    Constraint,
    Params,
    names,
    nothing,
    number,
    things,
)
from burnish.domains.instructions.plan import Case, Plan, with_items
from burnish.domains.instructions.text import Text

_SHOUTED = ("GREAT", "STOP", "NEVER", "ALWAYS", "LOOK", "HERE", "GOOD", "FRESH")


def _capitals(text: Text) -> int:
    """Words of two letters or more in capitals."""
    return sum(len(word) > 1 and word.isupper() for word in text.words)


def _alternates(text: Text, _p: Params) -> bool:
    return len(text.words) > 1 and all(
        word == (word.upper() if at % 2 else word.lower()) for at, word in enumerate(text.words)
    )


def _is_title(text: Text, _p: Params) -> bool:
    return bool(text.words) and all(not word[0].isalpha() or word[0].isupper() for word in text.words)


def _only_first(text: Text, _p: Params) -> bool:
    letters = "".join(text.letters)
    return letters[:1].isupper() and letters[1:] == letters[1:].lower()


def _set(case: Case):
    def plan(plan: Plan, _p: Params) -> Plan:
        return replace(plan, case=case)

    return plan


CONSTRAINTS = (
    Constraint(
        "case/lower",
        nothing,
        lambda _p: "Use small letters only, no capital letter.",
        lambda t, _p: bool(t.letters) and t.raw == t.raw.lower(),
        _set("lower"),
        owns=names("case"),
        bars=names(CAPITALS),
    ),
    Constraint(
        "case/upper",
        nothing,
        lambda _p: "Use capital letters only, no small letter.",
        lambda t, _p: bool(t.letters) and t.raw == t.raw.upper(),
        _set("upper"),
        owns=names("case"),
        bars=names(CAPITALS),
    ),
    Constraint(
        "case/title",
        nothing,
        lambda _p: "Begin every word with a capital letter.",
        _is_title,
        _set("title"),
        owns=names("case"),
        bars=names(CAPITALS, SYMBOLS),
    ),
    Constraint(
        "case/alternate",
        nothing,
        lambda _p: (
            "Write the first word in small letters, the second in capital letters, the third in small "
            "letters, and so on, always in turn."
        ),
        _alternates,
        _set("alternate"),
        owns=names("case"),
        bars=names(CAPITALS, SYMBOLS),
    ),
    Constraint(
        "case/only_first",
        nothing,
        lambda _p: "The first letter is a capital letter; all others are small letters.",
        _only_first,
        _set("first"),
        owns=names("case"),
        bars=names(CAPITALS),
    ),
    Constraint(
        "case/shouted_exactly",
        number((1, 1), (2, 2), (3, 4), (5, 6)),
        lambda p: f"Write exactly {things(p['n'], 'word')} of two or more letters wholly in capital letters.",
        lambda t, p: _capitals(t) == p["n"],
        lambda plan, p: with_items(plan, *_SHOUTED[: p["n"]]),
        owns=names("case"),
        brings=names(WORDS, CAPITALS),
    ),
    Constraint(
        "case/shouted_at_least",
        number((1, 1), (2, 2), (3, 4), (5, 6)),
        lambda p: (
            f"Write at least {things(p['n'], 'word')} of two or more letters wholly in capital letters."
        ),
        lambda t, p: _capitals(t) >= p["n"],
        lambda plan, p: with_items(plan, *_SHOUTED[: p["n"]]),
        owns=names("case"),
        brings=names(WORDS, CAPITALS),
    ),
)
