"""Table `ledger`: every group of the run by its ordinal, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal, get_args

from burnish.store.writer import Write

EntryState = Literal["pending", "leased", "done", "trained", "dropped"]

SCHEMA = (
    "CREATE TABLE ledger (ordinal INTEGER PRIMARY KEY, stage TEXT NOT NULL, step INTEGER NOT NULL, "
    "domain TEXT NOT NULL, split TEXT NOT NULL, level INTEGER NOT NULL, task_index INTEGER NOT NULL, "
    f"state TEXT NOT NULL CHECK (state IN {get_args(EntryState)}), reason TEXT, "
    "attempt INTEGER NOT NULL, version_first INTEGER, version_last INTEGER, tokens INTEGER, "
    "trained_step INTEGER, trained_version INTEGER, times_trained INTEGER NOT NULL)",
    "CREATE INDEX ledger_by_step ON ledger (stage, trained_step)",
)


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One group: a task, the step it was drawn for, and how far it has come."""

    ordinal: int
    """Number of the group within the run; never reused."""
    stage: str
    step: int
    """Step of the stage, counted from 1, whose batch it was drawn for."""
    domain: str
    split: str
    level: int
    task_index: int
    state: EntryState = "pending"
    reason: str | None = None
    """Why it was dropped."""
    attempt: int = 0
    """How often its lease was taken back; a result of an earlier attempt is not accepted."""
    version_first: int | None = None
    """Lowest weight version of its tokens; before there are any, the version it was leased under."""
    version_last: int | None = None
    """Highest weight version of its tokens."""
    tokens: int | None = None
    """Completion tokens of all its samples, once it is done."""
    trained_step: int | None = None
    """Step of the stage, counted from 1, whose update it was part of."""
    trained_version: int | None = None
    """Version of the weights which that update changed."""


_COLUMNS = [f.name for f in fields(LedgerEntry)]
_NAMES = ", ".join(_COLUMNS)

# The count is the table's own: a group that were trained a second time would show, not be overwritten.
_UPSERT = (
    f"INSERT INTO ledger ({_NAMES}, times_trained) VALUES ({', '.join('?' * len(_COLUMNS))}, ?) "  # noqa: S608
    f"ON CONFLICT (ordinal) DO UPDATE SET {', '.join(f'{c} = excluded.{c}' for c in _COLUMNS[1:])}, "
    "times_trained = times_trained + excluded.times_trained"
)

EXISTS = "SELECT 1 FROM sqlite_master WHERE name = 'ledger'"
SELECT = f"SELECT {_NAMES} FROM ledger WHERE ifnull(?1, stage) = stage ORDER BY ordinal"  # noqa: S608


def upsert(entries: Sequence[LedgerEntry]) -> Write:
    """One row an ordinal; a later entry takes the place of an earlier one."""
    rows = tuple((*(getattr(e, c) for c in _COLUMNS), int(e.state == "trained")) for e in entries)
    return Write(_UPSERT, rows)


def rewind(frontier: int, open_entries: Sequence[LedgerEntry]) -> tuple[Write, ...]:
    """Forget groups from `frontier` on and set back those that were open."""
    gone = tuple((entry.ordinal,) for entry in open_entries)
    return (
        Write("DELETE FROM ledger WHERE ordinal >= ?", ((frontier,),)),
        Write("DELETE FROM ledger WHERE ordinal = ?", gone),
        upsert(open_entries),
    )


def from_row(row: tuple) -> LedgerEntry:
    """One row of `SELECT`."""
    return LedgerEntry(*row)
