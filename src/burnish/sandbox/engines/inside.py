"""What runs inside a jail that another program built: read a job, lock what is left to lock, run its cases.

The job comes by descriptor 0 and the reports leave by descriptor 1, before the program sees either.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from burnish.sandbox import child, jobs, landlock, seccomp
from burnish.sandbox import syscalls as sc

WALLS_OF_OUR_OWN = ("seccomp", "own kernel")
"""Arguments that ask for our system call filter and Landlock, for builders that bring none."""


def main(path: list[str], readable: list[str], packages: list[str], walls: str) -> None:
    """Run one job to its end.

    Args:
        path: directories from which the program may import.
        readable: what the jail shows, for Landlock.
        packages: import names to load before the program.
        walls: `seccomp` for our own filter and ruleset, `own kernel` for them in a kernel that is not the
            host's, empty for none.
    """
    os.dup2(0, child.CONTROL)
    job = child.read_job()
    if job is None:
        return
    os.dup2(1, child.CONTROL)
    _silence()
    sys.path[:] = [*path, os.getcwd()]
    for name in packages:
        __import__(name)
    if walls in WALLS_OF_OUR_OWN:
        _lock(readable)
    doors = child.Doors(
        namespaces=True,
        proc=-1,
        ruleset=-1,
        readable=(),
        seccomp=walls in WALLS_OF_OUR_OWN,
        address_space=_address_space(),
        own_kernel=walls == "own kernel",
    )
    child.reset_signals()
    child.write_files(job.files)
    run = jobs._many_calls if job.mode == "call" else jobs._many_programs
    sys.exit(run(doors, job))


def _silence() -> None:
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)


def _lock(readable: list[str]) -> None:
    sc.prctl(sc.PR_SET_NO_NEW_PRIVS, 1)
    sc.prctl(sc.PR_SET_DUMPABLE, 0)
    if landlock.abi() > 0:
        shown = tuple(path for path in readable if os.path.exists(path))
        landlock.restrict(landlock.make_ruleset([("/", landlock.LIST), *child.rules(shown, os.getcwd())]))
    seccomp.install(seccomp.common_filter())


def _address_space() -> int:
    with suppress(OSError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return 1 << 28
