"""What runs there are under a folder, and how they stand."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

from burnish.errors import RunError
from burnish.store.files import read_json
from burnish.store.rundir import RunDir, Status


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One line of `burnish runs`."""

    path: Path
    name: str
    state: str
    """running, finished, interrupted, failed, `stopped` (its process is gone) or `damaged` (unreadable)."""
    stage: str = ""
    step: int = 0
    started: float | None = None
    updated: float | None = None
    macro: float | None = None
    """Sampled accuracy of the last evaluation in the summary, averaged over domains."""


def list_runs(root: Path) -> list[RunInfo]:
    """Runs that lie directly in `root` (or `root` itself when it is a run), the newest first."""
    root = Path(root)
    folders = [root, *sorted(root.iterdir())] if root.is_dir() else []
    runs = [_describe(folder) for folder in folders if (folder / "status.json").is_file()]
    return sorted(runs, key=lambda run: run.started or 0.0, reverse=True)


def _describe(folder: Path) -> RunInfo:
    run = RunDir(folder)
    name = folder.resolve().name
    try:
        status = run.read_status()
    except RunError:
        return RunInfo(folder, name, "damaged")
    return RunInfo(
        folder, name, effective_state(status), status.stage, status.step, status.started, status.updated,
        _last_macro(run),
    )  # fmt: skip


def effective_state(status: Status) -> str:
    """The state, or `stopped` for a run that says `running` although its process is gone.

    A process on another host cannot be asked, so its word stands.
    """
    if status.state != "running" or status.host != socket.gethostname():
        return status.state
    return "running" if _is_alive(status) else "stopped"


def _is_alive(status: Status) -> bool:
    import psutil  # noqa: PLC0415 - costs more than the rest of this room

    if status.pid == os.getpid():
        return True
    try:
        # A pid is used again after its process ends; the run's own process cannot be younger than the run.
        return psutil.Process(status.pid).create_time() <= status.started + 1.0
    except psutil.NoSuchProcess:
        return False


def _last_macro(run: RunDir) -> float | None:
    try:
        value = read_json(run.summary)["evaluations"][-1]["sampled"]["macro"]["value"]
        return None if value is None else float(value)
    except (RunError, LookupError, TypeError, ValueError):
        return None
