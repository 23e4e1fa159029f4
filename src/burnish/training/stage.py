"""What every training stage works with: weights, where records go, and when to stop."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from torch import Tensor

from burnish.errors import RunError
from burnish.models.policy import Policy
from burnish.observe.console import Console
from burnish.records import Split, Task
from burnish.spans import timed
from burnish.store.runstore import RunStore
from burnish.training.checkpoint import Pending, read_optimiser
from burnish.training.memory import release_unused
from burnish.training.optimiser import MasterOptimiser, OptimiserPlan
from burnish.training.retention import Retention
from burnish.training.saver import Saver
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


class Held(Protocol):
    """Tensors beside weights and optimiser that a stage learns and a checkpoint must hold."""

    def tensors(self) -> Mapping[str, Tensor]:
        """By name; they may change after the next step."""
        ...

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Inverse of `tensors`."""
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
    held: dict[str, Held] = field(default_factory=dict)
    """What else a checkpoint in the middle of a stage holds; filled before the stage takes its optimiser."""
    saver: Saver = field(init=False)
    """Writes the checkpoints; ends with the workbench."""

    def __post_init__(self) -> None:
        self.saver = Saver(self.checkpoints, self.policy, self.store, self.console)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.saver.__exit__(kind, error, trace)

    def optimiser(self, plan: OptimiserPlan, state: RunState, *, saves: bool = False) -> MasterOptimiser:
        """A fresh optimiser at the start of a stage, the saved one in the middle of it.

        Args:
            plan: settings of the stage.
            state: where the run stands.
            saves: the stage saves as it goes, so have the memory for the copies made ready beside it.

        Raises:
            RunError: the stage is under way and its checkpoint holds no optimiser.
        """
        optimiser = MasterOptimiser(self.policy.trainable(), self.masters, plan)
        if state.step:
            self.take(self.checkpoints / f"step_{state.version:06d}", optimiser)
        if saves:
            self.saver.prepare(self.masters, self._tensors(optimiser))
        return optimiser

    def take(self, path: Path, optimiser: MasterOptimiser) -> None:
        """Put the weights, moments and whatever else is held of a checkpoint in place.

        Raises:
            RunError: the checkpoint holds no optimiser.
        """
        saved = read_optimiser(path)
        if saved is None:
            raise RunError(
                f"the checkpoint {str(path)!r} has no optimiser to go on with",
                got="the end of a stage",
                expected="optimiser.safetensors",
                next_step="remove this checkpoint to resume from the one before, or start a new run",
            )
        for name, held in self.held.items():
            held.restore({key: saved.pop(f"{name}/{key}") for key in held.tensors()})
        optimiser.restore(saved)

    def _tensors(self, optimiser: MasterOptimiser) -> dict[str, Tensor]:
        """What a checkpoint in the middle of a stage holds of it."""
        held = {f"{name}/{k}": t for name, one in self.held.items() for k, t in one.tensors().items()}
        return {**optimiser.state(), **held}

    @timed("checkpoint")
    def save(
        self,
        state: RunState,
        optimiser: MasterOptimiser,
        keep: Retention | int,
        *,
        pending: Pending | None = None,
    ) -> float:
        """Save this moment; in the middle of a stage the writing happens beside training.

        The last save of a stage, or of a run that is asked to stop, returns when it is on disk.

        Args:
            state: where the run stands; its rows must have been given to the store.
            optimiser: of the stage.
            keep: which checkpoints stay, or how many of the newest.
            pending: gives the batches under way as JSON data. It is called in the writing thread just
                before the commit and may wait for them without the help of the training loop, which may
                itself be waiting for this save; it raises when they will never come.

        Returns:
            Seconds that the training loop was held up, also kept as metric `checkpoint_seconds`.

        Raises:
            RunError: it was waited for and cannot be written.
        """
        if state.step == 0:  # the weights are still those of the stage before, whose checkpoint must stay
            return 0.0
        began = time.monotonic()
        tensors = None if state.finished else self._tensors(optimiser)
        retention = Retention(keep) if isinstance(keep, int) else keep
        wait = state.finished or self.stop.asked
        self.saver.save(state, self.masters, tensors, retention, pending=pending, wait=wait)
        blocked = time.monotonic() - began
        self.store.add_metrics(state.stage, state.step, {"checkpoint_seconds": blocked})
        return blocked

    def record(self, stage: str, step: int, total: int, table: Mapping[str, Mapping[str, float]]) -> None:
        """Store the figures of a step and show those over all domains (under the empty name)."""
        release_unused()
        for domain, figures in table.items():
            self.store.add_metrics(stage, step, figures, domain or None)
        self.console.step(stage, step, total, table[""])


def save_is_due(step: int, steps: int, every: int) -> bool:
    """Whether a checkpoint follows this step; the last step of a stage is saved as its end."""
    return every > 0 and step % every == 0 and step < steps


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
