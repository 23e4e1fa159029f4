"""Control groups for runs that may start processes, where this process may make them: their memory and CPU
together.

A single process is bounded by its own limits, so it needs no group. Version 1 and version 2 hierarchies
are used as they are found; where neither can be written, memory is divided among the processes instead.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

_SLACK = 8 << 20
"""Bytes for what the copy of the interpreter itself writes to."""


class Groups:
    """A fixed set of slots, one group each; `usable` is False where groups cannot be made."""

    def __init__(self, slots: int):
        self.usable = False
        self.version = 0
        self._homes: dict[str, Path] = {}
        self._kills: dict[int, int] = {}
        with suppress(OSError):
            _sweep()
        for version, make in ((1, _make_v1), (2, _make_v2)):
            with suppress(OSError):
                self._homes = make(f"burnish-{os.getpid()}", slots)
                self.usable, self.version = True, version
                break
        self._free = list(range(slots)) if self.usable else []

    def take(self, pid: int, memory_bytes: int) -> int:
        """Put a process into a free slot; -1 when it needs none (0 bytes) or there is none."""
        if not self._free or not memory_bytes:
            return -1
        slot = self._free.pop()
        try:
            memory = self._homes["memory"] / str(slot)
            size = str(memory_bytes + _SLACK)
            _write(memory / ("memory.limit_in_bytes" if self.version == 1 else "memory.max"), size)
            for home in set(self._homes.values()):
                _write(home / str(slot) / "cgroup.procs", str(pid))
            self._kills[slot] = self._killed(slot)
        except OSError:
            self._free.append(slot)
            return -1
        return slot

    def cpu(self, slot: int) -> float:
        """CPU seconds that all runs in a slot have used so far."""
        home = self._homes["cpu"] / str(slot)
        if self.version == 1:
            return int((home / "cpuacct.usage").read_text()) / 1e9
        return int((home / "cpu.stat").read_text().split()[1]) / 1e6

    def give_back(self, slot: int) -> bool:
        """Free a slot; whether memory ran out in it."""
        if slot < 0:
            return False
        self._free.append(slot)
        return self._killed(slot) > self._kills.get(slot, 0)

    def _killed(self, slot: int) -> int:
        name = "memory.oom_control" if self.version == 1 else "memory.events"
        words = (self._homes["memory"] / str(slot) / name).read_text().split()
        return int(words[words.index("oom_kill") + 1]) if "oom_kill" in words else 0

    def close(self) -> None:
        """Remove all groups."""
        for home in set(self._homes.values()):
            for path in (*home.iterdir(), home) if home.is_dir() else ():
                if path.is_dir():
                    _remove(path)


def _sweep() -> None:
    """Remove what supervisors left that were killed."""
    for controller in ("memory", "cpuacct", ""):
        with suppress(FileNotFoundError):
            for home in _own(controller).glob("burnish-*"):
                if not Path("/proc", home.name.split("-")[1]).exists():
                    for path in (*filter(Path.is_dir, home.iterdir()), home):
                        _remove(path)


def _remove(path: Path) -> None:
    """A group can be removed some milliseconds after its last process has gone."""
    for _ in range(50):
        try:
            path.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)
        else:
            return


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="ascii")


def _own(controller: str) -> Path:
    """This process's directory in the hierarchy of a controller (empty for version 2)."""
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, names, path = line.split(":", 2)
        if controller in names.split(",") if controller else names == "":
            return _mounted(controller) / path.lstrip("/")
    raise FileNotFoundError(f"no hierarchy of {controller or 'version 2'}")


def _mounted(controller: str) -> Path:
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup2" if not controller else kind == "cgroup" and controller in options.split(","):
            return Path(place)
    raise FileNotFoundError(f"{controller or 'version 2'} is not mounted")


def _make_v1(name: str, slots: int) -> dict[str, Path]:
    homes = {"memory": _own("memory") / name, "cpu": _own("cpuacct") / name}
    for home in homes.values():
        for slot in range(slots):
            (home / str(slot)).mkdir(parents=True)
    return homes


def _make_v2(name: str, slots: int) -> dict[str, Path]:
    home = _own("") / name
    if "memory" not in (home.parent / "cgroup.controllers").read_text().split():
        raise FileNotFoundError("version 2 has no memory controller here")
    home.mkdir()
    _write(home.parent / "cgroup.subtree_control", "+memory")
    _write(home / "cgroup.subtree_control", "+memory")
    for slot in range(slots):
        (home / str(slot)).mkdir()
        _write(home / str(slot) / "memory.oom.group", "1")
    return {"memory": home, "cpu": home}
