"""How a response begins, ends and is divided."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

from burnish.domains.instructions.base import (
    CAPITALS,
    LABELS,
    LINES,
    PHRASES,
    REPEATS,
    SYMBOLS,
    WORDS,
    Constraint,
    Params,
    names,
    number,
    things,
)
from burnish.domains.instructions.plan import with_items
from burnish.domains.instructions.text import Text, first_word
from burnish.domains.instructions.vocabulary import ACROSTICS, CLOSINGS, KEYWORDS, OPENINGS

_PLACEHOLDER = re.compile(r"\[[^\[\]\n]+\]")
_PLACEHOLDERS = ("[name]", "[date]", "[place]", "[price]", "[time]", "[street]", "[colour]", "[owner]")


def _word(rng: Random, level: int) -> Params:
    del level
    return {"word": rng.choice(KEYWORDS)}


def _opening(rng: Random, level: int) -> Params:
    del level
    return {"phrase": rng.choice(OPENINGS)}


def _closing(rng: Random, level: int) -> Params:
    del level
    return {"phrase": rng.choice(CLOSINGS)}


def _acrostic(rng: Random, level: int) -> Params:
    return {"word": rng.choice(ACROSTICS[min(level, 3)])}


def _paragraph(rng: Random, level: int) -> Params:
    n = rng.randint(*((2, 2), (2, 3), (3, 4), (4, 6))[min(level, 3)])
    return {"n": n, "k": rng.randint(1, n), "word": rng.choice(KEYWORDS)}


def _repeated_start(rng: Random, level: int) -> Params:
    return {"word": rng.choice(KEYWORDS), "n": (2, 3, 4, 6)[min(level, 3)]}


def _divided(text: Text, p: Params) -> bool:
    parts = [[]]
    for line in text.lines:
        if line == "***":
            parts.append([])
        else:
            parts[-1].append(line)
    return len(parts) == p["n"] and all(parts)


def _spells(text: Text, p: Params) -> bool:
    return "".join(first_word(line)[:1] for line in text.lines) == p["word"]


def _starts_paragraph(text: Text, p: Params) -> bool:
    found = text.paragraphs
    return len(found) == p["n"] and first_word(found[p["k"] - 1]) == p["word"]


def _starts_sentences(text: Text, p: Params) -> bool:
    starts = [first_word(sentence) == p["word"] for sentence in text.sentences]
    return len(starts) >= p["n"] and all(starts)


def _has_postscript(text: Text, _p: Params) -> bool:
    return len(text.lines) > 1 and len(text.lines[-1]) > 6 and text.lines[-1].startswith("P.S. ")


CONSTRAINTS = (
    Constraint(
        "structure/first_word",
        _word,
        lambda p: f'The first word must be "{p["word"]}".',
        lambda t, p: t.folded[:1] == [p["word"]],
        lambda plan, p: replace(plan, first=p["word"]),
        owns=names("start"),
        brings=names(WORDS),
    ),
    Constraint(
        "structure/last_word",
        _word,
        lambda p: f'The last word must be "{p["word"]}".',
        lambda t, p: t.folded[-1:] == [p["word"]],
        lambda plan, p: replace(plan, last=p["word"]),
        owns=names("end"),
        brings=names(WORDS),
    ),
    Constraint(
        "structure/opening",
        _opening,
        lambda p: f'Begin with exactly these words: "{p["phrase"]}".',
        lambda t, p: t.raw.startswith(p["phrase"]) and t.find(p["phrase"]) == 0,
        lambda plan, p: replace(plan, first=p["phrase"]),
        owns=names("start"),
        brings=names(WORDS, CAPITALS, PHRASES),
    ),
    Constraint(
        "structure/closing",
        _closing,
        lambda p: f'End with exactly this sentence: "{p["phrase"]}"',
        lambda t, p: t.raw.endswith(p["phrase"]) and len(t.sentences) > 1,
        lambda plan, p: replace(plan, closing=f" {p['phrase']}"),
        owns=names("end", "wrap", "marks"),
        brings=names(WORDS, CAPITALS, LABELS, PHRASES),
    ),
    Constraint(
        "structure/postscript",
        number((1, 1)),
        lambda _p: 'The last line is a postscript that begins with "P.S. ".',
        _has_postscript,
        lambda plan, _p: replace(plan, closing="\nP.S. See you soon."),
        owns=names("end", "wrap", "blocks", "marks"),
        brings=names(WORDS, CAPITALS, LABELS, LINES, SYMBOLS, PHRASES),
    ),
    Constraint(
        "structure/divided",
        number((2, 2), (2, 3), (3, 4), (5, 6)),
        lambda p: f"Write exactly {p['n']} parts, and between them lines that hold only three asterisks: ***",
        _divided,
        lambda plan, p: replace(plan, blocks=p["n"], between="\n***\n"),
        owns=names("blocks", "asterisks"),
        brings=names(LINES, SYMBOLS),
    ),
    Constraint(
        "structure/placeholders",
        number((1, 1), (2, 2), (3, 4), (5, 7)),
        lambda p: f"Use exactly {things(p['n'], 'placeholder')} in square brackets, such as [address].",
        lambda t, p: len(_PLACEHOLDER.findall(t.raw)) == p["n"],
        lambda plan, p: with_items(plan, *_PLACEHOLDERS[: p["n"]]),
        owns=names("brackets"),
        brings=names(WORDS, SYMBOLS),
    ),
    Constraint(
        "structure/same_ends",
        _word,
        lambda p: f'Both the first and the last word must be "{p["word"]}".',
        lambda t, p: len(t.folded) > 1 and t.folded[0] == t.folded[-1] == p["word"],
        lambda plan, p: replace(plan, first=p["word"], last=p["word"]),
        owns=names("start", "end"),
        brings=names(WORDS, REPEATS),
    ),
    Constraint(
        "structure/sentence_starts",
        _repeated_start,
        lambda p: f'Write at least {p["n"]} sentences, and begin every one with the word "{p["word"]}".',
        _starts_sentences,
        lambda plan, p: replace(plan, each=p["word"], sentences=p["n"]),
        owns=names("start", "sentences", "marks"),
        brings=names(WORDS, REPEATS),
        bars=names(LABELS, LINES),
    ),
    Constraint(
        "structure/acrostic",
        _acrostic,
        lambda p: f'Write exactly {len(p["word"])} lines; their first letters must spell "{p["word"]}".',
        _spells,
        lambda plan, p: replace(plan, blocks=len(p["word"]), between="\n", initials=p["word"]),
        owns=names("blocks", "start", "form", "wrap", "length"),
        brings=names(LINES, WORDS),
    ),
    Constraint(
        "structure/paragraph_start",
        _paragraph,
        lambda p: (
            f"Write exactly {p['n']} paragraphs with a blank line between them; the first word of paragraph "
            f'{p["k"]} must be "{p["word"]}".'
        ),
        _starts_paragraph,
        lambda plan, p: replace(
            plan, blocks=p["n"], starts=tuple(p["word"] if i == p["k"] else "" for i in range(1, p["n"] + 1))
        ),
        owns=names("blocks", "start"),
        brings=names(LINES, WORDS),
    ),
)
