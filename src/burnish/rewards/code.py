"""What a program is worth once its checks have been run: reward shapes by name.

    all_or_nothing   1 when all checks pass, else 0
    pass_ratio       1 when all pass, 0.5 * passed / total when some do, -0.1 when none does
    efficiency       0 unless all pass; then 1 for a program about as fast as the reference, down to 0.5 for
                     one that uses up its limit, by the logarithm of its CPU time

A shape gives its own number; `unit` maps it to [0, 1], which is what a verdict holds. Advantages of a group
do not change under that map, apart from their scale. A check that timed out, crashed or gave no answer has
not passed, so no state is ever worth more than a wrong answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

CodeReward = Literal["all_or_nothing", "pass_ratio", "efficiency"]

FASTEST = 0.02
"""CPU seconds below which programs count as equally fast: start-up and noise are of this size."""
AS_FAST = 2.0
"""Multiple of the reference's CPU time that still counts as equally fast."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What the checks of one program came to."""

    passed: int
    total: int
    cpu_seconds: float = 0.0
    """Slowest check, by the supervisor's clock."""
    limit_seconds: float = 1.0
    """CPU limit of one check."""
    reference_seconds: float = 0.0
    """Slowest check of a known solution; 0 when none was timed."""

    @property
    def all_passed(self) -> bool:
        """Whether every check passed, and there was one."""
        return 0 < self.total == self.passed


def all_or_nothing(marks: Marks) -> float:
    """1 when all checks pass, else 0."""
    return float(marks.all_passed)


def pass_ratio(marks: Marks) -> float:
    """1 when all checks pass, half the share that pass when some do, -0.1 when none does."""
    if marks.all_passed:
        return 1.0
    return 0.5 * marks.passed / marks.total if marks.passed else -0.1


def efficiency(marks: Marks) -> float:
    """From 1 to 0.5 with the logarithm of the CPU time, for programs that pass all checks."""
    if not marks.all_passed:
        return 0.0
    fast = max(FASTEST, AS_FAST * marks.reference_seconds)
    if marks.cpu_seconds <= fast or marks.limit_seconds <= fast:
        return 1.0
    used = math.log(marks.cpu_seconds / fast) / math.log(marks.limit_seconds / fast)
    return 1.0 - 0.5 * min(used, 1.0)


@dataclass(frozen=True, slots=True)
class Shape:
    """A reward shape with the range of its numbers."""

    function: Callable[[Marks], float]
    low: float = 0.0
    high: float = 1.0

    def unit(self, marks: Marks) -> float:
        """The number mapped to [0, 1]."""
        return (self.function(marks) - self.low) / (self.high - self.low)


SHAPES: dict[CodeReward, Shape] = {
    "all_or_nothing": Shape(all_or_nothing),
    "pass_ratio": Shape(pass_ratio, low=-0.1),
    "efficiency": Shape(efficiency),
}
