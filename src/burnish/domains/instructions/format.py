"""What a response looks like: lists, JSON, titles, sections, tables, quotes."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from random import Random

from burnish.domains.instructions.base import (
    CAPITALS,
    COMMAS,
    DIGITS,
    LABELS,
    LINES,
    MARKS,
    SYMBOLS,
    WORDS,
    Constraint,
    Params,
    listed,
    names,
    number,
    things,
)
from burnish.domains.instructions.plan import with_items
from burnish.domains.instructions.text import Text
from burnish.domains.instructions.vocabulary import LABELS as FIELDS

_ITEMS = ((2, 3), (3, 4), (5, 6), (7, 9))
_FENCE = re.compile(r"\A```[a-z]*\n(.*)\n```\Z", re.DOTALL)
_NUMBERED = re.compile(r"(\d{1,3})\. \S")
_TITLE = re.compile(r"<<[^<>\n]+>>")
_HIGHLIGHT = re.compile(r"(?<!\*)\*[^*\s](?:[^*\n]*[^*\s])?\*(?!\*)")
_EVERYTHING = ("form", "blocks", "sentences", "length", "start", "end", "case", "letters", "commas", "wrap")


_PASSAGES = ("*quiet hill*", "*wide road*", "*clear pond*", "*new wall*", "*deep well*", "*soft sand*")
_TITLE_WORDS = ("happy", "round", "hills", "view", "old", "stars", "join", "tea")


def _fields(rng: Random, level: int) -> Params:
    low, high = ((2, 2), (2, 3), (3, 4), (5, 6))[min(level, 3)]
    return {"keys": tuple(rng.sample(FIELDS, rng.randint(low, high)))}


def _table(rng: Random, level: int) -> Params:
    columns = rng.sample(FIELDS, (2, 2, 3, 4)[min(level, 3)])
    return {"keys": tuple(columns), "n": rng.randint(*((1, 2), (2, 3), (3, 5), (5, 7))[min(level, 3)])}


def _loaded(text: str) -> object:
    """What a response in JSON says, one fence around it aside; None when it is no JSON."""
    fenced = _FENCE.match(text)
    try:
        return json.loads(fenced.group(1) if fenced else text)
    except (ValueError, RecursionError):
        return None


def _is_filled(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_object(text: Text, p: Params) -> bool:
    found = _loaded(text.raw)
    return isinstance(found, dict) and set(found) == set(p["keys"]) and all(map(_is_filled, found.values()))


def _is_list(text: Text, p: Params) -> bool:
    found = _loaded(text.raw)
    return isinstance(found, list) and len(found) == p["n"] and all(map(_is_filled, found))


def _cells(line: str) -> list[str]:
    """The cells of a row; empty when the line is no row."""
    bars = len(line) > 1 and line.startswith("|") and line.endswith("|")
    return [cell.strip() for cell in line[1:-1].split("|")] if bars else []


def _is_table(text: Text, p: Params) -> bool:
    rows = [_cells(line) for line in text.lines]
    if len(rows) != p["n"] + 2 or tuple(rows[0]) != p["keys"]:
        return False
    ruled = all(re.fullmatch(r":?-+:?", cell) for cell in rows[1])
    return ruled and all(len(row) == len(p["keys"]) and all(row) for row in rows[1:])


def _is_numbered(text: Text, p: Params) -> bool:
    found = [_NUMBERED.match(line) for line in text.lines]
    return len(found) == p["n"] and all(m and int(m.group(1)) == i for i, m in enumerate(found, start=1))


def _is_labelled(text: Text, p: Params) -> bool:
    return len(text.lines) == len(p["keys"]) and all(
        line.startswith(f"{key}: ") for line, key in zip(text.lines, p["keys"], strict=True)
    )


def _parts(text: Text) -> int:
    """Parts between semicolons; 0 when one of them is empty."""
    parts = text.raw.split(";")
    return len(parts) if all(part.strip() for part in parts) else 0


def _has_sections(text: Text, p: Params) -> bool:
    """Whether headings, and text after each, are in order, and none is left over."""
    lines = text.lines
    heads = [at for at, line in enumerate(lines) if re.fullmatch(r"Section \d+", line)]
    wanted = [f"Section {i}" for i in range(1, p["n"] + 1)]
    if [lines[at] for at in heads] != wanted or heads[0] != 0:
        return False
    return all(after - at > 1 for at, after in zip(heads, [*heads[1:], len(lines)], strict=True))


CONSTRAINTS = (
    Constraint(
        "format/bullets",
        number(*_ITEMS),
        lambda p: f'Write exactly {p["n"]} bullet points, lines that begin with "- ", and nothing else.',
        lambda t, p: len(t.lines) == p["n"] and all(line.startswith("- ") for line in t.lines),
        lambda plan, p: replace(plan, blocks=p["n"], between="\n", prefixes=("- ",) * p["n"]),
        owns=names("form", "blocks", "start", "wrap"),
        brings=names(LINES, SYMBOLS),
    ),
    Constraint(
        "format/numbered",
        number(*_ITEMS),
        lambda p: f'Write exactly {p["n"]} lines numbered "1. ", "2. " and so on, and nothing else.',
        _is_numbered,
        lambda plan, p: replace(
            plan, blocks=p["n"], between="\n", prefixes=tuple(f"{i}. " for i in range(1, p["n"] + 1))
        ),
        owns=names("form", "blocks", "start", "wrap"),
        brings=names(LINES, DIGITS, LABELS),
    ),
    Constraint(
        "format/labelled_lines",
        _fields,
        lambda p: f"Write exactly {len(p['keys'])} lines that begin, in this order, with the labels "
        f'{listed(tuple(f"{key}: " for key in p["keys"]))}.',
        _is_labelled,
        lambda plan, p: replace(
            plan, blocks=len(p["keys"]), between="\n", prefixes=tuple(f"{key}: " for key in p["keys"])
        ),
        owns=names("form", "blocks", "start", "wrap"),
        brings=names(LINES, LABELS, CAPITALS, WORDS, SYMBOLS),
    ),
    Constraint(
        "format/sections",
        number((2, 2), (2, 3), (3, 4), (5, 6)),
        lambda p: f'Write exactly {p["n"]} sections, headed by lines "Section 1", "Section 2" and so on.',
        _has_sections,
        lambda plan, p: replace(
            plan,
            blocks=p["n"],
            between="\n",
            prefixes=tuple(f"Section {i}\n" for i in range(1, p["n"] + 1)),
        ),
        owns=names("form", "blocks", "start", "wrap"),
        brings=names(LINES, LABELS, CAPITALS, DIGITS),
    ),
    Constraint(
        "format/json_object",
        _fields,
        lambda p: f"Answer with one JSON object whose keys are exactly {listed(p['keys'])}; "
        "every value is a string that is not empty.",
        _is_object,
        lambda plan, p: replace(plan, blocks=len(p["keys"]), keys=p["keys"], form="object"),
        owns=names(*_EVERYTHING),
        brings=names(LABELS, LINES, CAPITALS, COMMAS, SYMBOLS, WORDS),
        bars=names(MARKS),
        ends=True,
    ),
    Constraint(
        "format/json_list",
        number(*_ITEMS),
        lambda p: f"Answer with one JSON array of exactly {p['n']} strings, none of them empty.",
        _is_list,
        lambda plan, p: replace(plan, blocks=p["n"], form="list"),
        owns=names(*_EVERYTHING),
        brings=names(LABELS, LINES, COMMAS, SYMBOLS),
        bars=names(MARKS),
        ends=True,
    ),
    Constraint(
        "format/table",
        _table,
        lambda p: f"Answer with a Markdown table with the columns {listed(p['keys'])}, a row of dashes below "
        f"them, and exactly {things(p['n'], 'row')} without empty cells; write nothing else.",
        _is_table,
        lambda plan, p: replace(plan, blocks=p["n"], keys=p["keys"], form="table"),
        owns=names(*_EVERYTHING),
        brings=names(LABELS, LINES, CAPITALS, SYMBOLS, WORDS),
        bars=names(MARKS),
        ends=True,
    ),
    Constraint(
        "format/title",
        number((1, 3), (3, 4), (5, 6), (7, 8)),
        lambda p: f"The first line is a title of {things(p['n'], 'word')} in angle brackets, <<like this>>.",
        lambda t, p: len(t.lines) > 1
        and bool(_TITLE.fullmatch(t.lines[0]))
        and len(Text(t.lines[0]).words) == p["n"],
        lambda plan, p: replace(
            plan, opening=f"<<{' '.join(_TITLE_WORDS[: p['n']])}>>\n"
        ),
        owns=names("start", "blocks", "form", "wrap"),
        brings=names(LABELS, LINES, SYMBOLS, WORDS),
    ),
    Constraint(
        "format/quoted",
        number((1, 1)),
        lambda _p: 'Put the whole response in double quotes ("), and use them nowhere else.',
        lambda t, _p: len(t.raw) > 2 and t.raw[0] == t.raw[-1] == '"' and t.raw.count('"') == 2,
        lambda plan, _p: replace(plan, opening='"', closing='"'),
        owns=names("wrap", "form", "start", "end"),
        brings=names(SYMBOLS),
        ends=True,
    ),
    Constraint(
        "format/fenced",
        number((1, 1)),
        lambda _p: "Put the whole response in one code block: a line ``` before it and a line ``` behind it.",
        lambda t, _p: bool(_FENCE.match(t.raw)) and t.raw.count("```") == 2,
        lambda plan, _p: replace(plan, opening="```\n", closing="\n```"),
        owns=names("wrap", "form", "start", "end", "blocks"),
        brings=names(LINES, SYMBOLS),
        ends=True,
    ),
    Constraint(
        "format/highlights",
        number((1, 1), (2, 2), (3, 4), (5, 6)),
        lambda p: f"Highlight exactly {things(p['n'], 'passage')} with single asterisks, *like this*.",
        lambda t, p: len(_HIGHLIGHT.findall(t.raw)) == p["n"] and t.raw.count("*") == 2 * p["n"],
        lambda plan, p: with_items(plan, *_PASSAGES[: p["n"]]),
        owns=names("asterisks"),
        brings=names(SYMBOLS, WORDS),
    ),
    Constraint(
        "format/semicolon_list",
        number((3, 3), (4, 5), (6, 7), (8, 10)),
        lambda p: f"Write one line of exactly {p['n']} parts with semicolons between them.",
        lambda t, p: len(t.lines) == 1 and _parts(t) == p["n"],
        lambda plan, p: replace(plan, tails=(*plan.tails, *(";",) * (p["n"] - 1))),
        owns=names("blocks", "semicolons"),
        brings=names(SYMBOLS),
        bars=names(LINES),
    ),
)  # fmt: skip
