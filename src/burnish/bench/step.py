"""Where the seconds of a training step go, on two workloads, each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from burnish.bench.child import run_child
from burnish.bench.machine import machine
from burnish.bench.parts import PARTS
from burnish.bench.workloads import WORKLOADS
from burnish.errors import TrainingError

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class StepPlan:
    """What `burnish bench step` measures."""

    model: str
    steps: int = 3
    workloads: tuple[str, ...] = tuple(WORKLOADS)
    reward: str = "random"
    """`random` gives every group signal; `true` is what graders say."""
    threads: int = 0
    timeline: Path | None = None
    """Folder for a time line of each workload."""
    more: tuple[tuple[str, Any], ...] = ()
    """Recipe keys that differ, by dotted name."""


def bench_step(plan: StepPlan, say: Say = lambda _: None) -> dict[str, Any]:
    """Every workload in turn: means of the parts of a step; one step of them saves a checkpoint.

    Raises:
        TrainingError: nothing of the step was recorded.
    """
    import torch  # noqa: PLC0415 - the number of threads of this machine

    return {
        "benchmark": "step",
        "machine": machine(plan.threads or torch.get_num_threads()),
        "workload": {
            "model": plan.model, "reward": plan.reward, "prompts": 8, "samples": 8, "steps": plan.steps,
        },
        "workloads": {name: _measure(plan, name, say) for name in plan.workloads},
    }  # fmt: skip


def _measure(plan: StepPlan, workload: str, say: Say) -> dict[str, Any]:
    say(f"training steps: {workload}")
    line = None if plan.timeline is None else str(plan.timeline / f"timeline-{workload}.json")
    found = run_child(
        "steps",
        {
            "workload": workload, "model": plan.model, "steps": plan.steps, "threads": plan.threads,
            "reward": plan.reward, "timeline": line, "more": dict(plan.more),
        },
    )  # fmt: skip
    steps = found["steps"]
    if not steps:
        raise TrainingError("no training step was recorded", expected=f"{plan.steps} steps")
    return {
        "total": fmean(step["total"] for step in steps),
        "share_outside": sum(step["outside"] for step in steps) / sum(step["total"] for step in steps),
        "seconds": {name: fmean(step[name] for step in steps) for name in (*PARTS, "other")},
        "peak_bytes": found["peak_bytes"],
        "steps": steps,
    }
