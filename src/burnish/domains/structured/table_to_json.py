"""Turn a table into JSON: types, chosen columns, chosen rows, order, groups."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from burnish.domains.structured.base import Structured, read_json, same_json

Kind = Literal["text", "integer", "decimal", "flag"]
Row = Mapping[str, Any]

COLUMNS: Mapping[str, Kind] = {
    "name": "text", "city": "text", "colour": "text", "owner": "text", "kind": "text",
    "stock": "integer", "year": "integer", "seats": "integer", "points": "integer",
    "price": "decimal", "weight": "decimal", "rate": "decimal",
    "active": "flag", "paid": "flag",
}  # fmt: skip
TEXTS: Mapping[str, tuple[str, ...]] = {
    "name": (
        "Ada",
        "Ben",
        "Cleo",
        "Dov",
        "Elif",
        "Femi",
        "Gus",
        "Hana",
        "Ivo",
        "Jun",
        "Kaya",
        "Lars",
        "Mina",
    ),
    "city": ("Oslo", "Lima", "Cairo", "Kyoto", "Quito", "Turin", "Hanoi", "Bergen", "Accra"),
    "colour": ("red", "green", "blue", "grey", "dark red", "sea green"),
    "owner": ("Smith & Co", "Library", "City hall", "North Ltd", "nobody"),
    "kind": ("lamp", "chair", "desk lamp", "shelf", "tent", "kettle"),
}
SIZES = (((1, 2), (2, 2)), ((3, 4), (3, 3)), ((4, 5), (3, 4)), ((5, 7), (4, 4)))
"""Rows and columns by level, each from and to."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table, the way it is shown, and what is wanted of it."""

    shown: str
    wants: str
    """What the JSON must hold, in words."""
    result: str
    """The JSON."""


@dataclass(frozen=True)
class TableToJson(Structured[Table]):
    """`structured/table_to_json`."""

    @property
    def name(self) -> str:
        """Full name."""
        return "structured/table_to_json"

    @property
    def levels(self) -> int:
        """One or two rows; more; chosen columns and empty cells; chosen, sorted or grouped rows."""
        return len(SIZES)

    def make(self, rng: Random, level: int) -> Table:
        """A table with its JSON."""
        columns, rows = draw_rows(rng, level)
        wants, result = _demand(rng, level, columns, rows)
        styles = (_markdown,) if level == 0 else (_markdown, _csv, _fields)
        return Table(rng.choice(styles)(columns, rows), wants, json.dumps(result))

    def question(self, exercise: Table) -> str:
        """The table and what is wanted."""
        return (
            f"Convert this table to JSON.\n\n{exercise.shown}\n\n{exercise.wants} Numbers become JSON "
            "numbers, yes and no become true and false, empty cells become null, everything else becomes "
            "strings."
        )

    def kind(self) -> str:
        """What an answer is."""
        return "the JSON"

    def answer(self, exercise: Table) -> str:
        """The JSON."""
        return exercise.result

    def is_right(self, exercise: Table, answer: str) -> bool:
        """Whether an answer is the same JSON; the order of keys does not matter."""
        read = read_json(answer)
        return read is not None and same_json(read[0], json.loads(exercise.result))


def draw_rows(rng: Random, level: int) -> tuple[list[str], list[Row]]:
    """Columns, the first one a text without repetition, and rows."""
    rows, width = (rng.randint(*span) for span in SIZES[level])
    columns = ["name", *rng.sample([column for column in COLUMNS if column != "name"], width - 1)]
    if level and not any(COLUMNS[column] in ("integer", "decimal") for column in columns):
        columns[-1] = rng.choice(("stock", "year", "price"))
    names = rng.sample(TEXTS["name"], rows)
    made: list[Row] = [
        {column: _cell(rng, column, level) for column in columns} | {"name": name} for name in names
    ]
    return columns, made


def _cell(rng: Random, column: str, level: int) -> Any:
    if level == 2 and rng.random() < 0.2:
        return None
    kind = COLUMNS[column]
    if kind == "integer":
        return rng.randint(1, 2000)
    if kind == "decimal":
        return rng.randint(100, 9999) / 100
    return rng.random() < 0.5 if kind == "flag" else rng.choice(TEXTS[column])


def _demand(rng: Random, level: int, columns: Sequence[str], rows: Sequence[Row]) -> tuple[str, Any]:
    """What is wanted in words, and the result."""
    if level < 2:
        return "Give an array with one object for each row, with the column names as keys.", list(rows)
    if level == 2:
        return _chosen_columns(rng, columns, rows)
    return rng.choice((_filtered, _sorted, _keyed))(rng, columns, rows)


def _chosen_columns(rng: Random, columns: Sequence[str], rows: Sequence[Row]) -> tuple[str, Any]:
    kept = rng.sample(columns, len(columns) - 1)
    names = {column: column.upper() if rng.random() < 0.4 else f"{column}_value" for column in kept[:1]}
    wanted = ", ".join(
        f'"{column}" (under the key "{names[column]}")' if column in names else f'"{column}"'
        for column in kept
    )
    result = [{names.get(column, column): row[column] for column in kept} for row in rows]
    return f"Give an array with one object for each row; keep only the columns {wanted}.", result


def _numeric(rng: Random, columns: Sequence[str]) -> str:
    return rng.choice([column for column in columns if COLUMNS[column] in ("integer", "decimal")])


def _filtered(rng: Random, columns: Sequence[str], rows: Sequence[Row]) -> tuple[str, Any]:
    column = _numeric(rng, columns)
    bound = rng.choice(rows)[column]
    wants = (
        f'Give an array with one object for each row whose "{column}" is at least {bound}, '
        "with the column names as keys."
    )
    return wants, [row for row in rows if row[column] >= bound]


def _sorted(rng: Random, columns: Sequence[str], rows: Sequence[Row]) -> tuple[str, Any]:
    is_falling = rng.random() < 0.5
    wants = (
        "Give an array with one object for each row, with the column names as keys, sorted by "
        f'"name" in {"reverse " if is_falling else ""}alphabetical order.'
    )
    del columns
    return wants, sorted(rows, key=lambda row: row["name"], reverse=is_falling)


def _keyed(rng: Random, columns: Sequence[str], rows: Sequence[Row]) -> tuple[str, Any]:
    column = rng.choice(columns[1:])
    wants = f'Give one object whose keys are the values of "name" and whose values are those of "{column}".'
    return wants, {row["name"]: row[column] for row in rows}


def _shown(value: object) -> str:
    if value is None:
        return ""
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _markdown(columns: Sequence[str], rows: Sequence[Row]) -> str:
    lines = [columns, ["---"] * len(columns), *([_shown(row[column]) for column in columns] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _csv(columns: Sequence[str], rows: Sequence[Row]) -> str:
    lines = [columns, *([_shown(row[column]) for column in columns] for row in rows)]
    return "\n".join(",".join(line) for line in lines)


def _fields(columns: Sequence[str], rows: Sequence[Row]) -> str:
    return "\n\n".join(
        "\n".join(f"{column}: {_shown(row[column])}".rstrip() for column in columns) for row in rows
    )
