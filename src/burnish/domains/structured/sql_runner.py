"""Run one SELECT of unknown origin on a small database in memory.

Covered: everything but reading the tables is refused by SQLite's authorizer (writing, pragmas, attached
files, extensions, the schema, functions not in `FUNCTIONS`); instructions of its virtual machine, lengths of
texts and rows of the result are limited, so a query ends after `STEPS` instructions whatever it asks. All
limits count, none measures time: a query has the same result on every machine. Not covered: bugs in SQLite.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count

LONGEST_QUERY = 1500
STEPS, STEPS_BETWEEN = 60_000, 200
"""Instructions of SQLite's virtual machine; those between two looks at the clock."""
ROWS = 300
FUNCTIONS = frozenset(
    {
        "abs", "avg", "coalesce", "concat", "count", "ifnull", "iif", "instr", "length", "like", "lower",
        "ltrim",
        "max", "min", "nullif", "round", "rtrim", "sign", "substr", "substring", "sum", "total", "trim",
        "upper",
        "row_number", "rank", "dense_rank", "lag", "lead", "first_value", "last_value", "ntile",
        "group_concat",
    }
)  # fmt: skip
"""Functions a query may call; none takes long on the lengths allowed here."""

_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 2000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 2000,
    sqlite3.SQLITE_LIMIT_COLUMN: 40,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 60,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 12,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 20_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 12,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 60,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

Value = str | int | float | None
Row = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class TableData:
    """A table with its rows."""

    name: str
    columns: tuple[tuple[str, str], ...]
    """Names and types."""
    rows: tuple[Row, ...]

    @property
    def create(self) -> str:
        """The statement that makes it."""
        return f"CREATE TABLE {self.name} ({', '.join(f'{name} {kind}' for name, kind in self.columns)})"


Database = tuple[TableData, ...]


def select(database: Database, query: str) -> list[Row] | None:
    """The rows of a query; None when it fails, is refused, or goes past a limit."""
    if len(query) > LONGEST_QUERY or "\0" in query:
        return None
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _fill(connection, database)
        for limit, value in _LIMITS.items():
            connection.setlimit(limit, value)
        connection.set_authorizer(_allow)
        connection.set_progress_handler(_stop_after(STEPS // STEPS_BETWEEN), STEPS_BETWEEN)
        try:
            cursor = connection.execute(query)
            rows = cursor.fetchmany(ROWS + 1)
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError):
            return None
        is_select = cursor.description is not None
    return rows if is_select and len(rows) <= ROWS else None


def _fill(connection: sqlite3.Connection, database: Iterable[TableData]) -> None:
    for table in database:
        connection.execute(table.create)
        marks = ", ".join("?" * len(table.columns))
        connection.executemany(f"INSERT INTO {table.name} VALUES ({marks})", table.rows)  # noqa: S608 - our names


def _allow(action: int, one: str | None, two: str | None, _database: str | None, _trigger: str | None) -> int:
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_READ and not (one or "").startswith(("sqlite_", "pragma_", "json_")):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and (two or "").lower() in FUNCTIONS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _stop_after(calls: int) -> Callable[[], bool]:
    numbers = count()
    return lambda: next(numbers) >= calls


def same_rows(one: Sequence[Row], other: Sequence[Row], *, ordered: bool) -> bool:
    """Whether two results are equal, as sequences or as multisets; numbers up to rounding."""
    if len(one) != len(other):
        return False
    if not ordered:
        one, other = sorted(one, key=_sort_key), sorted(other, key=_sort_key)
    return all(map(_same_row, one, other))


def _same_row(one: Row, other: Row) -> bool:
    return len(one) == len(other) and all(map(_same_value, one, other))


def _same_value(one: Value, other: Value) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= 1e-6 * max(1.0, abs(one), abs(other))
    return type(one) is type(other) and one == other


def _sort_key(row: Row) -> tuple[tuple[str, float, str], ...]:
    """An order of rows in which nearly equal numbers stay together."""
    return tuple(
        ("number", round(value, 4), "")
        if isinstance(value, int | float)
        else (type(value).__name__, 0.0, str(value))
        for value in row
    )
