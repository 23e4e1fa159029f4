"""Inside the jail: many cases of one program, loaded once, each in a fork of its own.

The process that forks holds the loaded program, never a result: it pumps what a case writes, ends what
runs too long, removes what a case left behind, and reports each case as one frame.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from burnish.sandbox import child, program, seccomp, wire
from burnish.sandbox import syscalls as sc

_TICK = 0.02
_CHUNK = 1 << 16
Body = Callable[[int], tuple[str, bytes, int]]
"""What a case does in its fork: given the case's number, gives kind, value and exit code."""


@dataclass(slots=True)
class Case:
    """A running case as its parent sees it."""

    pid: int
    pidfd: int
    """-1 where the kernel has none (gVisor)."""
    streams: dict[int, bytearray]
    """What came from each descriptor: stdout, stderr, answer."""
    caps: dict[int, int]
    stdin: memoryview
    stdin_fd: int
    started: float = field(default_factory=time.monotonic)
    killed: str = ""


def run_cases(
    job: child.Job,
    body: Body,
    stdin_of: Callable[[int], bytes],
    furnish: Callable[[], None] | None = None,
) -> None:
    """Run the job's cases one after another and report each; stops early when the job says so.

    Args:
        job: the program with its cases.
        body: what a case does in its fork.
        stdin_of: the text of a case.
        furnish: puts the job's files into the empty scratch, between two cases.
    """
    for number in range(job.first, len(job.cases)):
        if not run_case(job, body, number, stdin_of(number)) and job.stop:
            break
        empty_scratch()
        if furnish:
            furnish()
        else:
            child.write_files(job.files)


def run_case(job: child.Job, body: Body, number: int, stdin: bytes) -> bool:
    """Run one case in a fork and report it; whether it went well as far as this side can tell."""
    case = _start(job, body, number, stdin)
    status, cpu, peak = _watch(case, job.limits)
    return _report(case, job.mode, number, status, cpu, peak)


def _start(job: child.Job, body: Body, number: int, stdin: bytes) -> Case:
    pipes = [os.pipe() for _ in range(4)]
    # With threads, locks may be held that only Python's own fork knows of.
    pid = sc.bare_fork() if len(sys._current_frames()) == 1 else os.fork()
    if pid == 0:
        _be_case(job, body, number, pipes)
    (in_r, in_w), *outs = pipes
    os.close(in_r)
    for _, writer in outs:
        os.close(writer)
    os.set_blocking(in_w, False)
    readers = [reader for reader, _ in outs]
    limit = job.limits["output_bytes"]
    caps = dict(zip(readers, (limit, limit, job.limits["value_bytes"] + 4096), strict=True))
    streams = {reader: bytearray() for reader in readers}
    return Case(pid, _pidfd(pid), streams, caps, memoryview(stdin), in_w)


def _pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1


def _be_case(job: child.Job, body: Body, number: int, pipes: list[tuple[int, int]]) -> None:
    """The fork: its own descriptors and limits, then the program; never returns."""
    code = 70
    try:
        (in_r, _), (_, out), (_, err), (_, answer) = pipes
        for source, target in ((in_r, 0), (out, 1), (err, 2), (answer, child.CONTROL)):
            os.dup2(source, target)
        os.closerange(child.CONTROL + 1, child.OPEN_FILES)
        child.limit_cpu(job.limits["cpu_seconds"])
        child.seed_everything(job.seed)
        if not job.limits["processes"]:
            seccomp.install(seccomp.program_filter(forks=False))
        kind, value, code = body(number)
        if kind:
            program.send(child.CONTROL, {"kind": kind}, value)
    finally:
        os._exit(code)


def _watch(case: Case, limits: dict[str, Any]) -> tuple[int, float, int]:
    """Pump until the case ends; wait status, CPU seconds and peak bytes."""
    poll = select.poll()
    for fd in (*case.streams, *([case.pidfd] if case.pidfd >= 0 else [])):
        poll.register(fd, select.POLLIN)
    poll.register(case.stdin_fd, select.POLLOUT)
    deadline = case.started + limits["wall_seconds"]
    clock = (~case.pid << 3) | 2
    ended = False
    while not ended:
        left = deadline - time.monotonic()
        for fd, _ in poll.poll(max(0, min(left, _TICK)) * 1000 + 1):
            if fd == case.pidfd:
                ended = True
            elif fd == case.stdin_fd:
                _feed(case, poll)
            elif not _read(case, fd):
                poll.unregister(fd)
        ended = ended or (case.pidfd < 0 and _has_ended(case.pid))
        if not ended:
            _judge(case, clock, left, limits["cpu_seconds"])
    return _reap(case)


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _judge(case: Case, clock: int, left: float, cpu_limit: float) -> None:
    """End a case that is over its time or output."""
    if left <= 0:
        _kill(case, "wall")
    elif any(len(data) > case.caps[fd] for fd, data in case.streams.items()):
        _kill(case, "output")
    else:
        with suppress(OSError):
            if time.clock_gettime(clock) >= cpu_limit:
                _kill(case, "cpu")


def _kill(case: Case, why: str) -> None:
    case.killed = case.killed or why
    with suppress(ProcessLookupError):
        if case.pidfd >= 0:
            signal.pidfd_send_signal(case.pidfd, signal.SIGKILL)
        else:
            # Nobody but this process waits for it, so its number is not given to another meanwhile.
            os.kill(case.pid, signal.SIGKILL)


def _feed(case: Case, poll: select.poll) -> None:
    try:
        case.stdin = case.stdin[os.write(case.stdin_fd, case.stdin) :] if case.stdin else case.stdin
    except BlockingIOError:
        return
    except OSError:
        case.stdin = memoryview(b"")
    if not case.stdin:
        poll.unregister(case.stdin_fd)
        os.close(case.stdin_fd)
        case.stdin_fd = -1


def _read(case: Case, fd: int) -> bool:
    data = os.read(fd, _CHUNK)
    if len(case.streams[fd]) <= case.caps[fd]:
        case.streams[fd] += data
    return bool(data)


def _reap(case: Case) -> tuple[int, float, int]:
    """Take the case's status, end all it started, and read what is still in its pipes."""
    _, status, usage = os.wait4(case.pid, 0)
    with suppress(ProcessLookupError, PermissionError):
        if os.getpid() == 1:
            os.kill(-1, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            os.wait()
    for fd in case.streams:
        os.set_blocking(fd, False)
        with suppress(BlockingIOError):
            while _read(case, fd):
                pass
        os.close(fd)
    if case.pidfd >= 0:
        os.close(case.pidfd)
    if case.stdin_fd >= 0:
        os.close(case.stdin_fd)
    return status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def _report(case: Case, mode: str, number: int, status: int, cpu: float, peak: int) -> bool:
    """Send the case's frame; whether it went well as far as this side can tell."""
    out, err, answer = (bytes(data[: case.caps[fd]]) for fd, data in case.streams.items())
    killed = case.killed
    if not killed and any(len(data) > case.caps[fd] for fd, data in case.streams.items()):
        killed = "output"
    lengths, blob = wire.join((out, err, answer))
    header = {
        "case": number,
        "status": status,
        "killed": killed,
        "cpu": cpu,
        "wall": time.monotonic() - case.started,
        "peak": peak,
        "lens": lengths,
    }
    program.send(child.CONTROL, header, blob)
    return not killed and (b'"kind":"value"' in answer[:64] if mode == "call" else status == 0)


def empty_scratch() -> None:
    """Empty the scratch, so that one case leaves nothing for the next."""
    with os.scandir(".") as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                with suppress(OSError):
                    os.unlink(entry.path)
