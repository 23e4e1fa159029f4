"""Table `stages`: what each stage of a run cost."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from burnish.store.writer import Write

SCHEMA = (
    "CREATE TABLE stages (name TEXT PRIMARY KEY, seconds REAL NOT NULL, tokens_generated INTEGER NOT NULL, "
    "tokens_trained INTEGER NOT NULL, tasks INTEGER NOT NULL)",
)

# A stage that is recorded again keeps its row and so its place in the order.
_INSERT = (
    "INSERT INTO stages (name, seconds, tokens_generated, tokens_trained, tasks) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (name) DO UPDATE SET seconds = excluded.seconds, "
    "tokens_generated = excluded.tokens_generated, tokens_trained = excluded.tokens_trained, "
    "tasks = excluded.tasks"
)

SELECT = "SELECT name, seconds, tokens_generated, tokens_trained, tasks FROM stages ORDER BY rowid"


@dataclass(frozen=True, slots=True)
class StageCost:
    """Time and tokens of one stage."""

    name: str
    seconds: float
    tokens_generated: int = 0
    tokens_trained: int = 0
    tasks: int = 0
    """Tasks generated from, trained on or evaluated."""


def insert(cost: StageCost) -> Write:
    """One row; a stage that is recorded again replaces its figures."""
    return Write(_INSERT, (astuple(cost),))
