"""Inside the jail: programs that a tool of the machine interprets or compiles.

This process never runs a line of the program: it starts the tool in a fork, for each case anew, and
reports as `cases` does. What a case did to its directory, its own executable included, is undone
before the next.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from burnish.sandbox import cases, child
from burnish.sandbox.languages import (
    COMPILE_MEMORY,
    COMPILE_PATIENCE,
    COMPILE_PROCESSES,
    LANGUAGES,
    PATH,
    Language,
)

_COMPILING = -1
_PROGRAM = "program"
_NOT_STARTED = 127


def find_tools(language: Language) -> None:
    """OSError when a tool that the machine has cannot be seen in the jail; ours, not the program's."""
    for tool in language.tools:
        if shutil.which(tool, path=PATH) is None:
            raise FileNotFoundError(f"{tool} lies outside of what the sandbox shows ({PATH})")


def run(job: child.Job) -> int:
    """Compile if need be, then run the cases; returns the exit code of this process."""
    language = LANGUAGES[job.language]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    files = {**job.files, language.file: job.code}
    if language.setup:
        files[language.setup] = b""
    if language.compile:
        child.write_files(files)
        if not _compile(job, language):
            return 0
        files = {**job.files, _PROGRAM: _read_program(job.limits["scratch_bytes"])}
    limits = job.limits | {"processes": processes_of(language, job.limits)}

    def body(number: int) -> tuple[str, bytes, int]:
        if language.setup:
            child.write_files({language.setup: job.cases[number]})
        return _become(_filled(language.run, job), _bounds(language, limits, counted=job.counted))

    cases.empty_scratch()
    _write(files)
    cases.run_cases(
        replace(job, limits=limits),
        body,
        lambda number: b"" if language.setup else job.cases[number],
        lambda: _write(files),
    )
    return 0


def processes_of(language: Language, limits: Mapping[str, Any]) -> int:
    """Processes that a case may start."""
    return max(language.processes, limits["processes"])


def _compile(job: child.Job, language: Language) -> bool:
    """Run the compiler and report; whether it went well."""
    seconds = job.limits["compile_seconds"]
    limits = job.limits | {
        "cpu_seconds": seconds,
        "wall_seconds": COMPILE_PATIENCE * seconds,
        "processes": COMPILE_PROCESSES,
    }
    bounds = {resource.RLIMIT_AS: COMPILE_MEMORY}
    compiling = replace(job, limits=limits)
    return cases.run_case(compiling, lambda _: _become(language.compile, bounds), _COMPILING, b"")


def _filled(command: tuple[str, ...], job: child.Job) -> list[str]:
    """The command with what depends on the job. A seed of 0 would mean a random one."""
    filling = {"seed": job.seed % (1 << 30) + 1, "megabytes": max(1, job.limits["memory_bytes"] >> 20)}
    return [word.format(**filling) for word in command]


def _bounds(language: Language, limits: Mapping[str, Any], *, counted: bool) -> dict[int, int]:
    """Resource limits of a case's processes."""
    share = 1 if counted else limits["processes"] + 1
    kind = resource.RLIMIT_DATA if language.reserves else resource.RLIMIT_AS
    return {kind: language.base_bytes + limits["memory_bytes"] // share}


def _become(command: tuple[str, ...] | list[str], bounds: Mapping[int, int]) -> tuple[str, bytes, int]:
    """Turn this fork into the command; returns only when that fails."""
    os.close(child.CONTROL)
    for kind, value in bounds.items():
        resource.setrlimit(kind, (value, value))
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    path = command[0] if "/" in command[0] else shutil.which(command[0], path=PATH) or command[0]
    try:
        os.execv(path, command)  # noqa: S606 - a shell would be one more program
    except OSError as error:
        os.write(2, f"cannot start {command[0]}: {error.strerror}\n".encode())
    return "", b"", _NOT_STARTED


def _read_program(longest: int) -> bytes:
    """What the compiler made; it fitted into the scratch."""
    fd = os.open(_PROGRAM, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(fd, "rb") as file:
        return file.read(longest)


def _write(files: dict[str, bytes]) -> None:
    child.write_files(files)
    if _PROGRAM in files:
        os.chmod(_PROGRAM, 0o700)
