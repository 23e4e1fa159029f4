"""What every training stage works with: weights, where records go, and when to stop."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from torch import Tensor

from burnish.models.policy import Policy
from burnish.observe.console import Console
from burnish.records import Split, Task
from burnish.store.runstore import RunStore
from burnish.training.checkpoint import prune, read_optimiser, save_checkpoint
from burnish.training.memory import release_unused
from burnish.training.optimiser import MasterOptimiser, OptimiserPlan
from burnish.training.signals import StopRequest
from burnish.training.state import RunState

Place = tuple[str, Split, int, int]
"""Position of a task: domain, split, level, index."""


class TaskSource(Protocol):
    """Makes tasks; one that cannot be made is left out and reported by the source."""

    def get(self, places: Sequence[Place]) -> list[Task | None]:
        """The task at each place, None where its domain failed to make it."""
        ...

    def prefetch(self, places: Sequence[Place]) -> None:
        """A hint that these will be asked for soon."""
        ...


@dataclass
class Workbench:
    """The parts of a run that stages share."""

    policy: Policy
    masters: dict[str, Tensor]
    """Float32 value of every trainable parameter; stages update them in place."""
    tasks: TaskSource
    store: RunStore
    console: Console
    checkpoints: Path
    stop: StopRequest
    stage_ends: set[str] = field(default_factory=set)
    """Names of checkpoints that end a stage and are always kept."""

    def optimiser(self, plan: OptimiserPlan, state: RunState) -> MasterOptimiser:
        """A fresh optimiser at the start of a stage, the saved one in the middle of it."""
        optimiser = MasterOptimiser(self.policy.trainable(), self.masters, plan)
        if state.step:
            saved = read_optimiser(self.checkpoints / f"step_{state.version:06d}")
            if saved is not None:
                optimiser.restore(saved)
        return optimiser

    def save(self, state: RunState, optimiser: MasterOptimiser, keep: int) -> Path:
        """Write a checkpoint of this moment and drop old ones."""
        self.store.flush()
        tensors = None if state.finished else optimiser.state()
        path = save_checkpoint(self.checkpoints, self.policy, self.masters, state, tensors)
        if state.finished:
            self.stage_ends.add(path.name)
        prune(self.checkpoints, keep, self.stage_ends)
        return path

    def record(self, stage: str, step: int, total: int, table: Mapping[str, Mapping[str, float]]) -> None:
        """Store the figures of a step and show those over all domains (under the empty name)."""
        release_unused()
        for domain, figures in table.items():
            self.store.add_metrics(stage, step, figures, domain or None)
        self.console.step(stage, step, total, table[""])


@dataclass(frozen=True, slots=True)
class Deadline:
    """A limit on the time of a stage, counted over interruptions."""

    spent: float
    minutes: float | None
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds spent in the stage."""
        return self.spent + time.monotonic() - self.started

    @property
    def passed(self) -> bool:
        """Whether the limit is reached."""
        return self.minutes is not None and self.seconds >= self.minutes * 60
