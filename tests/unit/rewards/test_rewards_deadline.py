"""A time limit that works in any thread and leaves nothing behind."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress

import pytest

from burnish.rewards.deadline import within


def for_ever() -> None:
    while True:
        sum(range(1000))


def in_thread(function) -> object:
    found: list[object] = []

    def run() -> None:
        try:
            found.append(function())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(30)
    return found[0]


def test_a_result_passes_through() -> None:
    assert within(5, lambda: "done") == "done"


def test_an_error_passes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 / 0)


def test_a_call_that_takes_too_long_is_interrupted() -> None:
    start = time.perf_counter()
    with pytest.raises(TimeoutError, match=r"0\.1 s"):
        within(0.1, for_ever)
    assert time.perf_counter() - start < 5


def test_other_threads_have_limits_too() -> None:
    assert isinstance(in_thread(lambda: within(0.1, for_ever)), TimeoutError)


def test_swallowing_the_interruption_does_not_help() -> None:
    started = time.perf_counter()

    def stubborn() -> str:
        while time.perf_counter() - started < 0.5:
            with suppress(BaseException):
                for_ever()
        return "survived"

    with pytest.raises(TimeoutError):
        within(0.1, stubborn)


def test_limits_at_the_last_moment_leave_no_interruption_behind() -> None:
    def busy(until: float) -> None:
        while time.perf_counter() < until:
            pass

    outcomes = set()
    for step in range(200):
        start = time.perf_counter()
        try:
            within(0.003, lambda: busy(start + 0.00295 + (step % 20) * 1e-5))  # noqa: B023
            outcomes.add("done")
        except TimeoutError:
            outcomes.add("late")
    time.sleep(0.1)
    assert outcomes <= {"done", "late"}


def test_profiled_code_runs_on_after_a_limit() -> None:
    """A withdrawn interruption would have CPython 3.11 spin in the next profiled call."""
    within(5, lambda: None)
    with pytest.raises(TimeoutError):
        within(0.05, for_ever)
    calls = []
    sys.setprofile(lambda *_: calls.append(1))
    try:
        str(1)
    finally:
        sys.setprofile(None)
    assert calls
