"""Everything a run says: sentences, warnings, training steps, tables, progress.

On a terminal it is coloured and live; elsewhere it is plain lines; with `json`, standard output carries one
JSON object a line and people read standard error.
"""

from __future__ import annotations

import io
import json
import math
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from burnish.observe.progress import (
    Bar,
    Clock,
    LiveProgress,
    Meter,
    Progress,
    ReportingProgress,
    SilentProgress,
)
from burnish.observe.text import clean, duration, number, percent

if TYPE_CHECKING:
    from rich.console import Console as RichConsole
    from rich.table import Table

PLAIN_SECONDS = 5.0
"""Least time between two plain lines of one task."""
JSON_SECONDS = 1.0

_STEP_LABELS = {
    "loss": "loss", "success": "success", "reward": "reward", "kl": "kl", "entropy": "entropy",
    "grad_norm": "grad", "lr": "lr", "tokens_per_second": "tok/s",
}  # fmt: skip
"""Metrics shown for a training step, in this order, where present."""


class Console:
    """Speaks to a person, or to a script when `json` is set. Safe to use from several threads.

    Args:
        quiet: no progress, sentences or steps; warnings and tables remain.
        json: JSON lines on `stdout`, text for people on `stderr`.
        terminal: whether a person watches live; found out when None.
        stdout: where to write; `sys.stdout` when None.
        stderr: where warnings go; `sys.stderr` when None.
        clock: seconds, for tests.
    """

    def __init__(
        self,
        *,
        quiet: bool = False,
        json: bool = False,
        terminal: bool | None = None,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self.quiet = quiet
        self.json = json
        self._stdout = stdout or sys.stdout
        self._stderr = stderr or sys.stderr
        self._human = self._stderr if json else self._stdout
        self._terminal = _is_terminal(self._human) if terminal is None else terminal
        self._clock = clock
        self._lock = threading.Lock()
        self._paces: dict[str, _Pace] = {}
        self._rich = _rich_console(self._human) if self._terminal else None
        self._progress = self._make_progress()

    @contextmanager
    def task(self, label: str, total: int | None = None, *, transient: bool = False) -> Iterator[Bar]:
        """A piece of long work; see `burnish.observe.progress.Progress`."""
        with self._progress.task(label, total, transient=transient) as shown:
            if not self.json:
                yield shown
                return
            records = ReportingProgress(self._emit_progress, every=JSON_SECONDS, clock=self._clock)
            with records.task(label, total, transient=transient) as recorded:
                yield _BothBars(shown, recorded)

    def say(self, text: str) -> None:
        """A sentence for people. The text is shown as it is: nothing in it is markup."""
        self.emit("say", text=text)
        if not self.quiet:
            self._print(text)

    def warn(self, text: str) -> None:
        """Something that a person should know and that does not stop the work."""
        self.emit("warning", text=text)
        if self._rich is not None:
            self._rich.print(_styled(f"warning: {clean(text)}", "yellow"), soft_wrap=True)
        else:
            self._write(self._stderr, f"warning: {clean(text)}\n")

    def step(self, stage: str, step: int, total: int, metrics: Mapping[str, float]) -> None:
        """One line a training step, with the time left.

        `metrics` may hold any of loss, success, reward, kl, entropy, grad_norm, lr, tokens_per_second, and
        `seconds`, the duration of the step; others go to the JSON record only.
        """
        pace = self._paces.setdefault(stage, _Pace(self._clock))
        left = pace.seconds_left(total - step, metrics.get("seconds"))
        self.emit("step", stage=stage, step=step, total=total, seconds_left=left, metrics=dict(metrics))
        if not self.quiet:
            self._print(step_line(stage, step, total, metrics, left))

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], title: str = "") -> None:
        """A table; columns after the first are aligned right. Elsewhere than on a terminal it is Markdown."""
        self.emit("table", title=title, columns=list(columns), rows=[list(row) for row in rows])
        if self._rich is not None:
            self._rich.print(_rich_table(columns, rows, title, plain=False))
        else:
            self._write(self._human, _plain_table(columns, rows, title))

    def emit(self, event: str, **data: object) -> None:
        """One JSON object on standard output, when `json` is set; NaN becomes null."""
        if self.json:
            record = json.dumps(_plain({"event": event, **data}), ensure_ascii=True, default=str)
            self._write(self._stdout, record + "\n")

    def _print(self, text: str) -> None:
        if self._rich is not None:
            self._rich.print(clean(text), markup=False, highlight=False, soft_wrap=True)
        else:
            self._write(self._human, clean(text) + "\n")

    def _write(self, stream: TextIO, text: str) -> None:
        encoding = getattr(stream, "encoding", None) or "utf-8"
        with self._lock:
            stream.write(text.encode(encoding, "replace").decode(encoding))
            stream.flush()

    def _make_progress(self) -> Progress:
        if self.quiet:
            return SilentProgress()
        if self._rich is not None:
            return LiveProgress(self._rich, clock=self._clock)
        return ReportingProgress(self._print_progress, every=PLAIN_SECONDS, clock=self._clock)

    def _print_progress(self, meter: Meter, state: str) -> None:
        self._print(meter.line() if state == "running" else meter.last_line(state == "done"))

    def _emit_progress(self, meter: Meter, state: str) -> None:
        self.emit("progress", **meter.record(state))


class _Pace:
    """Time left from the last few steps of a stage."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last: float | None = None
        self._steps: deque[float] = deque(maxlen=10)

    def seconds_left(self, steps: int, seconds: float | None) -> float | None:
        """Estimate for `steps` more, after one that took `seconds` (None: measured from call to call)."""
        now = self._clock()
        if seconds is None and self._last is not None:
            seconds = now - self._last
        self._last = now
        if seconds is not None and math.isfinite(seconds):
            self._steps.append(seconds)
        return sum(self._steps) / len(self._steps) * steps if self._steps else None


class _BothBars:
    def __init__(self, *bars: Bar) -> None:
        self._bars = bars

    def advance(self, n: float = 1, **fields: object) -> None:
        for bar in self._bars:
            bar.advance(n, **fields)

    def set_total(self, total: int | None) -> None:
        for bar in self._bars:
            bar.set_total(total)


def step_line(
    stage: str, step: int, total: int, metrics: Mapping[str, float], seconds_left: float | None = None
) -> str:
    """A training step as one line of text."""
    parts = [f"{stage} {step}/{total}"]
    for name, label in _STEP_LABELS.items():
        if name in metrics:
            value = percent(metrics[name]) if name == "success" else number(float(metrics[name]))
            parts.append(f"{value} {label}" if label == "tok/s" else f"{label} {value}")
    if "seconds" in metrics:
        parts.append(duration(metrics["seconds"]))
    if seconds_left is not None:
        parts.append(f"{duration(seconds_left)} left")
    return "  ".join(parts)


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def _rich_console(stream: TextIO) -> RichConsole:
    from rich.console import Console as RichConsole  # noqa: PLC0415 - only where a terminal shows it

    return RichConsole(file=stream, force_terminal=True)


def _styled(text: str, style: str) -> object:
    from rich.text import Text  # noqa: PLC0415 - only where a terminal shows it

    return Text(text, style=style)


def _rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str, *, plain: bool) -> Table:
    from rich import box  # noqa: PLC0415 - only where a table is shown
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(
        title=Text(clean(title)) if title and not plain else None,
        title_justify="left",
        box=box.MARKDOWN if plain else box.SIMPLE_HEAD,
    )
    for place, name in enumerate(columns):
        table.add_column(Text(clean(name)), justify="right" if place else "left", overflow="fold")
    for row in rows:
        cells = [clean(cell).replace("\n", " ") for cell in row]
        table.add_row(*(Text(cell.replace("|", "\\|") if plain else cell) for cell in cells))
    return table


def _plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str) -> str:
    from rich.console import Console as RichConsole  # noqa: PLC0415 - only where a table is shown

    buffer = io.StringIO()
    wide = 10_000  # nothing is folded: a log has no width
    RichConsole(file=buffer, width=wide, color_system=None, legacy_windows=False).print(
        _rich_table(columns, rows, title, plain=True)
    )
    lines = [line.strip() for line in buffer.getvalue().splitlines()]
    heading = [clean(title)] if title else []
    return "\n".join([*heading, *(line for line in lines if line)]) + "\n"


def _plain(value: object) -> object:
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
