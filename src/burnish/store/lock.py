"""One process at a time may train in a run directory.

The lock is a POSIX record lock: the system drops it when the process ends, however it ends, and forked
workers do not inherit it, so one that outlives a killed parent cannot keep the run locked. Record locks do
not exclude a second holder within the same process, hence the set below.
"""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from burnish.errors import RunError
from burnish.store.files import cannot_write

_held: set[Path] = set()
_held_lock = threading.Lock()


class RunLock:
    """Held from construction until `release`, or as a context manager."""

    def __init__(self, path: Path) -> None:
        """Take the lock at `path` without waiting.

        Raises:
            RunError: another process (named by its pid) has it, or the file cannot be written.
        """
        self._path = path.resolve()
        with _held_lock:
            if self._path in _held:
                raise _in_use(self._path.parent, str(os.getpid()))
            self._descriptor = _locked_file(self._path)
            _held.add(self._path)

    def release(self) -> None:
        """Give the lock back; calling it again does nothing."""
        with _held_lock:
            if self._path in _held and self._descriptor >= 0:
                os.close(self._descriptor)
                self._descriptor = -1
                _held.discard(self._path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _locked_file(path: Path) -> int:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    except (BlockingIOError, PermissionError) as error:
        holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(descriptor)
        raise _in_use(path.parent, holder) from error
    except OSError as error:
        os.close(descriptor)
        raise cannot_write(path, error) from error
    return descriptor


def _in_use(folder: Path, pid: str) -> RunError:
    return RunError(
        f"run directory {folder} is in use",
        got=f"process {pid} trains in it",
        expected="one process a run directory",
        next_step=f"wait for it, stop it with `kill -INT {pid}`, or choose another --run-dir",
    )
