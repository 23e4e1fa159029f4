"""A measurement in a process of its own, so that its peak of memory is its own.

`python -m burnish.bench.child` reads {"task": name, "settings": {...}} and writes the result as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from burnish.errors import BurnishError, TrainingError

_MARK = "burnish-result:"
_REFUSED = "burnish-refused:"


def run_child(task: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Run `burnish.bench.tasks.TASKS[task]` in a new interpreter and wait for what it returns.

    Raises:
        BurnishError: it was refused, for the reason it gives.
        TrainingError: it ended without a result; the end of what it said is shown.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-m", "burnish.bench.child"], input=json.dumps({"task": task, "settings": settings}),
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    for line in done.stdout.splitlines():
        if line.startswith(_MARK):
            return json.loads(line.removeprefix(_MARK))
        if line.startswith(_REFUSED):
            what, rest = json.loads(line.removeprefix(_REFUSED))
            raise BurnishError(what, **rest)
    raise TrainingError(
        f"the measurement {task!r} ended without a result",
        got=f"exit code {done.returncode}; {' / '.join(done.stderr.strip().splitlines()[-3:])}",
        next_step="exit code -9 means that memory ran out: try a smaller model or shorter prompts",
    )


class Peak:
    """The most memory this process held since it was last reset, as the kernel counts it (Linux)."""

    def __init__(self) -> None:
        """Start counting from what is held now."""
        from burnish.training.memory import release_unused  # noqa: PLC0415 - loads torch

        release_unused()
        with suppress(OSError):  # the peak then counts from the start of the process
            Path("/proc/self/clear_refs").write_text("5")
        self.before = memory("VmRSS")

    @property
    def bytes(self) -> int:
        """The peak so far."""
        return memory("VmHWM")


def memory(field: str, pid: int | str = "self") -> int:
    """A field of /proc/PID/status in bytes; 0 where there is no such thing."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    found = (line.split() for line in lines if line.startswith(field + ":"))
    return next((int(words[1]) * 1024 for words in found), 0)


def main() -> int:
    """Run the task that standard input names."""
    from burnish.bench.tasks import TASKS  # noqa: PLC0415 - loads torch

    wanted = json.loads(sys.stdin.read())
    try:
        result = TASKS[wanted["task"]](**wanted["settings"])
    except BurnishError as error:
        sys.stdout.write(f"\n{_REFUSED}{json.dumps(_parts(error))}\n")
        return error.exit_code
    sys.stdout.write(f"\n{_MARK}{json.dumps(result)}\n")
    return 0


def _parts(error: BurnishError) -> tuple[str, dict[str, str | None]]:
    told = {"got": error.got, "expected": error.expected}
    parts = {name: None if value is None else str(value) for name, value in told.items()}
    return error.what, {**parts, "next_step": error.next_step}


if __name__ == "__main__":
    sys.exit(main())
