"""Table `metrics`: one number a (stage, step, domain, name); a repeated step replaces its number."""

from __future__ import annotations

import math
from collections.abc import Mapping

from burnish.store.writer import Write

SCHEMA = (
    "CREATE TABLE metrics (stage TEXT NOT NULL, step INTEGER NOT NULL, domain TEXT, name TEXT NOT NULL, "
    "value REAL, time REAL NOT NULL)",
    "CREATE UNIQUE INDEX metrics_by_name ON metrics (stage, name, ifnull(domain, ''), step)",
)

_INSERT = "INSERT OR REPLACE INTO metrics (stage, step, domain, name, value, time) VALUES (?, ?, ?, ?, ?, ?)"

SERIES = (
    "SELECT step, value FROM metrics WHERE stage = ? AND name = ? AND ifnull(domain, '') = ? ORDER BY step"
)
CURVES = "SELECT name, domain, step, value FROM metrics WHERE stage = ? ORDER BY name, domain, step"
STAGES = "SELECT stage FROM metrics GROUP BY stage ORDER BY min(time), min(rowid)"

Curve = list[tuple[int, float]]
"""(step, value) in order of step."""


def insert(stage: str, step: int, values: Mapping[str, float], domain: str | None, time: float) -> Write:
    """Rows for one step. SQLite stores NaN as NULL; `number` turns it back."""
    rows = tuple((stage, step, domain, name, float(value), time) for name, value in values.items())
    return Write(_INSERT, rows)


def number(value: float | None) -> float:
    """A metric's value as stored; NULL is NaN."""
    return math.nan if value is None else value


def curves(rows: list[tuple[str, str | None, int, float | None]]) -> dict[str, dict[str | None, Curve]]:
    """Rows of `CURVES` as {name: {domain or None: curve}}."""
    found: dict[str, dict[str | None, Curve]] = {}
    for name, domain, step, value in rows:
        found.setdefault(name, {}).setdefault(domain, []).append((step, number(value)))
    return found
