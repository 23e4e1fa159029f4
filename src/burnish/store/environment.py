"""What a run was made with: versions, processor, memory, threads, and the commit of the recipe's folder."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path
from typing import Any


def collect_environment(recipe_folder: Path | None = None, *, threads: int | None = None) -> dict[str, Any]:
    """Everything needed to tell why two runs differ; parts that cannot be found out are None.

    Args:
        recipe_folder: a folder whose git commit is recorded, if it is under git.
        threads: compute threads that the run uses; what OMP_NUM_THREADS says when None.
    """
    import psutil  # noqa: PLC0415 - costs more than the rest of this room

    return {
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "packages": _packages(),
        "cpu": {
            "model": _cpu_model(),
            "cores": _usable_cores(),
            "bfloat16": _cpu_flags("avx512_bf16", "amx_bf16", "bf16"),
        },
        "memory_bytes": psutil.virtual_memory().total,
        "threads": threads if threads is not None else os.environ.get("OMP_NUM_THREADS"),
        "git": None if recipe_folder is None else _git(Path(recipe_folder)),
        "command": sys.argv,
    }


def _packages() -> dict[str, str]:
    found = {d.metadata["Name"]: d.version for d in distributions() if d.metadata["Name"]}
    return dict(sorted(found.items(), key=lambda item: item[0].lower()))


def _cpuinfo() -> dict[str, str]:
    """First entry of each field of /proc/cpuinfo; empty where there is no such file."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        fields.setdefault(name.strip(), value.strip())
    return fields


def _cpu_model() -> str | None:
    return _cpuinfo().get("model name") or platform.processor() or platform.machine() or None


def _cpu_flags(*wanted: str) -> list[str]:
    info = _cpuinfo()
    flags = (info.get("flags") or info.get("Features") or "").split()
    return [flag for flag in wanted if flag in flags]


def _usable_cores() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _git(folder: Path) -> dict[str, Any] | None:
    commit = _git_output(folder, "rev-parse", "HEAD")
    if not commit:
        return None
    return {"commit": commit, "modified": bool(_git_output(folder, "status", "--porcelain", "--", "."))}


def _git_output(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=5, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
