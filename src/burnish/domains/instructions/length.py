"""How long a response is."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from burnish.domains.instructions.base import (
    LABELS,
    LINES,
    MARKS,
    SHORT,
    WORDS,
    Constraint,
    Params,
    names,
    number,
    things,
)
from burnish.domains.instructions.text import words_of

_WORDS = ((5, 12), (12, 25), (25, 50), (50, 90))
_SENTENCES = ((2, 3), (3, 5), (5, 8), (8, 12))


def _span(rng: Random, level: int) -> Params:
    low = rng.randint(*_WORDS[min(level, 3)])
    return {"low": low, "high": low + (8, 6, 5, 4)[min(level, 3)]}


def _characters(rng: Random, level: int) -> Params:
    low = rng.randrange(40, 80, 5) + (0, 40, 120, 240)[min(level, 3)]
    return {"low": low, "high": low + (60, 40, 30, 25)[min(level, 3)]}


def _longest_sentence(sentences: list[str]) -> int:
    return max((len(words_of(sentence)) for sentence in sentences), default=0)


CONSTRAINTS = (
    Constraint(
        "length/words_exact",
        number(*_WORDS),
        lambda p: f"Use exactly {p['n']} words.",
        lambda t, p: len(t.words) == p["n"],
        lambda plan, p: replace(plan, words=p["n"]),
        owns=names("length"),
    ),
    Constraint(
        "length/words_at_least",
        number((8, 15), (15, 40), (40, 80), (80, 120)),
        lambda p: f"Use at least {p['n']} words.",
        lambda t, p: len(t.words) >= p["n"],
        lambda plan, p: replace(plan, words=p["n"] + 3),
        owns=names("length"),
    ),
    Constraint(
        "length/words_at_most",
        number((30, 40), (16, 28), (9, 15), (5, 8)),
        lambda p: f"Use at most {p['n']} words.",
        lambda t, p: len(t.words) <= p["n"],
        lambda plan, p: replace(plan, words=p["n"]),
        owns=names("length"),
    ),
    Constraint(
        "length/words_between",
        _span,
        lambda p: f"Use between {p['low']} and {p['high']} words.",
        lambda t, p: p["low"] <= len(t.words) <= p["high"],
        lambda plan, p: replace(plan, words=(p["low"] + p["high"]) // 2),
        owns=names("length"),
    ),
    Constraint(
        "length/characters_at_most",
        number((180, 240), (110, 170), (60, 100), (35, 55)),
        lambda p: f"Use at most {p['n']} characters, white space included.",
        lambda t, p: len(t.raw) <= p["n"],
        lambda plan, p: plan,
        owns=names("length"),
    ),
    Constraint(
        "length/characters_between",
        _characters,
        lambda p: f"Use between {p['low']} and {p['high']} characters, white space included.",
        lambda t, p: p["low"] <= len(t.raw) <= p["high"],
        lambda plan, p: replace(plan, characters=p["low"]),
        owns=names("length"),
    ),
    Constraint(
        "length/sentences_exact",
        number(*_SENTENCES),
        lambda p: f"Write exactly {p['n']} sentences.",
        lambda t, p: len(t.sentences) == p["n"],
        lambda plan, p: replace(plan, sentences=p["n"]),
        owns=names("sentences"),
        bars=names(LABELS, LINES, MARKS),
    ),
    Constraint(
        "length/sentences_at_least",
        number(*_SENTENCES),
        lambda p: f"Write at least {p['n']} sentences.",
        lambda t, p: len(t.sentences) >= p["n"],
        lambda plan, p: replace(plan, sentences=p["n"]),
        owns=names("sentences"),
        bars=names(LABELS, LINES, MARKS),
    ),
    Constraint(
        "length/short_sentences",
        number((14, 18), (10, 13), (8, 9), (6, 7)),
        lambda p: f"No sentence may have more than {p['n']} words.",
        lambda t, p: _longest_sentence(t.sentences) <= p["n"],
        lambda plan, p: replace(plan, sentence_words=min(p["n"], plan.sentence_words)),
        owns=names("sentences"),
        bars=names(LABELS),
    ),
    Constraint(
        "length/paragraphs",
        number((2, 2), (2, 3), (3, 4), (4, 6)),
        lambda p: f"Write exactly {p['n']} paragraphs with a blank line between them.",
        lambda t, p: len(t.paragraphs) == p["n"],
        lambda plan, p: replace(plan, blocks=p["n"]),
        owns=names("blocks"),
        brings=names(LINES),
    ),
    Constraint(
        "length/lines",
        number((2, 3), (3, 5), (5, 7), (7, 10)),
        lambda p: f"Write exactly {p['n']} lines.",
        lambda t, p: len(t.lines) == p["n"],
        lambda plan, p: replace(plan, blocks=p["n"], between="\n"),
        owns=names("blocks"),
        brings=names(LINES),
    ),
    Constraint(
        "length/short_words",
        number((9, 9), (8, 8), (7, 7), (6, 6)),
        lambda p: f"No word may have more than {p['n']} letters.",
        lambda t, p: max(map(len, t.words), default=0) <= p["n"],
        lambda plan, p: replace(plan, longest=p["n"]),
        owns=names("letters"),
        brings=names(SHORT),
        bars=names(WORDS, LABELS),
    ),
    Constraint(
        "length/average_sentence",
        number((3, 4), (5, 6), (7, 8), (9, 10)),
        lambda p: f"The sentences must have {things(p['n'], 'word')} or more on average.",
        lambda t, p: bool(t.sentences) and len(t.words) >= p["n"] * len(t.sentences),
        lambda plan, p: replace(plan, sentences=plan.blocks, words=(p["n"] + 6) * plan.blocks),
        owns=names("sentences", "length"),
        bars=names(LABELS, LINES, MARKS),
    ),
)
