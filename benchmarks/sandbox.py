"""Sandboxed runs against bubblewrap and a bare process, and what ten thousand runs leave behind.

    python benchmarks/sandbox.py [SECONDS]

Prints one JSON document. bubblewrap (Debian package `bubblewrap`) is left out when it is not installed.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from burnish.bench.sandbox import bench_sandbox
from burnish.sandbox import Policy, RunRequest, Sandbox, State

RUNS = 10_000


def left_behind(runs: int) -> dict[str, Any]:
    """What is left after many runs of one sandbox, and how its supervisor has grown."""
    with Sandbox(Policy(profile="numpy")) as sandbox:
        requests = [RunRequest(f"open('x', 'w').write('x'); print({number})") for number in range(500)]
        sandbox.run_many(requests)
        supervisor = psutil.Process(sandbox.stats()["pid"])
        before, mounts, began = supervisor.memory_info().rss, _mounts(), time.monotonic()
        failures = 0
        for _ in range(runs // len(requests)):
            failures += sum(result.state is not State.OK for result in sandbox.run_many(requests))
        stats = sandbox.stats()
        tree = supervisor.children(recursive=True)
        return {
            "runs": runs,
            "false failures": failures,
            "seconds": time.monotonic() - began,
            "zombies": sum(process.status() == psutil.STATUS_ZOMBIE for process in tree),
            "processes": len(tree),
            "mounts": _mounts() - mounts,
            "supervisor growth MB": (supervisor.memory_info().rss - before) / 1e6,
            "supervisor descriptors": stats["files"],
        }


def _mounts() -> int:
    return len(Path("/proc/self/mounts").read_text().splitlines())


if __name__ == "__main__":
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    print(json.dumps({"speed": bench_sandbox(seconds), "leaks": left_behind(RUNS)}, indent=2))
