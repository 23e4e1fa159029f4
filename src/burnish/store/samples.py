"""Table `samples`: every completion that was kept, with its task and its place in the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal

from burnish.records import Group, Sample, Verdict
from burnish.store import verdicts
from burnish.store.writer import Write

SCHEMA = (
    "CREATE TABLE samples (id INTEGER PRIMARY KEY, stage TEXT NOT NULL, step INTEGER NOT NULL, "
    "ordinal INTEGER NOT NULL, task_key TEXT NOT NULL, domain TEXT NOT NULL, split TEXT NOT NULL, "
    "level INTEGER NOT NULL, task_index INTEGER NOT NULL, sample_index INTEGER NOT NULL, "
    "prompt_text TEXT NOT NULL, text TEXT NOT NULL, stop TEXT NOT NULL, tokens INTEGER NOT NULL, "
    "mean_logprob REAL, weight_version INTEGER, advantage REAL, gold TEXT)",
    "CREATE INDEX samples_by_place ON samples (stage, domain, step)",
    "CREATE INDEX samples_by_task ON samples (task_key)",
)

Order = Literal["best", "worst", "random", "recent"]

_ORDERS: dict[Order, str] = {
    # Among equals the latest comes first: it shows the policy as it has become.
    "best": "value DESC, advantage DESC, id DESC",
    "worst": "value ASC, advantage ASC, id DESC",
    # A fixed shuffle (Knuth's multiplicative hash): random to the eye, the same on every call.
    "random": "(id * 2654435761) % 4294967296, id",
    "recent": "id DESC",
}

NEXT_ID = "SELECT ifnull(max(id), 0) + 1 FROM samples"
STAGES = "SELECT stage FROM samples GROUP BY stage ORDER BY min(id)"
DRAWN = (
    "SELECT domain, count(*) FROM (SELECT DISTINCT domain, step, ordinal FROM samples WHERE stage = ?) "
    "GROUP BY domain ORDER BY domain"
)


@dataclass(frozen=True, slots=True)
class StoredSample:
    """One completion as it was recorded, with its verdict."""

    id: int
    stage: str
    step: int
    ordinal: int
    task_key: str
    domain: str
    split: str
    level: int
    task_index: int
    sample_index: int
    prompt_text: str
    text: str
    stop: str
    tokens: int
    mean_logprob: float | None
    """Mean natural-log probability a token; None when the engine gave none."""
    weight_version: int | None
    advantage: float | None
    """None for a sample that was only evaluated, or whose verdict reached no advantage."""
    gold: str | None
    verdict: Verdict | None


_COLUMNS = [f.name for f in fields(StoredSample) if f.name != "verdict"]

_INSERT = f"INSERT INTO samples ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608


def insert(
    first_id: int,
    stage: str,
    step: int,
    group: Group,
    *,
    prompt_text: str,
    advantages: Sequence[float] | None,
) -> Write:
    """One row a sample, with ids counting up from `first_id`."""
    task = group.task
    place = (stage, step, group.ordinal, task.key, task.domain, str(task.split), task.level, task.index)
    rows = tuple(
        (first_id + n, *place, sample.index, prompt_text, *_columns(sample),
         None if advantages is None else float(advantages[n]), task.gold)
        for n, sample in enumerate(group.samples)
    )  # fmt: skip
    return Write(_INSERT, rows)


def select(filters: dict[str, object], order: Order, limit: int) -> tuple[str, tuple[object, ...]]:
    """The query and parameters for samples that match all `filters` ({column: value}; None = any)."""
    wanted = {column: value for column, value in filters.items() if value is not None}
    if order in ("best", "worst"):
        wanted["kind"] = "scored"
    where = " AND ".join(f"{column} = ?" for column in wanted) or "1"
    columns = ", ".join((*_COLUMNS, *verdicts.COLUMNS))
    sql = (
        f"SELECT {columns} FROM samples LEFT JOIN verdicts ON sample_id = id "  # noqa: S608 - names are ours
        f"WHERE {where} ORDER BY {_ORDERS[order]} LIMIT ?"
    )
    return sql, (*wanted.values(), limit)


def from_row(row: tuple) -> StoredSample:
    """One row of `select`."""
    width = len(_COLUMNS)
    return StoredSample(*row[:width], verdict=verdicts.from_columns(row[width:]))


def _columns(sample: Sample) -> tuple[object, ...]:
    mean_logprob = math.fsum(sample.logprobs) / len(sample.logprobs) if sample.logprobs else None
    version = sample.versions[-1] if sample.versions else None
    return (sample.text, str(sample.stop), len(sample.token_ids), mean_logprob, version)
