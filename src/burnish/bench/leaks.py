"""What many runs leave behind, and whether the same run gives the same result each time."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from burnish.sandbox.client import Sandbox
from burnish.sandbox.records import Policy, RunRequest, State

_BATCH = 500
_STAND_STILL = 50
"""Times that a count is looked at before what it counts is called left."""
_PROGRAM = """
import random, os, sys, numpy
from collections import OrderedDict
print(random.random(), numpy.random.rand(3), hash("text"), {"b", "a", "c"}, os.getpid(), os.listdir("."))
print(dict(os.environ), os.uname().nodename, id(print), sys.flags, numpy.random.default_rng(1).random(2))
print(numpy.linalg.svd(numpy.vander(numpy.arange(1.0, 40)))[1])
"""


def left_behind(runs: int) -> dict[str, Any]:
    """Zombies, processes, mounts, groups, files and memory after so many runs of one sandbox."""
    mounts, groups, files = _mounts(), _groups(), _files()
    with Sandbox(Policy(profile="numpy")) as sandbox:
        requests = [RunRequest(f"open('x', 'w').write('x'); print({number})") for number in range(_BATCH)]
        sandbox.run_many(requests)
        supervisor = psutil.Process(sandbox.stats()["pid"])
        memory, descriptors = supervisor.memory_info().rss, sandbox.stats()["files"]
        tree = len(supervisor.children(recursive=True))
        began, failures = time.monotonic(), 0
        for _ in range(max(1, runs // _BATCH)):
            failures += sum(result.state is not State.OK for result in sandbox.run_many(requests))
        seconds = time.monotonic() - began
        found = {
            "runs": max(1, runs // _BATCH) * _BATCH,
            "false_failures": failures,
            "zombies": _settled(lambda: _zombies(supervisor)),
            "processes": _settled(lambda: len(supervisor.children(recursive=True)) - tree),
            "descriptors": sandbox.stats()["files"] - descriptors,
            "supervisor_growth_mb": (supervisor.memory_info().rss - memory) / 1e6,
            "seconds": seconds,
        }
    return found | {
        "mounts": _mounts() - mounts,
        "groups": _settled(lambda: len(_groups() - groups)),
        "files": len(_files() - files),
    }


def _settled(count: Any) -> int:
    """A count when it has come to rest at nothing, or has had time to."""
    for _ in range(_STAND_STILL):
        if count() <= 0:
            return 0
        time.sleep(0.02)
    return count()


def _zombies(top: psutil.Process) -> int:
    found = 0
    for process in top.children(recursive=True):
        try:
            found += process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            continue
    return found


def _mounts() -> int:
    return len(Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines())


def _groups() -> set[str]:
    """Control groups that belong to a sandbox."""
    home = Path("/sys/fs/cgroup")
    return {str(path) for path in home.glob("**/burnish-*")} if home.is_dir() else set()


def _files() -> set[str]:
    return {name for name in os.listdir(tempfile.gettempdir()) if name.startswith("burnish-")}


def distinct_results(runs: int) -> dict[str, Any]:
    """How many results the same program with the same input gives in so many runs, over two sandboxes."""
    seen: set[bytes] = set()
    for _ in range(2):
        with Sandbox(Policy(profile="numpy")) as sandbox:
            requests = [RunRequest(_PROGRAM, seed=3)] * (runs // 2)
            for result in sandbox.run_many(requests):
                case = result.cases[0]
                seen.add(case.stdout if case.state is State.OK else f"{case.state} {case.stderr}".encode())
    return {"runs": runs // 2 * 2, "distinct": len(seen)}
