"""One measured cell of a probe (a domain at a level), and the orders in which cells are shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burnish.evaluation.intervals import Interval
from burnish.evaluation.verdicts import Kind

_KINDS = list(Kind)


@dataclass(frozen=True, slots=True)
class Cell:
    """What a model does on one domain at one level; means are NaN where nothing was drawn."""

    domain: str
    level: int
    kind: Kind
    sure: bool
    """Whether more tasks would hardly change the kind."""
    reason: str
    tasks: int
    success: Interval
    """Sampled accuracy."""
    greedy: Interval
    mixed: Interval
    """Share of groups with both a pass and a failure: those that carry a gradient."""
    trivial: float
    """Accuracy of the best agent that knows nothing; a model at or below it may be guessing."""
    trivial_agent: str
    gold: float
    """Share of tasks with a gold answer."""
    unjudged: float
    """Share of completions whose grading broke or abstained."""
    missing: int
    """Tasks wanted and not made."""
    prompt_length: float
    longest_prompt: int
    completion_length: float
    """Mean tokens of a sampled completion."""
    truncated: float
    """Share of sampled completions cut off at the limit."""
    tokens: int
    """Completion tokens drawn."""
    task_seconds: float
    """Wall time of making the tasks."""
    generate_seconds: float

    @property
    def guessing(self) -> bool:
        """Whether an agent that knows nothing does at least as well as the model."""
        return not math.isnan(self.trivial) and 0 < self.success.value <= self.trivial

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; NaN becomes None."""
        plain = {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}
        return plain | {"guessing": self.guessing}


def _plain(value: object) -> object:
    if isinstance(value, Interval):
        return value.to_dict()
    return None if isinstance(value, float) and math.isnan(value) else value


def _mixture(cell: Cell) -> float:
    return 0.0 if math.isnan(cell.mixed.value) else cell.mixed.value


def table_order(cells: Sequence[Cell]) -> list[Cell]:
    """Kind by kind, most mixed groups first inside a kind, then by name and level."""
    return sorted(cells, key=lambda c: (_KINDS.index(c.kind), -_mixture(c), c.domain, c.level))


def best_cells(cells: Sequence[Cell]) -> dict[str, Cell]:
    """For each domain the cell to start from: the best kind, then most mixed groups, then lowest level."""
    best: dict[str, Cell] = {}
    for cell in sorted(cells, key=lambda c: (_KINDS.index(c.kind), -_mixture(c), c.level)):
        best.setdefault(cell.domain, cell)
    return best


def by_domain(cells: Sequence[Cell]) -> dict[str, dict[str, Any]]:
    """For each domain its kind, the level to start at, and all levels with signal."""
    signal = [cell for cell in cells if cell.kind is Kind.SIGNAL]
    return {
        name: {
            "kind": cell.kind,
            "level": cell.level,
            "signal_levels": sorted(other.level for other in signal if other.domain == name),
        }
        for name, cell in best_cells(cells).items()
    }
