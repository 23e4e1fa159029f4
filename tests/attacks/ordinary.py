"""Trying all attacks as an ordinary user: becomes one, runs them, prints what happened as JSON.

Run by the tests as root, in a process of its own. The interpreter and the package may lie where only
root can go (`/root`), so they are shown at the same paths in a mount namespace of this process alone.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import stat
import sys
import tempfile
import traceback
from pathlib import Path

UID = 64321


def needed() -> list[Path]:
    import numpy

    import burnish

    roots = (sys.base_prefix, sys.prefix, numpy.__path__[0], burnish.__path__[0], __file__)
    return [Path(root).resolve() if root != sys.prefix else Path(root) for root in roots]


def closed(path: Path) -> Path | None:
    """The topmost directory on the way to `path` that others may not enter."""
    for part in [*reversed(path.parents), path]:
        mode = part.stat().st_mode
        if stat.S_ISDIR(mode) and not mode & stat.S_IXOTH:
            return part
    return None


def open_ways() -> None:
    """Cover closed directories by empty ones that hold only the paths that are needed."""
    from burnish.sandbox import syscalls as sc

    sc.unshare(sc.CLONE_NEWNS)
    sc.mount("none", "/", "", sc.MS_REC | sc.MS_PRIVATE)
    blocked = {path: wall for path in needed() if (wall := closed(path))}
    if not blocked:
        return
    stage = tempfile.mkdtemp()
    sc.mount("tmpfs", stage, "tmpfs", 0)
    for number, path in enumerate(blocked):
        kept = Path(stage) / str(number)
        kept.mkdir() if path.is_dir() else kept.touch()
        sc.mount(str(path), str(kept), "", sc.MS_BIND | sc.MS_REC)
    for wall in set(blocked.values()):
        sc.mount("tmpfs", str(wall), "tmpfs", 0, "mode=0755")
    for number, path in enumerate(blocked):
        kept = Path(stage) / str(number)
        if kept.is_dir():
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        sc.mount(str(kept), str(path), "", sc.MS_BIND | sc.MS_REC)
    sc.unmount(stage)
    os.rmdir(stage)


def become_ordinary() -> None:
    open_ways()
    os.setgroups([])
    os.setresgid(UID, UID, UID)
    os.setresuid(UID, UID, UID)
    os.environ["HOME"] = "/"
    os.chdir("/")
    # Where root wrote byte code, an ordinary user must not fail to.
    sys.dont_write_bytecode = True


def load_all() -> None:
    """Import every list of attacks."""
    import attacks

    for module in pkgutil.iter_modules(attacks.__path__):
        if module.name[1] == "_":
            importlib.import_module(f"attacks.{module.name}")


def try_all(numbers: list[int]) -> dict[int, str]:
    from attacks.lab import ATTACKS, Lab

    load_all()
    lab = Lab()
    answers = {}
    for number in numbers or sorted(ATTACKS):
        try:
            ATTACKS[number].attempt(lab)
            answers[number] = "answered"
        except BaseException:
            answers[number] = traceback.format_exc()
    lab.box.close()
    return answers


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    if os.geteuid() == 0:
        become_ordinary()
    answers = try_all([int(text) for text in sys.argv[1:]])
    print(json.dumps({"uid": os.geteuid(), "answers": answers}))  # noqa: T201
