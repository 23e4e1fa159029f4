"""Our training loop, one step at a time: reports each step and waits to be told to go on."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from pipe import Pipe

from burnish.bench.workloads import step_recipe
from burnish.observe.console import Console
from burnish.pipeline import train

PIPE = Pipe()


class Halting(Console):
    """Reports the step that ended, then waits."""

    def step(self, stage: str, step: int, total: int, metrics: Mapping[str, float]) -> None:
        """Called when a step is recorded."""
        PIPE.send(kind="step", step=step, reward=metrics.get("reward"), figures=dict(metrics))
        PIPE.receive()


def main(settings: dict[str, Any]) -> None:
    """Train by a recipe that does what the other side does."""
    recipe = step_recipe(
        settings["workload"], settings["model"], settings["steps"], reward=settings["reward"],
        **{
            "seed": settings["seed"], "threads": settings["threads"], "rl.lr": settings["lr"],
            "rollout.max_tokens": settings["max_tokens"],
        },
    )  # fmt: skip
    train(recipe, Path(settings["folder"]) / "run", console=Halting(quiet=True))
    PIPE.send(kind="end")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
