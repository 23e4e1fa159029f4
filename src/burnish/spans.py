"""Where time goes: named spans, recorded only while somebody asks for them.

    with span("update"):
        ...

Without a recorder a span costs one look at a variable. Times are nanoseconds of the monotonic clock, which
on one machine is the same in every process, so spans of other processes can be added to the same record.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from types import TracebackType
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Clock = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Span:
    """One stretch of work."""

    name: str
    start: int
    """Nanoseconds."""
    stop: int
    process: int
    thread: int
    """Both as the operating system numbers them."""
    facts: dict[str, object] = field(default_factory=dict)
    """What else is worth knowing, for example the step."""

    @property
    def seconds(self) -> float:
        """Its length."""
        return (self.stop - self.start) / 1e9


class Recorder:
    """Collects spans from any number of threads."""

    def __init__(self, clock: Clock = time.monotonic_ns) -> None:
        """Start empty."""
        self.clock = clock
        self.spans: list[Span] = []
        self.threads: dict[tuple[int, int], str] = {}
        """Name of each thread that had a span, by process and thread."""

    def add(
        self,
        name: str,
        start: int,
        stop: int,
        facts: dict[str, object] | None = None,
        *,
        track: str | None = None,
        process: int | None = None,
    ) -> None:
        """Add a span that was measured elsewhere.

        Args:
            name: what was done.
            start: nanoseconds of the monotonic clock.
            stop: the same.
            facts: what else is worth knowing.
            track: name of the line it is drawn on; the current thread's when None.
            process: number of the process it happened in; this one when None.
        """
        pid = os.getpid() if process is None else process
        thread = threading.get_native_id() if process is None else 0
        self.threads.setdefault((pid, thread), track or threading.current_thread().name)
        self.spans.append(Span(name, start, stop, pid, thread, facts or {}))


class _Open:
    """A span under way."""

    __slots__ = ("_facts", "_name", "_recorder", "_start")

    def __init__(self, recorder: Recorder, name: str, facts: dict[str, object]) -> None:
        self._recorder, self._name, self._facts = recorder, name, facts

    def __enter__(self) -> None:
        self._start = self._recorder.clock()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._recorder.add(self._name, self._start, self._recorder.clock(), self._facts)


_NOTHING: AbstractContextManager[None] = nullcontext()
_current: Recorder | None = None


def span(name: str, **facts: object) -> AbstractContextManager[None]:
    """Measure a block under a name, if spans are being recorded."""
    return _NOTHING if _current is None else _Open(_current, name, facts)


def timed(name: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorator: every call of the function is a span."""

    def wrap(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
            with span(name):
                return function(*args, **kwargs)

        return wrapped

    return wrap


def ended(name: str, began: float, **facts: object) -> None:
    """Record a stretch that ends now, if spans are being recorded; `began` is what `time.monotonic` said."""
    if _current is not None:
        _current.add(name, round(began * 1e9), _current.clock(), facts)


def recorder() -> Recorder | None:
    """Whoever records now, for spans of other processes; None when nobody does."""
    return _current


@contextmanager
def recording(into: Recorder | None = None) -> Iterator[Recorder]:
    """Record every span of this process, from all its threads, until the block ends."""
    global _current  # noqa: PLW0603 - one record a process, so that no function has to hand it down
    before, _current = _current, into or Recorder()
    try:
        yield _current
    finally:
        _current = before
