"""Writes checkpoints beside training: a step waits for a copy in memory, not for the disk.

One checkpoint is written at a time; a save that comes earlier waits. A disk that is full or fails costs the
checkpoint, not the run: a warning and an event say so, the earlier checkpoints stay, training goes on. Only
a save that is waited for, such as the last of a stage, raises.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from torch import Tensor

from burnish.errors import RunError, StoreError
from burnish.models.policy import Policy
from burnish.observe.console import Console
from burnish.store.runstore import RunStore
from burnish.training.checkpoint import Pending, is_complete, save_checkpoint, saved_checkpoints
from burnish.training.retention import Retention, prune, score
from burnish.training.snapshot import Snapshot, Snapshots
from burnish.training.state import RunState


class Saver:
    """Owns the thread that writes checkpoints; a context manager that waits for it."""

    def __init__(self, directory: Path, policy: Policy, store: RunStore, console: Console) -> None:
        """Start nothing yet.

        Args:
            directory: the run's `checkpoints` folder.
            policy: whose weights are saved.
            store: flushed before every checkpoint, so that rows are never behind weights.
            console: where failures are shown.
        """
        self._directory = directory
        self._store = store
        self._console = console
        self._snapshots = Snapshots(policy)
        self._thread = ThreadPoolExecutor(1, "burnish-checkpoint")
        self._under_way: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.wait()
        except Exception:
            if error is None:  # else the error under way is the one worth telling
                raise
        finally:
            self._thread.shutdown()

    def prepare(self, masters: Mapping[str, Tensor], optimiser: Mapping[str, Tensor]) -> None:
        """Allocate what the first copy needs, beside training."""
        self.wait()
        self._under_way = self._thread.submit(self._snapshots.prepare, masters, optimiser)

    def wait(self) -> None:
        """Return once nothing is being written.

        Raises:
            Exception: something nobody foresaw; a full disk is not.
        """
        under_way, self._under_way = self._under_way, None
        if under_way is not None:
            under_way.result()

    def save(
        self,
        state: RunState,
        masters: Mapping[str, Tensor],
        optimiser: Mapping[str, Tensor] | None,
        keep: Retention,
        *,
        pending: Pending | None = None,
        wait: bool = False,
    ) -> None:
        """Take a copy and have it written; with `wait`, write and return when it is on disk.

        Raises:
            RunError: with `wait`, it cannot be written.
        """
        self.wait()
        if wait or optimiser is None:
            self._write(self._snapshots.view(masters, optimiser), state, keep, pending)
            return
        snapshot = self._snapshots.copy(masters, optimiser)
        self._under_way = self._thread.submit(self._write_or_warn, snapshot, state, keep, pending)

    def _write_or_warn(
        self, snapshot: Snapshot, state: RunState, keep: Retention, pending: Pending | None
    ) -> None:
        try:
            self._write(snapshot, state, keep, pending)
        except (RunError, StoreError) as error:
            sentence = f"{error.what}: {error.got}; training goes on, earlier checkpoints are kept"
            self._console.warn(sentence)
            with suppress(StoreError):  # its own next call tells
                self._store.add_event(state.stage, state.step, "error", "checkpoint", sentence)

    def _write(self, snapshot: Snapshot, state: RunState, keep: Retention, pending: Pending | None) -> None:
        began = time.monotonic()
        self._store.flush()
        value = self._score(state, keep.metric)
        path = save_checkpoint(self._directory, snapshot, state, pending=pending, score=value)
        took = time.monotonic() - began
        self._store.add_event(
            state.stage, state.step, "info", "checkpoint", f"{path.name} written in {took:.2f} s"
        )
        prune(saved_checkpoints(self._directory), keep, lambda p: is_complete(p, hashes=True))

    def _score(self, state: RunState, metric: str) -> float | None:
        return score(self._store.metrics(state.stage, metric), state.step) if metric else None
