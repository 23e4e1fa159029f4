"""Languages a program may be written in, how their tools are called, and where the tools are.

Python runs in the warmed interpreter itself. The others are programs of the machine, started inside the jail;
what they need beyond the request's limits to start at all (the size of an interpreter, the processes of a
shell or of a compiler) is written here and belongs to the language, not to the program.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from functools import lru_cache

PATH = "/usr/local/bin:/usr/bin:/bin"
COMPILE_MEMORY = 1 << 30
"""Bytes of address space for each process of a compiler."""
COMPILE_PROCESSES = 8
COMPILE_PATIENCE = 3
"""Seconds that a compiler may take for each of its CPU seconds."""
_WARNINGS = ("-w", "-pipe")


@dataclass(frozen=True, slots=True)
class Language:
    """How programs of a language are run inside the jail; `{seed}`, `{megabytes}` are filled in."""

    file: str
    """Name of the source file."""
    tools: tuple[str, ...] = ()
    """Programs that it needs, looked for in `PATH`."""
    install: str = ""
    """How to get them."""
    compile: tuple[str, ...] = ()
    """Command that makes `program` of the source; empty for interpreters."""
    run: tuple[str, ...] = ()
    processes: int = 0
    """Processes that it takes by its nature, such as those of a shell."""
    base_bytes: int = 64 << 20
    """Memory of a program that does nothing, on top of `Limits.memory_bytes`."""
    reserves: bool = False
    """It reserves far more addresses than it uses: only what can be written is counted."""
    setup: str = ""
    """File that the case's stdin is put into, instead of being read from descriptor 0."""


LANGUAGES = {
    "python": Language("solution.py"),
    "shell": Language(
        "solution.sh",
        ("bash",),
        "install bash",
        run=("bash", "solution.sh"),
        processes=16,
        base_bytes=16 << 20,
    ),
    "javascript": Language(
        "solution.js",
        ("node",),
        "install nodejs",
        run=("node", "--random-seed={seed}", "--max-old-space-size={megabytes}", "solution.js"),
        base_bytes=192 << 20,
        reserves=True,
    ),
    "c": Language(
        "solution.c",
        ("gcc", "ld"),
        "install gcc and libc6-dev",
        compile=("gcc", "-std=gnu17", "-O2", *_WARNINGS, "-o", "program", "solution.c", "-lm"),
        run=("./program",),
    ),
    "cpp": Language(
        "solution.cpp",
        ("g++", "ld"),
        "install g++",
        compile=("g++", "-std=gnu++17", "-O2", *_WARNINGS, "-o", "program", "solution.cpp"),
        run=("./program",),
    ),
    "sql": Language(
        "solution.sql",
        ("sqlite3",),
        "install sqlite3",
        run=("sqlite3", "-batch", "-bail", ":memory:", ".read input.sql", ".read solution.sql"),
        setup="input.sql",
    ),
}
"""`sql`: the case's stdin holds statements that prepare the database, run before the program."""


def missing(language: str) -> list[str]:
    """Tools of a language that this machine lacks."""
    return [tool for tool in LANGUAGES[language].tools if shutil.which(tool, path=PATH) is None]


def identity(language: str) -> str:
    """The tools of a language as they are now: another version gives other results."""
    return _identity(LANGUAGES[language].tools)


@lru_cache(maxsize=16)
def _identity(tools: tuple[str, ...]) -> str:
    found = [os.path.realpath(shutil.which(tool, path=PATH) or tool) for tool in tools]
    facts = ((path, os.stat(path)) for path in found if os.path.exists(path))
    return " ".join(f"{path}:{stat.st_size}:{stat.st_mtime_ns}" for path, stat in facts)
