"""A time line of a run that Perfetto (ui.perfetto.dev) and chrome://tracing open: trace-event JSON.

Format: "Trace Event Format" of Chromium; complete events `X` with start and length in microseconds, and
metadata events `M` that name processes and threads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from burnish.spans import Recorder, recording

NAME = "timeline.json"


def trace_events(record: Recorder) -> dict[str, Any]:
    """The record in trace-event form; times count from its first span."""
    origin = min((s.start for s in record.spans), default=0)
    events = [
        {
            "name": s.name,
            "cat": "burnish",
            "ph": "X",
            "ts": (s.start - origin) / 1e3,
            "dur": (s.stop - s.start) / 1e3,
            "pid": s.process,
            "tid": s.thread,
            "args": {key: _fact(value) for key, value in s.facts.items()},
        }
        for s in record.spans
    ]
    events.sort(key=lambda event: (event["ts"], -event["dur"]))
    return {"traceEvents": [*_names(record), *events], "displayTimeUnit": "ms"}


def write_timeline(record: Recorder, path: Path) -> None:
    """Save the record; the file opens in Perfetto as it is."""
    path.write_text(json.dumps(trace_events(record), ensure_ascii=False), encoding="utf-8")


@contextmanager
def timeline_into(folder: Path) -> Iterator[Recorder]:
    """Record a run and leave the time line in its folder, however the run ends.

    A folder that is not there (a run that could not start) stays away, and the time line of an earlier part
    of the run is kept: the next is `timeline-2.json`, and so on.
    """
    with recording() as record:
        try:
            yield record
        finally:
            if folder.is_dir() and record.spans:
                write_timeline(record, _free(folder))


def seconds_by_name(record: Recorder, names: Sequence[str] | None = None) -> dict[str, float]:
    """Total length of the spans of each name."""
    totals = dict.fromkeys(names or (), 0.0)
    for s in record.spans:
        if names is None or s.name in totals:
            totals[s.name] = totals.get(s.name, 0.0) + s.seconds
    return totals


def _names(record: Recorder) -> list[dict[str, Any]]:
    own = os.getpid()
    processes = sorted({process for process, _ in record.threads})
    events: list[dict[str, Any]] = []
    for process in processes:
        name = "burnish" if process == own else f"worker {process}"
        events.append({"name": "process_name", "ph": "M", "pid": process, "args": {"name": name}})
    for (process, thread), name in sorted(record.threads.items()):
        events.append(
            {"name": "thread_name", "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}
        )
    return events


def _fact(value: object) -> object:
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _free(folder: Path) -> Path:
    path, number = folder / NAME, 1
    while path.exists():
        number += 1
        path = folder / f"timeline-{number}.json"
    return path
