"""Table `verdicts`: what the grader said about a sample; at most one row a sample."""

from __future__ import annotations

import json

from burnish.records import Abstained, Boundary, Faulted, Scored, Verdict
from burnish.store.writer import Write

SCHEMA = (
    "CREATE TABLE verdicts (sample_id INTEGER PRIMARY KEY REFERENCES samples (id) ON DELETE CASCADE, "
    "kind TEXT NOT NULL CHECK (kind IN ('scored', 'abstained', 'faulted')), value REAL, passed INTEGER, "
    "parts TEXT, steps TEXT, reason TEXT, boundary TEXT, error TEXT)",
    "CREATE INDEX verdicts_by_value ON verdicts (kind, value)",
)

COLUMNS = ("kind", "value", "passed", "parts", "steps", "reason", "boundary", "error")

_INSERT = f"INSERT INTO verdicts (sample_id, {', '.join(COLUMNS)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608

COUNTS = (
    "SELECT domain, kind, count(*) FROM samples JOIN verdicts ON sample_id = id WHERE stage = ? "
    "GROUP BY domain, kind ORDER BY domain, kind"
)


def insert(rows: list[tuple[int, Verdict]]) -> Write:
    """Rows for (sample id, verdict) pairs."""
    return Write(_INSERT, tuple((sample_id, *_columns(verdict)) for sample_id, verdict in rows))


def from_columns(columns: tuple) -> Verdict | None:
    """The verdict in the order of `COLUMNS`, or None when the sample has none."""
    kind, value, passed, parts, steps, reason, boundary, error = columns
    if kind is None:
        return None
    if kind == "abstained":
        return Abstained(reason)
    if kind == "faulted":
        return Faulted(Boundary(boundary), error)
    nan_or_value = float("nan") if value is None else value
    return Scored(nan_or_value, bool(passed), json.loads(parts or "{}"), tuple(json.loads(steps or "[]")))


def _columns(verdict: Verdict) -> tuple[object, ...]:
    match verdict:
        case Scored(value, passed, parts, steps):
            parts_json = json.dumps({name: float(part) for name, part in parts.items()})
            return (
                "scored",
                float(value),
                int(passed),
                parts_json,
                json.dumps(list(steps)),
                None,
                None,
                None,
            )
        case Abstained(reason):
            return ("abstained", None, None, None, None, reason, None, None)
        case Faulted(boundary, error):
            return ("faulted", None, None, None, None, None, str(boundary), error)
