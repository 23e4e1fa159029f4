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
    """Train for one step to warm up and `steps` more; seconds of each part of these."""
    settings = {"threads": threads, "rl.checkpoint_every": 1, **more}
    recipe = step_recipe(workload, model, steps + 1, reward=reward, **settings)
    peak = Peak()
    with tempfile.TemporaryDirectory() as folder, recording() as record:
        train(recipe, Path(folder) / "run", console=Console(quiet=True))
    if timeline is not None:
        write_timeline(record, Path(timeline))
    return {"steps": split(record)[1:], "peak_bytes": peak.bytes}


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
    seconds = {name: sum(s.seconds for s in inside if s.name == name) for name in PARTS}
    other = step.seconds - sum(seconds.values())
    outside = step.seconds - sum(seconds[name] for name in ARITHMETIC)
    return {**seconds, "other": other, "total": step.seconds, "share_outside": outside / step.seconds}
