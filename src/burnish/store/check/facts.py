"""The rows of a run's database that bear on its invariants, all of one moment."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path

from burnish.errors import StoreError
from burnish.store.connection import open_reader, translated
from burnish.store.ledger import LedgerEntry
from burnish.store.migrations import check_version

BUSY_SECONDS = 10.0

STEP_METRICS: Mapping[str, tuple[str, ...]] = {
    "sft": ("loss", "lr", "seconds"),
    "rl": ("success", "reward", "length", "groups", "lr", "seconds"),
}
"""Figures over all domains that every step of a stage has."""
DOMAIN_METRIC = "reward"
"""Figure that a domain has at every step in which one of its groups was graded."""

LEDGER_STAGE = "rl"
"""The stage whose groups the ledger counts."""

_ENTRY = ", ".join(f.name for f in fields(LedgerEntry))
_LEDGER = f"SELECT times_trained, {_ENTRY} FROM ledger ORDER BY ordinal"  # noqa: S608 - names are ours
_SAMPLES = (
    "SELECT ordinal, step, count(*), count(DISTINCT sample_index), sum(tokens), min(weight_version), "
    "max(weight_version), min(domain), min(split), min(level), min(task_index), count(DISTINCT task_key) "
    "FROM samples WHERE stage = ? GROUP BY ordinal, step ORDER BY ordinal, step"
)
_METRICS = (
    "SELECT stage, name, ifnull(domain, ''), step, count(*) FROM metrics "
    "WHERE domain IS NULL OR name = ? GROUP BY stage, name, domain, step"
)


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A row of the ledger."""

    times_trained: int
    entry: LedgerEntry


@dataclass(frozen=True, slots=True)
class DrawnGroup:
    """The stored samples of an ordinal at a step."""

    ordinal: int
    step: int
    samples: int
    distinct: int
    """How many different sample numbers they have."""
    tokens: int
    version_low: int | None
    version_high: int | None
    domain: str
    split: str
    level: int
    task_index: int
    tasks: int
    """How many different tasks they name."""


Counts = Mapping[tuple[str, str, str], Mapping[int, int]]
"""{(stage, name, domain or ''): {step: rows}}."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the database says."""

    integrity: tuple[str, ...]
    """What SQLite finds wrong with the file; empty when nothing is."""
    has_ledger: bool
    """False for a run recorded before there was a ledger."""
    groups: tuple[GroupRow, ...]
    drawn: tuple[DrawnGroup, ...]
    metrics: Counts

    def last_metric(self, stage: str) -> int:
        """The last step of a stage that has any figure; 0 when none has."""
        return max((max(steps) for (s, _, _), steps in self.metrics.items() if s == stage), default=0)

    @property
    def last_step(self) -> int:
        """The last step of the ledger's stage of which anything is recorded."""
        trained = max((g.entry.trained_step or 0 for g in self.groups), default=0)
        drawn = max((d.step for d in self.drawn), default=0)
        return max(trained, drawn, self.last_metric(LEDGER_STAGE))


def read_facts(path: Path) -> Facts:
    """Everything at one moment of the database, which another process may be writing.

    Raises:
        StoreError: the file is missing, foreign, of a newer version, or damaged beyond reading.
    """
    with closing(open_reader(path, busy_seconds=BUSY_SECONDS)) as connection:
        check_version(connection, path)
        integrity = _integrity(connection)
        if integrity:
            return Facts(integrity, False, (), (), {})
        with translated(path):
            connection.execute("BEGIN")
            return _read(connection)


def _integrity(connection: sqlite3.Connection) -> tuple[str, ...]:
    try:
        lines = [str(line) for (line,) in connection.execute("PRAGMA quick_check(5)")]
    except sqlite3.DatabaseError as error:
        return (str(error),)
    return () if lines == ["ok"] else tuple(" ".join(line.split()) for line in lines)


def _read(connection: sqlite3.Connection) -> Facts:
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    has_ledger = "ledger" in tables
    rows = connection.execute(_LEDGER) if has_ledger else ()
    groups = tuple(GroupRow(row[0], LedgerEntry(*row[1:])) for row in rows)
    drawn = tuple(DrawnGroup(*row) for row in connection.execute(_SAMPLES, (LEDGER_STAGE,)))
    counts: dict[tuple[str, str, str], dict[int, int]] = {}
    for stage, name, domain, step, count in connection.execute(_METRICS, (DOMAIN_METRIC,)):
        counts.setdefault((stage, name, domain), {})[step] = count
    return Facts((), has_ledger, groups, drawn, counts)


def missing_database(path: Path) -> StoreError:
    """The error for a run directory without its database."""
    return StoreError(f"no run database at {path}", next_step="restore it from a copy; nothing can be proved")
