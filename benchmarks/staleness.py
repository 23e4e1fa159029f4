"""How much a run loses when completions are drawn with older weights, and whether a lower rate mends it.

The tiny recipe: one SFT stage, then the same RL stage from its weights once for every staleness bound. Each
arm is told by its algorithm, its bound and its learning rate; the last arm keeps bound x rate at what the
first bound above 0 has. Reported for each arm, over all seeds: mean reward of the last quarter of the steps,
success on the evaluation tasks, and, over the whole stage, the least share of effective tokens and the mean
mismatch (k3, nats) between the weights that drew and the weights that learn.

    python benchmarks/staleness.py                  a minute or two
    python benchmarks/staleness.py --bounds 0,1,2,4,8 --algorithms dppo,grpo --steps 120 --seeds 3
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from burnish.bench.machine import machine
from burnish.observe.console import Console
from burnish.pipeline import train
from burnish.recipe import load_recipe
from burnish.store import RunStore

TINY = Path(__file__).resolve().parents[1] / "examples" / "tiny.toml"
RATE = 5e-4
"""Learning rate of the recipe's RL stage."""


@dataclass(frozen=True)
class Arm:
    """One setting that is measured."""

    algorithm: str
    bound: int
    rate: float

    @property
    def name(self) -> str:
        """For tables."""
        return f"{self.algorithm} eta={self.bound} lr={self.rate:g}"


def arms_of(bounds: list[int], algorithms: list[str]) -> list[Arm]:
    """Every bound with every algorithm, and the largest bound with a rate that keeps bound x rate."""
    arms = [Arm(a, b, RATE) for a in algorithms for b in bounds]
    stale = sorted(b for b in bounds if b)
    if len(stale) > 1:
        arms += [Arm(a, stale[-1], RATE * stale[0] / stale[-1]) for a in algorithms]
    return arms


def warm_start(folder: Path, seed: int, options: argparse.Namespace) -> Path:
    """Weights after the recipe's SFT stage."""
    recipe = load_recipe(
        TINY, {"stages": ["sft"], "seed": seed, "threads": options.threads, "evaluate.tasks": 1}
    )
    run = train(recipe, folder, console=Console(quiet=True, stdout=sys.stderr))
    return sorted((run.run_dir / "checkpoints").glob("step_*"))[-1] / "hf"


def measure_arm(
    arm: Arm, seed: int, model: Path, folder: Path, options: argparse.Namespace
) -> dict[str, float]:
    """Figures of one RL stage."""
    recipe = load_recipe(
        TINY,
        {
            "stages": ["rl"], "seed": seed, "threads": options.threads, "model.name": str(model),
            "algorithm.name": arm.algorithm, "rollout.staleness": arm.bound, "rl.lr": arm.rate,
            "rl.steps": options.steps, "evaluate.tasks": options.tasks,
        },
    )  # fmt: skip
    run = train(recipe, folder, console=Console(quiet=True, stdout=sys.stderr))
    with RunStore.open(run.run_dir / "run.sqlite") as store:
        rewards = [v for _, v in store.metrics("rl", "reward")]
        shares = [v for _, v in store.metrics("rl", "ess")]
        gaps = [v for _, v in store.metrics("rl", "mismatch_k3")]
        outcomes = store.evaluations("rl", "sampled")
    return {
        "reward": fmean(rewards[-max(1, len(rewards) // 4) :]),
        "success": fmean(float(bool(o.passed)) for o in outcomes),
        "least_ess": min(shares, default=1.0),
        "mismatch_k3": fmean(gaps) if gaps else 0.0,
    }


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All arms, seed by seed, so that every arm of a seed begins with the same weights."""
    arms = arms_of(options.bounds, options.algorithms)
    found: dict[Arm, list[dict[str, float]]] = {arm: [] for arm in arms}
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(options.seeds):
            model = warm_start(Path(scratch) / f"sft-{seed}", seed, options)
            for number, arm in enumerate(arms):
                print(f"seed {seed}: {arm.name}", file=sys.stderr, flush=True)
                folder = Path(scratch) / f"{seed}-{number}"
                found[arm].append(measure_arm(arm, seed, model, folder, options))
    return {
        "benchmark": "staleness",
        "machine": machine(options.threads),
        "workload": {
            "recipe": TINY.name,
            "steps": options.steps,
            "seeds": options.seeds,
            "tasks": options.tasks,
        },
        "arms": {arm.name: summary(rows) for arm, rows in found.items()},
    }


def summary(rows: list[dict[str, float]]) -> dict[str, Any]:
    """Mean of each figure, and its spread over seeds."""
    names = rows[0]
    return {
        n: {"mean": fmean(r[n] for r in rows), "sd": stdev(r[n] for r in rows) if len(rows) > 1 else None}
        for n in names
    }


def table(result: dict[str, Any]) -> str:
    """The result for people."""
    lines = [f"{'arm':<28}{'reward':>9}{'success':>9}{'least ESS':>11}{'k3, nats':>11}"]
    for name, row in result["arms"].items():
        reward, success, ess, gap = (
            row[n]["mean"] for n in ("reward", "success", "least_ess", "mismatch_k3")
        )
        lines.append(f"{name:<28}{reward:>9.3f}{100 * success:>8.1f}%{ess:>11.3f}{gap:>11.2e}")
    return "\n".join(lines)


def whole_numbers(text: str) -> list[int]:
    """Numbers separated by commas."""
    return [int(part) for part in text.split(",")]


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bounds", type=whole_numbers, default=[0, 2, 8], help="0 to 8, separated by commas")
    parser.add_argument("--algorithms", type=lambda text: text.split(","), default=["dppo"])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--tasks", type=int, default=24, help="evaluation tasks of each domain")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parser.parse_args(arguments)


def main() -> None:
    """Measure and print."""
    options = options_of()
    result = measure(options)
    print(json.dumps(result, indent=2) if options.json else table(result))


if __name__ == "__main__":
    main()
