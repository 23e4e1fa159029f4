"""What the checker says about one invariant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warning", "violated", "unproven"]

SHOWN = 3
"""Counterexamples that are kept of an invariant."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One invariant of a run and how it stands."""

    name: str
    statement: str
    """What must hold, in words."""
    checked: int
    """How many things were looked at."""
    status: Status
    examples: tuple[str, ...] = ()
    """The first counterexamples, or why it could not be checked."""
    violations: int = 0
    """How many there are in all."""

    @property
    def holds(self) -> bool:
        """Whether nothing speaks against it; a warning does not."""
        return self.status in ("ok", "warning")


def finding(name: str, statement: str, checked: int, wrong: Iterable[str]) -> Finding:
    """`violated` with the first counterexamples if there are any, else `ok`."""
    examples = list(wrong)
    status: Status = "violated" if examples else "ok"
    return Finding(name, statement, checked, status, tuple(examples[:SHOWN]), len(examples))


def unproven(name: str, statement: str, why: Sequence[str]) -> Finding:
    """An invariant that could not be checked, which is no proof of it."""
    return Finding(name, statement, 0, "unproven", tuple(why[:SHOWN]))
