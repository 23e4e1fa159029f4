"""Which machine and which versions a figure belongs to."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from burnish.store.environment import collect_environment

_VERSIONS = ("burnish", "torch", "transformers", "numpy", "numba")


def machine(threads: int) -> dict[str, Any]:
    """Date (UTC), processor, memory, threads and versions, as plain data."""
    found = collect_environment(threads=threads)
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": found["cpu"]["model"],
        "cores": found["cpu"]["cores"],
        "bfloat16": found["cpu"]["bfloat16"],
        "memory_bytes": found["memory_bytes"],
        "threads": threads,
        "python": found["python"],
        "versions": {name: found["packages"].get(name) for name in _VERSIONS},
    }
