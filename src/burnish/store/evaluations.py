"""Table `evaluations`: the outcome of every evaluated sample, so that two models can be paired by task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from burnish.records import Group, Scored, Verdict
from burnish.store.writer import Write

SCHEMA = (
    "CREATE TABLE evaluations (name TEXT NOT NULL, domain TEXT NOT NULL, task_key TEXT NOT NULL, "
    "mode TEXT NOT NULL CHECK (mode IN ('greedy', 'sampled')), sample_index INTEGER NOT NULL, "
    "passed INTEGER, value REAL, PRIMARY KEY (name, task_key, mode, sample_index)) WITHOUT ROWID",
)

Mode = Literal["greedy", "sampled"]

_INSERT = (
    "INSERT OR REPLACE INTO evaluations (name, domain, task_key, mode, sample_index, passed, value) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)

SELECT = (
    "SELECT name, domain, task_key, mode, sample_index, passed, value FROM evaluations "
    "WHERE ifnull(?1, name) = name AND ifnull(?2, mode) = mode AND ifnull(?3, domain) = domain "
    "ORDER BY name, domain, mode, task_key, sample_index"
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One evaluated sample."""

    name: str
    """Which evaluation, for example `before`, `sft`, `rl`."""
    domain: str
    task_key: str
    mode: Mode
    sample_index: int
    passed: bool | None
    """None when the grader abstained or something broke."""
    value: float | None


def insert(name: str, mode: Mode, group: Group) -> Write:
    """One row a sample of an evaluated task; evaluating again under the same name replaces it."""
    place = (name, group.task.domain, group.task.key, mode)
    pairs = zip(group.samples, group.verdicts, strict=True)
    return Write(_INSERT, tuple((*place, sample.index, *_result(verdict)) for sample, verdict in pairs))


def from_row(row: tuple) -> Outcome:
    """One row of `SELECT`."""
    *place, passed, value = row
    return Outcome(*place, passed=None if passed is None else bool(passed), value=value)


def _result(verdict: Verdict) -> tuple[int | None, float | None]:
    return (int(verdict.passed), float(verdict.value)) if isinstance(verdict, Scored) else (None, None)
