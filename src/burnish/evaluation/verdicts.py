"""What the probe concludes about one domain at one level, and when it is sure.

The classes, tried in this order (bounds of `Thresholds`; intervals at the plan's confidence):

- `faulty`: no task could be made, too many completions could not be judged, or the grader pays an agent
  that knows nothing.
- `solved`: sampled success is at least 0.9, and at least 0.8 at the low end of its interval.
- `signal`: at the low end of its interval, at least 5% of the groups hold both a pass and a failure, so
  they carry a gradient.
- `needs_sft`: neither, and gold answers exist to fine-tune on first.
- `no_gold`: neither, and there is nothing to fine-tune on.

A class is marked unsure where more tasks could still change it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from burnish.evaluation.intervals import Interval


class Kind(StrEnum):
    """What post-training can do with a domain at a level, best news first."""

    SIGNAL = "signal"
    NEEDS_SFT = "needs_sft"
    SOLVED = "solved"
    NO_GOLD = "no_gold"
    FAULTY = "faulty"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the classes begin."""

    signal: float = 0.05
    """Least share of mixed groups, at the low end of its interval, that counts as signal."""
    no_signal: float = 0.2
    """Mixed share, at the high end, up to which a lack of signal is sure."""
    solved: float = 0.9
    """Least sampled success of a solved cell."""
    solved_low: float = 0.8
    """Least low end of that success."""
    unjudged: float = 0.2
    """Share of completions without a verdict from which a cell is faulty."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a class is decided on."""

    tasks: int
    success: Interval
    mixed: Interval
    """Share of groups with both a pass and a failure."""
    unjudged: float
    """Share of completions whose grading broke or abstained."""
    gold: float
    """Share of tasks with a gold answer."""
    alarm: str = ""
    """What an agent that knows nothing is paid, in words, if that is too much."""


@dataclass(frozen=True, slots=True)
class Class:
    """A class with its reason in words."""

    kind: Kind
    sure: bool
    reason: str


def percent(value: float) -> str:
    """A share in whole percent, `?` for NaN."""
    return "?" if math.isnan(value) else f"{100 * value:.0f}%"


def _span(interval: Interval) -> str:
    return f"{percent(interval.value)} ({percent(interval.low)} to {percent(interval.high)})"


def _fault(evidence: Evidence, bounds: Thresholds) -> str:
    if evidence.tasks == 0:
        return "no task could be made"
    if evidence.unjudged >= bounds.unjudged or math.isnan(evidence.success.value):
        return f"{percent(evidence.unjudged)} of the completions could not be judged"
    return evidence.alarm


def classify(evidence: Evidence, bounds: Thresholds | None = None) -> Class:
    """The class of a cell; see the module for the rules."""
    bounds = bounds or Thresholds()
    fault = _fault(evidence, bounds)
    if fault:
        return Class(Kind.FAULTY, True, fault)
    success, mixed = evidence.success, evidence.mixed
    if success.value >= bounds.solved and success.low >= bounds.solved_low:
        return Class(Kind.SOLVED, success.low >= bounds.solved, f"success {_span(success)}")
    if mixed.low >= bounds.signal:
        return Class(Kind.SIGNAL, True, f"{_span(mixed)} of groups are mixed")
    kind = Kind.NEEDS_SFT if evidence.gold > 0 else Kind.NO_GOLD
    reason = f"success {_span(success)}, only {_span(mixed)} of groups are mixed"
    return Class(kind, mixed.high <= bounds.no_signal, reason)
