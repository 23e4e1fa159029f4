"""Commas, ends of sentences, digits and other marks."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from burnish.domains.instructions.base import (
    COMMAS,
    DIGITS,
    LABELS,
    LINES,
    MARKS,
    SYMBOLS,
    WORDS,
    Constraint,
    Params,
    names,
    nothing,
    number,
    things,
)
from burnish.domains.instructions.plan import Plan, with_items
from burnish.domains.instructions.text import Text

_FEW = ((1, 1), (2, 2), (3, 4), (5, 6))
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_PAIR = re.compile(r"\([^()\n]+\)")
_HYPHENATED = ("well-known", "long-lost", "half-open", "sea-green", "two-faced", "old-time", "part-time")
_ASIDES = ("(happily)", "(again)", "(of course)", "(sadly)", "(perhaps)", "(today)")
_NUMBERS = ("7", "12", "30", "44", "58", "61", "93")


def _no_marks(text: Text, _p: Params) -> bool:
    """Whether nothing but words, white space and ends of sentences is there."""
    return not re.search(r"[^\w\s.!?]|_", text.raw) and not re.search(r"[.!?](?=\S)", text.raw)


def _count(mark: str, text: Text, p: Params) -> bool:
    return text.raw.count(mark) == p["n"]


def _tail(mark: str, plan: Plan, p: Params) -> Plan:
    return replace(plan, tails=(*plan.tails, *[mark] * p["n"]))


CONSTRAINTS = (
    Constraint(
        "punctuation/no_commas",
        nothing,
        lambda _p: "Use no comma.",
        lambda t, _p: "," not in t.raw,
        lambda plan, _p: plan,
        owns=names("commas"),
        bars=names(COMMAS),
    ),
    Constraint(
        "punctuation/commas",
        number(*_FEW),
        lambda p: f"Use exactly {things(p['n'], 'comma')}.",
        partial(_count, ","),
        partial(_tail, ","),
        owns=names("commas"),
        brings=names(COMMAS),
    ),
    Constraint(
        "punctuation/no_full_stop",
        nothing,
        lambda _p: 'Use no full stop: sentences end with "!" or "?".',
        lambda t, _p: "." not in t.raw,
        lambda plan, _p: replace(plan, mark="!"),
        owns=names("marks"),
        brings=names(MARKS),
        bars=names(LABELS),
    ),
    Constraint(
        "punctuation/all_exclaim",
        number((1, 1), (2, 2), (3, 4), (5, 6)),
        lambda p: f'Write at least {things(p["n"], "sentence")}, and end every one with "!".',
        lambda t, p: len(t.sentences) >= p["n"] and all(s.rstrip('"”’)').endswith("!") for s in t.sentences),
        lambda plan, p: replace(plan, mark="!", sentences=p["n"]),
        owns=names("marks", "sentences"),
        brings=names(MARKS),
        bars=names(LABELS, LINES),
    ),
    Constraint(
        "punctuation/exclamations",
        number(*_FEW),
        lambda p: f"Use exactly {things(p['n'], 'exclamation mark')}.",
        partial(_count, "!"),
        lambda plan, p: replace(plan, marks=("!",) * p["n"]),
        owns=names("marks"),
        brings=names(MARKS),
    ),
    Constraint(
        "punctuation/questions",
        number(*_FEW),
        lambda p: f"Ask exactly {things(p['n'], 'question')}: use this many question marks.",
        partial(_count, "?"),
        lambda plan, p: replace(plan, marks=("?",) * p["n"]),
        owns=names("marks"),
        brings=names(MARKS),
    ),
    Constraint(
        "punctuation/ends_with_question",
        number(*_FEW),
        lambda p: f"End with a question, and use exactly {things(p['n'], 'full stop')} before it.",
        lambda t, p: t.raw.endswith("?") and t.raw.count(".") == p["n"],
        lambda plan, p: replace(plan, marks=(".",) * p["n"], mark="?"),
        owns=names("marks", "end"),
        brings=names(MARKS),
        bars=names(LABELS),
    ),
    Constraint(
        "punctuation/no_digits",
        nothing,
        lambda _p: "Use no digit.",
        lambda t, _p: not any(character.isdigit() for character in t.raw),
        lambda plan, _p: plan,
        owns=names("digits"),
        bars=names(DIGITS),
    ),
    Constraint(
        "punctuation/numbers",
        number(*_FEW),
        lambda p: f"Use exactly {things(p['n'], 'number')} written in digits.",
        lambda t, p: len(_NUMBER.findall(t.raw)) == p["n"],
        lambda plan, p: with_items(plan, *_NUMBERS[: p["n"]]),
        owns=names("digits"),
        brings=names(DIGITS),
        bars=names(DIGITS),
    ),
    Constraint(
        "punctuation/semicolons",
        number(*_FEW),
        lambda p: f"Use exactly {things(p['n'], 'semicolon')}.",
        partial(_count, ";"),
        partial(_tail, ";"),
        owns=names("semicolons"),
        brings=names(SYMBOLS),
    ),
    Constraint(
        "punctuation/brackets",
        number(*_FEW),
        lambda p: f"Put exactly {things(p['n'], 'remark')} in round brackets (like this).",
        lambda t, p: len(_PAIR.findall(t.raw)) == t.raw.count("(") == t.raw.count(")") == p["n"],
        lambda plan, p: with_items(plan, *_ASIDES[: p["n"]]),
        owns=names("round brackets"),
        brings=names(SYMBOLS, WORDS),
    ),
    Constraint(
        "punctuation/hyphenated",
        number(*_FEW),
        lambda p: f'Use at least {things(p["n"], "word")} with a hyphen, such as "low-cost".',
        lambda t, p: sum("-" in word for word in t.words) >= p["n"],
        lambda plan, p: with_items(plan, *_HYPHENATED[: p["n"]]),
        owns=names("hyphens"),
        brings=names(SYMBOLS, WORDS),
    ),
    Constraint(
        "punctuation/only_ends",
        number((4, 6), (7, 12), (13, 20), (21, 30)),
        lambda p: (
            f'Use {p["n"]} words or more, and no punctuation but ".", "!" and "?" at the ends of sentences.'
        ),
        lambda t, p: len(t.words) >= p["n"] and _no_marks(t, p),
        lambda plan, p: replace(plan, words=p["n"] + 3),
        owns=names("length"),
        bars=names(SYMBOLS, COMMAS, LABELS),
    ),
)
