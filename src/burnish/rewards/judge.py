"""Ask a domain for its verdict, so that whatever breaks inside is a fault and never a wrong answer."""

from __future__ import annotations

import math
import traceback
from typing import Protocol

from burnish.records import Abstained, Boundary, Faulted, Sample, Scored, Task, Verdict


class Grader(Protocol):
    """What can be asked for a verdict; every `Domain` is one."""

    @property
    def name(self) -> str:
        """Full name, for messages."""
        ...

    def grade(self, task: Task, sample: Sample) -> Verdict:
        """Judge one completion."""
        ...


def judge(domain: Grader, task: Task, sample: Sample) -> Verdict:
    """The verdict of `domain.grade`; an exception, or a reward outside [0, 1], is a fault of the domain."""
    try:
        verdict = domain.grade(task, sample)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{place.filename.rpartition('/')[2]}:{place.lineno}"
        return Faulted(Boundary.DOMAIN, f"{domain.name}: {type(error).__name__}: {error} ({where})")
    return _checked(domain, verdict)


def _checked(domain: Grader, verdict: Verdict) -> Verdict:
    if isinstance(verdict, Abstained | Faulted):
        return verdict
    if not isinstance(verdict, Scored):
        got = type(verdict).__name__
        return Faulted(Boundary.DOMAIN, f"{domain.name}: grade returned {got}, expected a verdict")
    if not (math.isfinite(verdict.value) and 0 <= verdict.value <= 1):
        return Faulted(Boundary.DOMAIN, f"{domain.name}: reward {verdict.value} is outside [0, 1]")
    outside = [mark for mark in verdict.steps if not (math.isfinite(mark) and 0 <= mark <= 1)]
    if outside:
        return Faulted(Boundary.DOMAIN, f"{domain.name}: reward {outside[0]} of a step is outside [0, 1]")
    return verdict
