"""The run directory: what its files are called, and how one is made, opened, locked and described."""

from __future__ import annotations

import os
import re
import shutil
import socket
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, Self

from burnish.errors import RunError
from burnish.store.files import cannot_write, read_json, write_json_atomic, write_text_atomic
from burnish.store.lock import RunLock

State = Literal["running", "finished", "interrupted", "failed"]

_STEP_NAME = re.compile(r"step_\d{6,}")


@dataclass(frozen=True, slots=True)
class Status:
    """What a run is doing, as its process last said (`status.json`)."""

    state: State
    stage: str
    step: int
    pid: int
    host: str
    started: float
    """Seconds since the epoch when this process began on the run."""
    updated: float


class RunDir:
    """Paths of one run and its status."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._status: Status | None = None

    @classmethod
    def create(cls, path: Path, *, recipe: str = "", need_bytes: int = 0) -> Self:
        """Make a new run directory; nothing that exists is ever overwritten.

        Its status is written last: a folder that has one can be resumed.

        Args:
            path: where; it may exist only as an empty folder.
            recipe: the resolved recipe as TOML.
            need_bytes: free space that the run is expected to need.

        Raises:
            RunError: `path` is taken, cannot be written, or its disk has too little free space.
        """
        path = Path(path)
        try:
            _refuse_if_taken(path)
            path.mkdir(parents=True, exist_ok=True)
            _check_space(path, need_bytes)
            (path / "checkpoints").mkdir()
        except OSError as error:
            raise cannot_write(path, error) from error
        run = cls(path)
        if recipe:
            write_text_atomic(run.recipe, recipe)
        run.write_status("running", "start", 0)
        return run

    @classmethod
    def open(cls, path: Path) -> Self:
        """An existing run directory.

        Raises:
            RunError: there is none at `path`.
        """
        path = Path(path)
        if not (path / "status.json").is_file():
            raise RunError(
                f"{path} is not a run directory",
                got="no status.json in it" if path.is_dir() else "no such folder",
                next_step="`burnish runs` lists the runs",
            )
        return cls(path)

    @property
    def recipe(self) -> Path:
        """The resolved recipe."""
        return self.path / "recipe.toml"

    @property
    def environment(self) -> Path:
        """Versions and machine that the run was made with."""
        return self.path / "environment.json"

    @property
    def summary(self) -> Path:
        """Accuracies, differences, time and tokens, for people and scripts."""
        return self.path / "summary.json"

    @property
    def report(self) -> Path:
        """The self-contained report."""
        return self.path / "report.html"

    @property
    def database(self) -> Path:
        """The `RunStore`."""
        return self.path / "run.sqlite"

    @property
    def checkpoints(self) -> Path:
        """Folder of the checkpoints."""
        return self.path / "checkpoints"

    def checkpoint(self, step: int) -> Path:
        """Folder of the checkpoint after `step` optimiser steps, counted since the run began."""
        return self.checkpoints / f"step_{step:06d}"

    def checkpoint_paths(self) -> list[Path]:
        """Checkpoint folders, oldest step first; folders under another name (half-written) are left out."""
        if not self.checkpoints.is_dir():
            return []
        found = [p for p in self.checkpoints.iterdir() if p.is_dir() and _STEP_NAME.fullmatch(p.name)]
        return sorted(found, key=lambda p: int(p.name.removeprefix("step_")))

    def lock(self) -> RunLock:
        """Claim the run for this process; a context manager.

        Raises:
            RunError: another process trains in it; the message names its pid.
        """
        return RunLock(self.path / "run.lock")

    def write_status(self, state: State, stage: str, step: int) -> Status:
        """Say what the run is doing.

        Raises:
            RunError: the folder cannot be written.
        """
        now = time.time()
        if self._status is None:
            self._status = Status(state, stage, step, os.getpid(), socket.gethostname(), now, now)
        self._status = replace(self._status, state=state, stage=stage, step=step, updated=now)
        write_json_atomic(self.path / "status.json", asdict(self._status))
        return self._status

    def read_status(self) -> Status:
        """What the run's process last said.

        Raises:
            RunError: the file is missing or damaged.
        """
        path = self.path / "status.json"
        fields = read_json(path)
        try:
            return Status(**fields)
        except TypeError as error:
            expected = f"the fields {', '.join(Status.__slots__)}"
            raise RunError(f"cannot read {path}", got=error, expected=expected) from error


def _refuse_if_taken(path: Path) -> None:
    if path.is_dir() and not any(path.iterdir()):
        return
    if path.exists() or path.is_symlink():
        is_run = (path / "status.json").exists()
        resume = f"continue it with `burnish train --resume {path}`, or " if is_run else ""
        raise RunError(
            f"run directory {path} exists already",
            got="a folder with files in it" if path.is_dir() else "a file",
            expected="a new or empty folder; a run is never overwritten",
            next_step=f"{resume}choose another --run-dir",
        )


def _check_space(path: Path, need_bytes: int) -> None:
    free = shutil.disk_usage(path).free
    if free < need_bytes:
        raise RunError(
            f"too little free space for the run directory {path}",
            got=f"{free / 1e9:.1f} GB free",
            expected=f"about {need_bytes / 1e9:.1f} GB",
            next_step="free some space, or choose another folder with --run-dir",
        )
