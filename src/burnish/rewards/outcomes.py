"""From what a user's grader returns to a verdict."""

from __future__ import annotations

import math

from burnish.records import Abstained, Faulted, Scored, Verdict

Outcome = bool | float | None | Verdict
"""What a grader may return: right or wrong, a reward in [0, 1], None for "cannot tell", or a verdict."""


def as_verdict(outcome: Outcome) -> Verdict:
    """The verdict that a grader's return value stands for; a reward of 1 is a success.

    Raises:
        ValueError: a number outside [0, 1].
        TypeError: anything else.
    """
    if isinstance(outcome, Scored | Abstained | Faulted):
        return outcome
    if outcome is None:
        return Abstained("the grader returned None")
    if isinstance(outcome, bool | int | float) or hasattr(outcome, "__float__"):
        value = float(outcome)
        if not (math.isfinite(value) and 0.0 <= value <= 1.0):
            raise ValueError(f"the grader returned {value}, expected a reward in [0, 1]")
        return Scored(value, passed=value >= 1.0)
    raise TypeError(
        f"the grader returned {type(outcome).__name__}, expected bool, a number in [0, 1], None or a verdict"
    )
