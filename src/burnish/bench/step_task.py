"""Whole training steps through the real pipeline, with a record of where their seconds go."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from burnish.bench.child import Peak
from burnish.bench.parts import ARITHMETIC, PARTS
from burnish.bench.workloads import step_recipe
from burnish.observe.console import Console
from burnish.observe.timeline import write_timeline
from burnish.pipeline import train
from burnish.spans import Recorder, Span, recording


def measure_steps(
    workload: str,
    model: str,
    steps: int,
    threads: int,
    reward: str,
    timeline: str | None,
    more: dict[str, Any],
) -> dict[str, Any]:
    """Seconds of each part of `steps` training steps.

    One step before them warms up. The last of them saves a checkpoint; one more step follows, because what is
    written in the background would slow it, and because a stage waits for its last checkpoint.
    """
    settings = {"threads": threads, "rl.checkpoint_every": steps + 1, **more}
    recipe = step_recipe(workload, model, steps + 2, reward=reward, **settings)
    peak = Peak()
    with tempfile.TemporaryDirectory() as folder, recording() as record:
        train(recipe, Path(folder) / "run", console=Console(quiet=True))
    if timeline is not None:
        write_timeline(record, Path(timeline))
    return {"steps": split(record)[1:-1], "peak_bytes": peak.bytes}


def split(record: Recorder) -> list[dict[str, float]]:
    """Seconds of every step and of each of its parts; `other` is what no part accounts for."""
    steps = sorted((s for s in record.spans if s.name == "step"), key=lambda s: s.start)
    return [_parts(step, record.spans) for step in steps]


def _parts(step: Span, spans: list[Span]) -> dict[str, float]:
    line = (step.process, step.thread)
    inside = [
        s for s in spans
        if (s.process, s.thread) == line and step.start <= s.start and s.stop <= step.stop
    ]  # fmt: skip
    seconds = own_seconds([s for s in inside if s.name in PARTS])
    other = step.seconds - sum(seconds.values())
    outside = step.seconds - sum(seconds[name] for name in ARITHMETIC)
    return {**seconds, "other": other, "total": step.seconds, "outside": outside}


def own_seconds(spans: list[Span]) -> dict[str, float]:
    """Seconds of each part, without those of parts inside it; the spans are of one thread."""
    seconds = dict.fromkeys(PARTS, 0.0)
    around: list[Span] = []
    for s in sorted(spans, key=lambda s: (s.start, -s.stop)):
        while around and around[-1].stop <= s.start:
            around.pop()
        if around:
            seconds[around[-1].name] -= s.seconds
        seconds[s.name] += s.seconds
        around.append(s)
    return seconds
