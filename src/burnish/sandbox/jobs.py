"""Inside the jail: what to do with a job, by its mode and the number of its cases."""

from __future__ import annotations

import fcntl
import os

from burnish.sandbox import cases, child, program, seccomp, session, tools
from burnish.sandbox.languages import COMPILE_PROCESSES, LANGUAGES

STARTED = b"S"
"""Sent once, after the last door is locked: what goes wrong before it is ours, after it the program's."""


def run(doors: child.Doors, job: child.Job) -> int:
    """Do the job; returns the exit code of this process."""
    child.reset_signals()
    if job.language != "python":
        return _tool(doors, job)
    child.write_files(job.files)
    if job.mode == "session":
        return _session(doors, job)
    if len(job.cases) - job.first == 1:
        return _one(doors, job)
    return _many_calls(doors, job) if job.mode == "call" else _many_programs(doors, job)


def _lock(doors: child.Doors, job: child.Job, *, forks: bool, extra_tasks: int = 0) -> None:
    child.apply_limits(doors, job, extra_tasks=extra_tasks)
    if doors.seccomp:
        seccomp.install(seccomp.program_filter(forks))
    os.write(child.CONTROL, STARTED)


def _one(doors: child.Doors, job: child.Job) -> int:
    """A single case runs in this very process: nothing is forked."""
    forks = job.limits["processes"] > 0
    case = job.cases[job.first]
    if job.mode == "program":
        _give_stdin(case)
    child.limit_cpu(job.limits["cpu_seconds"])
    child.seed_everything(job.seed)
    _lock(doors, job, forks=forks)
    if job.mode == "program":
        os.close(child.CONTROL)
        return program.run_program(job.code)
    main, report = program.load(job.code)
    kind, value = report or program.call(main, case, job.limits)
    program.send(child.CONTROL, {"kind": kind}, value)
    return 0


def _give_stdin(data: bytes) -> None:
    """A sealed file in memory: it can be read at any pace, and not written."""
    if not data:
        return
    fd = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE)
    os.dup2(fd, 0)
    os.close(fd)


def _many_programs(doors: child.Doors, job: child.Job) -> int:
    _lock(doors, job, forks=True, extra_tasks=1)
    compiled: list[object] = []
    ended, _ = program.guarded(lambda: compiled.append(program.compile_program(job.code)))
    code = compiled[0] if not ended else job.code

    def body(_number: int) -> tuple[str, bytes, int]:
        os.close(child.CONTROL)
        return "", b"", program.run_program(code)  # pyright: ignore[reportArgumentType]

    cases.run_cases(job, body, lambda number: job.cases[number])
    return 0


def _many_calls(doors: child.Doors, job: child.Job) -> int:
    _lock(doors, job, forks=True, extra_tasks=1)
    main, failed = program.load(job.code)

    def body(number: int) -> tuple[str, bytes, int]:
        report = program.load(job.code)[1] if failed else None
        kind, value = report or program.call(main, job.cases[number], job.limits)
        return kind, value, 0

    cases.run_cases(job, body, lambda _number: b"")
    return 0


def _session(doors: child.Doors, job: child.Job) -> int:
    _lock(doors, job, forks=job.limits["processes"] > 0)
    return session.serve(job)


def _tool(doors: child.Doors, job: child.Job) -> int:
    language = LANGUAGES[job.language]
    tools.find_tools(language)
    most = max(tools.processes_of(language, job.limits), COMPILE_PROCESSES if language.compile else 0)
    _lock(doors, job, forks=True, extra_tasks=1 + most)
    return tools.run(job)
