"""The table that ends a run, from `summary.json` alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.observe.console import Console
from burnish.observe.summary import Interval, Mode, Summary, label, short_names
from burnish.observe.text import duration, percent, points
from burnish.observe.words import headline, losses

_TITLES: dict[Mode, str] = {"sampled": "Accuracy, sampled", "greedy": "Accuracy, greedy"}


def print_summary(
    console: Console, data: Mapping[str, Any], places: Mapping[str, object] | None = None
) -> None:
    """Accuracy by domain at every stage, differences with 95% intervals, losers by name, where things are.

    Args:
        console: where to print.
        data: the content of `summary.json`; any part may be missing.
        places: what to point at, for example `{"report": path, "checkpoint": path, "samples": path}`.
    """
    summary = Summary(data)
    for mode in summary.modes:
        columns, rows = accuracy_rows(summary, mode)
        console.table(columns, rows, title=_TITLES[mode])
    for mode in summary.modes:
        console.say(headline(summary, mode))
    for sentence in losses(summary):
        console.say(sentence)
    if summary.seconds:
        spent = ", ".join(f"{stage} {duration(seconds)}" for stage, seconds in summary.seconds.items())
        console.say(f"Time: {spent}.")
    for name, place in (places or {}).items():
        console.say(f"{name + ':':<12}{place}")


def accuracy_rows(summary: Summary, mode: Mode) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of one mode: a row a domain, held-out ones marked, then the averages."""
    names = short_names(summary.domains)
    columns = [
        "domain",
        *(label(name) for name in summary.names),
        *(f"{p.label} [95%]" for p in summary.pairs),
    ]
    rows = [
        [
            names[domain] + (" (held out)" if summary.is_held_out(domain) else ""),
            *_cells(summary, mode, domain),
        ]
        for domain in summary.domains
    ]
    rows.append(["macro average", *_cells(summary, mode, None)])
    means = [summary.held_out_mean(name, mode) for name in summary.names]
    if any(mean is not None for mean in means):
        rows.append(["held-out mean", *map(percent, means), *("" for _ in summary.pairs)])
    return columns, rows


def difference_cell(difference: Interval | None) -> str:
    """`+7.9 [+4.1, +11.2]`, with `worse` in front of a significant loss."""
    if difference is None:
        return "-"
    if difference.low is None or difference.high is None:
        return points(difference.value)
    worse = "worse " if difference.is_loss else ""
    return f"{worse}{points(difference.value)} [{points(difference.low)}, {points(difference.high)}]"


def _cells(summary: Summary, mode: Mode, domain: str | None) -> list[str]:
    figures = [summary.accuracy(name, mode, domain) for name in summary.names]
    differences = [summary.difference(pair, mode, domain) for pair in summary.pairs]
    return [
        *("-" if figure is None else percent(figure.value) for figure in figures),
        *map(difference_cell, differences),
    ]
