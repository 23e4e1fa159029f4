"""Fair timing on a machine whose speed drifts: cases take turns, and ratios are of medians."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median

Clock = Callable[[], float]


def interleaved(
    cases: Mapping[str, Callable[[], object]],
    rounds: int,
    *,
    warm_up: bool = True,
    clock: Clock = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds of every case in every round; each round runs all of them, every second one backwards.

    Args:
        cases: what to time, by name.
        rounds: how often.
        warm_up: run each case once before, untimed.
        clock: seconds, for tests.
    """
    if warm_up:
        for work in cases.values():
            work()
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds):
        names = list(cases)
        for name in names if number % 2 == 0 else reversed(names):
            began = clock()
            cases[name]()
            seconds[name].append(clock() - began)
    return seconds


def repeated(work: Callable[[], object], times: int, clock: Clock = time.perf_counter) -> float:
    """Median seconds of several runs after one that is not counted."""
    return median(interleaved({"": work}, times, clock=clock)[""])
