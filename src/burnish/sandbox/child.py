"""From a copy of the zygote to a run: go into namespaces of its own, lock every door, wait for a program.

Nothing of a program or its input is read before the last door is locked, and it comes by the run's own
socket: the zygote never holds a byte of it.
"""

from __future__ import annotations

import fcntl
import os
import random
import resource
import signal
import socket
import sys
from dataclasses import dataclass
from typing import Any

from burnish.sandbox import landlock, namespaces, wire
from burnish.sandbox import syscalls as sc

CONTROL = 3
"""Descriptor of the run's socket to the supervisor: jobs in, answers out."""
THREADS = 32
WARM_SEED = 0
"""The zygote's generators start from it, so that copies which want it have nothing to do."""
OPEN_FILES = 64
_KEPT_EVERYWHERE = (resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE)


@dataclass(frozen=True, slots=True)
class Doors:
    """What the zygote prepared once for all its runs."""

    namespaces: bool
    proc: int
    """Descriptor of the host's /proc, to write the id maps."""
    ruleset: int
    """Landlock ruleset, -1 for none."""
    readable: tuple[str, ...]
    """For rulesets that are made for one run, without namespaces."""
    seccomp: bool
    """Whether system calls are filtered."""
    address_space: int
    """Bytes mapped by the warmed interpreter."""
    own_kernel: bool = False
    """The kernel is not the host's, and may know fewer limits."""


@dataclass(frozen=True, slots=True)
class Job:
    """A program with its cases, as it crosses the wall."""

    mode: str
    language: str
    code: bytes
    files: dict[str, bytes]
    cases: tuple[bytes, ...]
    first: int
    """Where to begin: earlier cases were answered by a jail that has ended."""
    stop: bool
    seed: int
    limits: dict[str, Any]
    counted: bool
    """A cgroup counts the memory of all processes together."""


def become_run(doors: Doors, order: dict[str, Any], fds: list[int]) -> None:
    """Lock this process in, then tell the supervisor that it is ready; never returns before that."""
    _take_descriptors(fds)
    os.setsid()
    if doors.namespaces:
        sc.unshare(sc.CLONE_NEWUSER | sc.CLONE_NEWNS | sc.CLONE_NEWIPC)
        namespaces.map_ids(doors.proc, "self", namespaces.INNER_ID, namespaces.INNER_ID)
        namespaces.mount_scratch(order["bytes"], order["inodes"])
    else:
        os.chdir(order["scratch"])
    pidfd = os.pidfd_open(os.getpid())
    ruleset = doors.ruleset
    if ruleset < 0 and doors.readable:
        ruleset = landlock.make_ruleset(rules(doors.readable, order["scratch"]))
    if ruleset >= 0:
        landlock.restrict(ruleset)
    if os.geteuid() == 0 or doors.namespaces:
        sc.drop_capabilities()
    sc.prctl(sc.PR_SET_DUMPABLE, 0)
    sc.prctl(sc.PR_SET_NO_NEW_PRIVS, 1)
    _announce(pidfd)
    sc.close_from(CONTROL + 1)


def rules(readable: tuple[str, ...], scratch: str) -> list[tuple[str, int]]:
    """Landlock rules: what may be read, the devices, and the directory above the scratch."""
    devices = [(f"/dev/{name}", landlock.DEVICE) for name in namespaces.DEVICES]
    return [*((path, landlock.READ) for path in readable), *devices, (scratch, landlock.WRITE)]


def _take_descriptors(fds: list[int]) -> None:
    """0 is empty, 1 and 2 are the run's pipes, 3 its control socket."""
    control, out, err, null = (moved_up(fd) for fd in (*fds, os.open("/dev/null", os.O_RDONLY)))
    for source, target in ((null, 0), (out, 1), (err, 2), (control, CONTROL)):
        os.dup2(source, target)


def moved_up(fd: int) -> int:
    """The descriptor's double, out of the way of the numbers that a run uses."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 16)


def _announce(pidfd: int) -> None:
    with socket.socket(fileno=os.dup(CONTROL)) as control:
        socket.send_fds(control, [b"R"], [pidfd])


def read_job() -> Job | None:
    """Wait for the program; None when the supervisor has gone."""
    prefix = wire.read_frame(CONTROL)
    frame = wire.read_frame(CONTROL) if prefix else None
    if prefix is None or frame is None:
        return None
    start, (header, blob) = prefix[0], frame
    code, *rest = wire.split(header["lens"], blob)
    names = header["files"]
    return Job(
        mode=header["mode"],
        language=header["language"],
        code=code,
        files=dict(zip(names, rest, strict=False)),
        cases=tuple(rest[len(names) :]),
        first=start["first"],
        stop=header["stop"],
        seed=header["seed"],
        limits=header["limits"],
        counted=start["counted"],
    )


def apply_limits(doors: Doors, job: Job, *, extra_tasks: int = 0) -> None:
    """Resource limits of the job; `extra_tasks` are ours, not the program's."""
    limits = job.limits
    share = 1 if job.counted else limits["processes"] + 1
    memory = doors.address_space + limits["memory_bytes"] // share
    bounds = {
        resource.RLIMIT_FSIZE: limits["scratch_bytes"],
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_SIGPENDING: 64,
        resource.RLIMIT_RTPRIO: 0,
        resource.RLIMIT_NICE: 0,
    }
    if job.language == "python":
        # A tool's process gets bounds of its own when it is started; until then nothing of the program runs.
        bounds[resource.RLIMIT_AS] = memory
    if doors.namespaces:
        bounds[resource.RLIMIT_NPROC] = 1 + (limits["processes"] or THREADS) + extra_tasks
    for kind, value in bounds.items():
        _limit(kind, value, must=not doors.own_kernel or kind in _KEPT_EVERYWHERE)


def _limit(kind: int, value: int, *, must: bool) -> None:
    highest = resource.getrlimit(kind)[1]
    value = value if highest == resource.RLIM_INFINITY else min(value, highest)
    try:
        resource.setrlimit(kind, (value, value))
    except (ValueError, OSError):
        if must:
            raise


def limit_cpu(seconds: float) -> None:
    """A soft limit at the next whole second and a hard one, which nothing can catch, a second later."""
    whole = max(1, int(-(-seconds // 1)))
    resource.setrlimit(resource.RLIMIT_CPU, (whole, whole + 1))


def write_files(files: dict[str, bytes]) -> None:
    """Put the request's files into the scratch; the names were checked outside."""
    for name, content in files.items():
        if "/" in name:
            os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as file:
            file.write(content)


def seed_everything(seed: int, *, warm: bool = False) -> None:
    """Make the generators that programs use without asking start from the same place each time."""
    # `random` takes a new seed of its own in every fork.
    random.seed(seed)
    if seed == WARM_SEED and not warm:
        return
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))


def reset_signals() -> None:
    """Dispositions as a program expects them."""
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
