"""Table `events`: what happened in a run, in words: faults, quarantines, checkpoints, interrupts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from burnish.store.writer import Write

SCHEMA = (
    "CREATE TABLE events (time REAL NOT NULL, stage TEXT NOT NULL, step INTEGER NOT NULL, "
    "level TEXT NOT NULL CHECK (level IN ('info', 'warning', 'error')), kind TEXT NOT NULL, domain TEXT, "
    "message TEXT NOT NULL)",
)

Level = Literal["info", "warning", "error"]

_INSERT = "INSERT INTO events (time, stage, step, level, kind, domain, message) VALUES (?, ?, ?, ?, ?, ?, ?)"

SELECT = (
    "SELECT time, stage, step, level, kind, domain, message FROM events "
    "WHERE ifnull(?1, level) = level AND ifnull(?2, stage) = stage ORDER BY rowid"
)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, in the order it was recorded."""

    time: float
    """Seconds since the epoch."""
    stage: str
    step: int
    level: Level
    kind: str
    """A short stable name, for example `fault`, `quarantine`, `checkpoint`."""
    domain: str | None
    message: str


def insert(event: Event) -> Write:
    """One row."""
    row = (
        event.time,
        event.stage,
        event.step,
        event.level,
        event.kind,
        event.domain,
        event.message,
    )
    return Write(_INSERT, (row,))
