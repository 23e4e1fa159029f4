"""A time limit on pure Python code that works in any thread.

`within` interrupts the thread that called it, through CPython's asynchronous exceptions. Signals would
only work in the main thread, and killing a process would cost one per answer. Covered: Python code that
runs too long, code that catches the exception and carries on (it is raised again every 50 ms). Not covered:
a single call into C that does not return, such as an enormous power of integers; keep those out by rule.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_REPEAT_SECONDS = 0.05


class TimeLimitReached(BaseException):
    """Raised inside the call; not an `Exception`, so that ordinary handlers let it pass."""


class _Watch:
    def __init__(self, seconds: float):
        self.seconds = seconds
        self.thread = threading.get_ident()
        self.finished = threading.Event()
        self.lock = threading.Lock()
        self.fired = False

    def run(self) -> None:
        wait = self.seconds
        while not self.finished.wait(wait):
            with self.lock:
                if not self.finished.is_set():
                    self.fired = True
                    _raise_in(self.thread, TimeLimitReached)
            wait = _REPEAT_SECONDS

    def close(self) -> None:
        with self.lock:
            self.finished.set()


def _raise_in(thread: int, error: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def within(seconds: float, function: Callable[[], T]) -> T:
    """The result of a call that may take at most `seconds`.

    Raises:
        TimeoutError: the limit was reached, also when the call swallowed the interruption.
    """
    watch = _Watch(seconds)
    try:
        try:
            threading.Thread(target=watch.run, daemon=True, name="time-limit").start()
            result = function()
        finally:
            _close_surely(watch)
    except TimeLimitReached:
        _close_surely(watch)
        raise TimeoutError(f"ran past {seconds} s") from None
    if watch.fired:
        raise TimeoutError(f"ran past {seconds} s")
    return result


def _close_surely(watch: _Watch) -> None:
    """Stop the watch; an interruption that is still under way is awaited and dropped.

    It arrives at the next jump backwards. Withdrawing it through the C interface instead would leave the
    interpreter's flag for it raised, and a profiled function would then never return (CPython 3.11).
    """
    while True:
        try:
            watch.close()
            for _ in range(100):
                pass
        except TimeLimitReached:
            continue
        return
