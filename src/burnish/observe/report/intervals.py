"""Geometry of the before/after chart: a row a domain, a mark with its interval an evaluation."""

from __future__ import annotations

import math
from dataclasses import dataclass

from burnish.observe.summary import Interval, Mode, Summary, label, short_names
from burnish.observe.text import percent

WIDTH = 800
PLOT_LEFT = 210
PLOT_RIGHT = 780
_TOP = 14
_MARK_STEP = 11
_ROW_PADDING = 14


@dataclass(frozen=True, slots=True)
class Mark:
    """One evaluation of one domain; coordinates in the chart's units."""

    series: int
    x: float
    y: float
    low: float
    high: float
    title: str


@dataclass(frozen=True, slots=True)
class Row:
    """One domain, or the macro average."""

    label: str
    y: float
    """Middle of the row."""
    kind: str
    """macro, trained or held_out."""
    worse: bool
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class IntervalChart:
    """Everything the template needs to draw."""

    height: float
    row_height: float
    series: tuple[str, ...]
    ticks: tuple[tuple[float, str], ...]
    rows: tuple[Row, ...]


def interval_chart(summary: Summary, mode: Mode) -> IntervalChart:
    """Rows for the macro average, the trained domains and the held-out ones, on one scale from 0."""
    top = _top_of_scale(summary, mode)
    row_height = _MARK_STEP * max(len(summary.names), 1) + _ROW_PADDING
    names = short_names(summary.domains)
    worse = {loss.domain for loss in summary.losses if loss.mode == mode}
    rows = []
    for place, domain in enumerate([None, *summary.domains]):
        middle = _TOP + row_height * (place + 0.5)
        text = "macro average" if domain is None else names[domain]
        kind = "macro" if domain is None else "held_out" if summary.is_held_out(domain) else "trained"
        marks = _marks(summary, mode, domain, middle, top)
        rows.append(Row(text, middle, kind, domain in worse, marks))
    series = tuple(label(name) for name in summary.names)
    return IntervalChart(_TOP + row_height * len(rows) + 26, row_height, series, _ticks(top), tuple(rows))


def _marks(summary: Summary, mode: Mode, domain: str | None, middle: float, top: float) -> tuple[Mark, ...]:
    figures = [summary.accuracy(name, mode, domain) for name in summary.names]
    first = middle - _MARK_STEP * (len(figures) - 1) / 2
    return tuple(
        _mark(n, figure, first + _MARK_STEP * n, top, label(summary.names[n]))
        for n, figure in enumerate(figures)
        if figure is not None
    )


def _mark(series: int, figure: Interval, y: float, top: float, name: str) -> Mark:
    low = figure.value if figure.low is None else figure.low
    high = figure.value if figure.high is None else figure.high
    title = f"{name}: {percent(figure.value)} (95% interval {percent(low)} to {percent(high)})"
    return Mark(series, _x(figure.value, top), y, _x(low, top), _x(high, top), title)


def _top_of_scale(summary: Summary, mode: Mode) -> float:
    """The largest upper bound, rounded up to a tenth, within [0.1, 1]."""
    figures = [summary.accuracy(name, mode, d) for name in summary.names for d in [None, *summary.domains]]
    highs = [figure.value if figure.high is None else figure.high for figure in figures if figure is not None]
    return min(max(math.ceil(10 * max(highs, default=1.0) - 1e-9) / 10, 0.1), 1.0)


def _x(share: float, top: float) -> float:
    inside = min(max(share / top, 0.0), 1.0)
    return round(PLOT_LEFT + (PLOT_RIGHT - PLOT_LEFT) * inside, 1)


def _ticks(top: float) -> tuple[tuple[float, str], ...]:
    step = 0.02 if top <= 0.1 else 0.05 if top <= 0.3 else 0.1 if top <= 0.6 else 0.2
    shares = [step * n for n in range(round(top / step) + 1)]
    return tuple((_x(share, top), f"{100 * share:.0f}%") for share in shares if share <= top + 1e-9)
