"""A time limit on pure Python code that works in any thread.

`time_limit` raises in the thread that entered it, through CPython's asynchronous exceptions. Signals would
only work in the main thread, and killing a process would cost one per answer. Covered: Python code that
runs too long, code that catches the exception and carries on (it is raised again every 50 ms). Not covered:
a single call into C that does not return, such as an enormous power of integers; keep those out by rule.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_REPEAT_SECONDS = 0.05


class TimeLimitReached(BaseException):
    """Raised inside `time_limit`; not an `Exception`, so that ordinary handlers let it pass."""


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
            _raise_in(self.thread, None)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    pointer = ctypes.py_object(error) if error is not None else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), pointer)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Run a block for at most `seconds`.

    Raises:
        TimeoutError: the limit was reached, also when the block swallowed the interruption.
    """
    watch = _Watch(seconds)
    threading.Thread(target=watch.run, daemon=True, name="time-limit").start()
    try:
        try:
            yield
        finally:
            _close_surely(watch)
    except TimeLimitReached:
        raise TimeoutError(f"ran past {seconds} s") from None
    if watch.fired:
        raise TimeoutError(f"ran past {seconds} s")


def _close_surely(watch: _Watch) -> None:
    """Stop the watch; an interruption that arrives meanwhile only starts the attempt again."""
    while True:
        try:
            watch.close()
        except TimeLimitReached:
            continue
        return
