"""All that a run directory says, put side by side."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from burnish.store.check.facts import LEDGER_STAGE, Facts, GroupRow
from burnish.store.check.saved import SavedState


@dataclass(frozen=True, slots=True)
class Rules:
    """What the recipe promises."""

    stages: tuple[str, ...]
    group_size: int
    bound: int
    """Most optimiser steps between the weights that draw a group and those that learn from it."""


@dataclass(frozen=True)
class Evidence:
    """Database, checkpoints, recipe and status of one run."""

    finished: bool
    rules: Rules | str
    """A string says why the recipe cannot be read."""
    facts: Facts
    saved: Sequence[SavedState]

    @cached_property
    def rows(self) -> dict[int, GroupRow]:
        """The ledger by ordinal."""
        return {g.entry.ordinal: g for g in self.facts.groups}

    @cached_property
    def first(self) -> int:
        """The first ordinal that the ledger answers for."""
        return max((s.ledger.first for s in self.saved if s.ledger), default=0)

    @cached_property
    def saved_step(self) -> int:
        """The last step of the ledger's stage that a whole checkpoint holds."""
        return max((s.step for s in self.saved if s.stage == LEDGER_STAGE), default=0)

    @cached_property
    def torn_step(self) -> int | None:
        """The last step of an unfinished run, of which a kill may have left some rows only."""
        last = self.facts.last_step
        return last if not self.finished and last > self.saved_step else None

    def settled(self) -> list[GroupRow]:
        """Groups whose rows in other tables must be there."""
        return [
            g
            for g in self.facts.groups
            if g.entry.state in ("trained", "dropped") and g.entry.step != self.torn_step
        ]


def read_rules(recipe: Path) -> Rules | str:
    """The promises of a recipe, or why it cannot be read."""
    try:
        data: Mapping[str, Any] = tomllib.loads(recipe.read_text(encoding="utf-8"))
        rollout = data.get("rollout", {})
        return Rules(
            tuple(data.get("stages", ("sft", "rl"))),
            int(rollout["samples"]),
            int(rollout.get("staleness", 0)),
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        return f"{recipe.name} cannot be read ({type(error).__name__}: {error})"
