"""The supervisor's clocks: CPU time by the kernel's account, and a deadline behind it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from burnish.sandbox.groups import Groups
from burnish.sandbox.hatchery import Jail

GRACE = 1.0
"""Seconds that a jail of many gets to end a case itself."""
_OF_FORKING = 0.05
"""CPU seconds that the process which makes the cases may use for each."""


class Clocks:
    """What runs have used, and which are over."""

    def __init__(self, groups: Groups, cores: int):
        self.groups = groups
        self.cores = cores

    def start(self, jail: Jail, limits: dict[str, Any], extra_seconds: float = 0.0) -> None:
        """Deadline of a case from now on, `extra_seconds` later where something comes before it."""
        now = time.monotonic()
        grace = 0.0 if jail.single else GRACE
        jail.deadline = now + limits["wall_seconds"] + grace + extra_seconds
        jail.next_cpu = now + limits["cpu_seconds"] / self.cores
        jail.cpu_allowed = limits["cpu_seconds"]
        jail.case_base = self.used(jail) or 0.0
        jail.case_extra = extra_seconds

    def used(self, jail: Jail) -> float | None:
        """CPU seconds so far, of all processes where a group counts them; None when the jail is gone."""
        try:
            if jail.group >= 0:
                return self.groups.cpu(jail.group) - jail.group_base + jail.cpu_base
            return _of_process(jail.pid)
        except OSError:
            return None

    def patience(self, jails: Iterable[Jail]) -> float:
        """Seconds until some clock must be looked at; -1 for ever."""
        due = [min(jail.deadline, jail.next_cpu) for jail in jails]
        return max(0.001, min(due) - time.monotonic()) if due else -1

    def overdue(self, jails: Iterable[Jail]) -> Iterator[tuple[Jail, str]]:
        """Jails that are over a limit, and which."""
        now = time.monotonic()
        for jail in jails:
            if now >= jail.deadline:
                yield jail, "wall"
            elif now >= jail.next_cpu:
                left = self._left(jail)
                if left <= 0:
                    yield jail, "cpu"
                jail.next_cpu = now + max(0.005, left / self.cores)

    def _left(self, jail: Jail) -> float:
        """CPU seconds until a limit."""
        allowed = jail.cpu_allowed
        used = self.used(jail)
        if used is None:
            return 0.01
        if jail.single or jail.task.mode == "session":
            return allowed - (used - jail.cpu_base)
        left = self._left_of_forking(jail, allowed)
        if jail.group < 0:
            return left
        return min(left, allowed + GRACE + jail.case_extra - (used - jail.case_base))

    @staticmethod
    def _left_of_forking(jail: Jail, allowed: float) -> float:
        """The jail itself counts the forks of its cases; this is the clock of the one that makes them."""
        allowed += GRACE + jail.case_extra + _OF_FORKING * (jail.task.first - jail.task_first)
        try:
            return allowed - (_of_process(jail.pid) - jail.cpu_base)
        except OSError:
            return 0.01


def _of_process(pid: int) -> float:
    """CPU seconds of a process's threads, without its children; OSError when it is gone."""
    return time.clock_gettime((~pid << 3) | 2)
