"""All that a run directory says, put side by side."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from burnish.store.check.facts import Facts, GroupRow
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

    def settled(self) -> list[GroupRow]:
        """Groups in a final state. Their rows in all tables are written in one transaction."""
        return [g for g in self.facts.groups if g.entry.state in ("trained", "dropped")]


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
