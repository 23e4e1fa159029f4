"""Progress of long work: one small interface, shown as live bars, as plain lines, as JSON, or not at all.

with progress.task("evaluate", total=512) as bar:
    for task in tasks:
        ...
        bar.advance(1, success=0.21)
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol

from burnish.observe.text import clean, duration, number

if TYPE_CHECKING:
    from rich.console import Console as RichConsole
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

Clock = Callable[[], float]


class Bar(Protocol):
    """A piece of work under way."""

    def advance(self, n: float = 1, **fields: object) -> None:
        """`n` more units are done; `fields` are shown beside the bar until they change."""
        ...

    def set_total(self, total: int | None) -> None:
        """Say how many units there are, once that is known."""
        ...


class Progress(Protocol):
    """Shows pieces of work; safe to use from several threads, and tasks may nest."""

    def task(
        self, label: str, total: int | None = None, *, transient: bool = False
    ) -> AbstractContextManager[Bar]:
        """A piece of `total` units (None: unknown); a quick `transient` one leaves no line behind."""
        ...


class Meter:
    """Counts what is done and estimates the time left from the pace so far."""

    def __init__(self, label: str, total: int | None, clock: Clock) -> None:
        self.label = clean(label)
        self.total = total
        self.done = 0.0
        self.fields: dict[str, object] = {}
        self._clock = clock
        self._started = clock()

    def add(self, n: float, fields: Mapping[str, object]) -> None:
        """`n` more units, and what to show beside them."""
        self.done += n
        self.fields.update(fields)

    @property
    def seconds(self) -> float:
        """Seconds since the work began."""
        return self._clock() - self._started

    @property
    def seconds_left(self) -> float | None:
        """Estimate, or None while there is nothing to go by."""
        if self.total is None or self.done <= 0:
            return None
        return self.seconds / self.done * max(self.total - self.done, 0)

    def count(self) -> str:
        """`12/60`, or `12` when the total is unknown."""
        return f"{self.done:g}" if self.total is None else f"{self.done:g}/{self.total}"

    def notes(self) -> str:
        """The fields as `name value, name value`."""
        return ", ".join(f"{clean(name)} {number(value)}" for name, value in self.fields.items())

    def line(self) -> str:
        """The work under way, for a log."""
        share = f" ({100 * self.done / self.total:.0f}%)" if self.total else ""
        left = f", {duration(self.seconds_left)} left" if self.seconds_left is not None else ""
        return f"{self.label}: {self.count()}{share}{left}{self._tail()}"

    def last_line(self, finished: bool) -> str:
        """The work at its end, for a log."""
        word = "in" if finished else "stopped after"
        return f"{self.label}: {self.count()} {word} {duration(self.seconds)}{self._tail()}"

    def record(self, state: str) -> dict[str, object]:
        """The work as data."""
        return {
            "label": self.label,
            "state": state,
            "done": self.done,
            "total": self.total,
            "seconds": round(self.seconds, 3),
            "seconds_left": None if self.seconds_left is None else round(self.seconds_left, 1),
            "fields": dict(self.fields),
        }

    def _tail(self) -> str:
        return f", {self.notes()}" if self.fields else ""


Report = Callable[[Meter, str], None]
"""Called with the meter and `running`, `done` or `stopped`."""


class ReportingBar:
    """A bar that reports at most every `every` seconds."""

    def __init__(self, meter: Meter, report: Report, every: float, clock: Clock) -> None:
        self._meter = meter
        self._report = report
        self._every = every
        self._clock = clock
        self._due = clock() + every
        self._lock = threading.Lock()
        self.reported = False

    def advance(self, n: float = 1, **fields: object) -> None:
        """Count, and report if the last report is old enough."""
        with self._lock:
            self._meter.add(n, fields)
            # The last unit is reported by the end of the task.
            if self._clock() >= self._due and self._meter.done != self._meter.total:
                self._due = self._clock() + self._every
                self.reported = True
                self._report(self._meter, "running")

    def set_total(self, total: int | None) -> None:
        """Say how many units there are."""
        with self._lock:
            self._meter.total = total


class ReportingProgress:
    """Progress as separate reports: plain lines or JSON records."""

    def __init__(self, report: Report, *, every: float, clock: Clock = time.monotonic) -> None:
        self._report = report
        self._every = every
        self._clock = clock

    @contextmanager
    def task(self, label: str, total: int | None = None, *, transient: bool = False) -> Iterator[Bar]:
        """See `Progress.task`."""
        meter = Meter(label, total, self._clock)
        bar = ReportingBar(meter, self._report, self._every, self._clock)
        state = "stopped"
        try:
            yield bar
            state = "done"
        finally:
            if bar.reported or not transient:
                self._report(meter, state)


class SilentProgress:
    """Progress that shows nothing."""

    @contextmanager
    def task(self, label: str, total: int | None = None, *, transient: bool = False) -> Iterator[Bar]:
        """See `Progress.task`."""
        yield _SilentBar()


class _SilentBar:
    def advance(self, n: float = 1, **fields: object) -> None:
        return

    def set_total(self, total: int | None) -> None:
        return


class LiveProgress:
    """Live bars on a terminal; a finished task leaves one line above them."""

    def __init__(self, console: RichConsole, *, clock: Clock = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._display: RichProgress | None = None
        self._open = 0
        self._lock = threading.Lock()

    @contextmanager
    def task(self, label: str, total: int | None = None, *, transient: bool = False) -> Iterator[Bar]:
        """See `Progress.task`."""
        meter = Meter(label, total, self._clock)
        display = self._enter()
        row = display.add_task(meter.label, total=total, note="")
        finished = False
        try:
            yield _LiveBar(display, row, meter)
            finished = True
        finally:
            display.remove_task(row)
            self._leave()
            if not transient or not finished:
                self._console.print(meter.last_line(finished), markup=False, highlight=False, soft_wrap=True)

    def _enter(self) -> RichProgress:
        with self._lock:
            if self._display is None:
                self._display = _display(self._console)
                self._display.start()
            self._open += 1
            return self._display

    def _leave(self) -> None:
        with self._lock:
            self._open -= 1
            if self._open == 0 and self._display is not None:
                self._display.stop()
                self._display = None


class _LiveBar:
    def __init__(self, display: RichProgress, row: TaskID, meter: Meter) -> None:
        self._display = display
        self._row = row
        self._meter = meter
        self._lock = threading.Lock()

    def advance(self, n: float = 1, **fields: object) -> None:
        with self._lock:
            self._meter.add(n, fields)
            self._display.update(self._row, advance=n, note=self._meter.notes())

    def set_total(self, total: int | None) -> None:
        with self._lock:
            self._meter.total = total
            self._display.update(self._row, total=total)


def _display(console: RichConsole) -> RichProgress:
    from rich.progress import (  # noqa: PLC0415 - a terminal is needed for it to be of use
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[note]}", markup=False),
        console=console,
        transient=True,
    )
