"""Speed and memory of an update, each way in a process of its own; gradients compared in float32."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from burnish.bench.child import run_child
from burnish.bench.machine import machine
from burnish.bench.update_task import WAYS, Shape
from burnish.models.settings import ModelSettings

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class UpdatePlan:
    """What `burnish bench update` measures."""

    model: ModelSettings
    prompt_tokens: int = 512
    samples: int = 8
    completions: tuple[int, ...] = (32, 64, 128)
    prompts: int = 1
    rounds: int = 2
    repeats: int = 2
    """Updates timed in each process."""
    token_budget: int = 2048
    """Tokens of a micro-batch, our way."""
    gradient_tokens: int = 16
    """Completion tokens where gradients are compared."""
    threads: int = 0


def bench_update(plan: UpdatePlan, say: Say = lambda _: None) -> dict[str, Any]:
    """Ours and both naive ways at every completion length, in turn; then the gradients."""
    import torch  # noqa: PLC0415 - the number of threads of this machine

    cases = []
    for length in plan.completions:
        say(f"completions of {length} tokens")
        shape = Shape(plan.prompt_tokens, plan.samples, length, plan.prompts)
        cases.append(_case(plan, shape))
    say("gradients in float32")
    shape = Shape(plan.prompt_tokens, plan.samples, plan.gradient_tokens, 1)
    gradients = run_child(
        "gradients",
        {
            "model": plan.model.model_dump(mode="json"), "shape": asdict(shape),
            "token_budget": plan.token_budget, "threads": plan.threads,
        },
    )  # fmt: skip
    return {
        "benchmark": "update",
        "machine": machine(plan.threads or torch.get_num_threads()),
        "workload": {
            "model": plan.model.name, "dtype": plan.model.dtype, "prompt_tokens": plan.prompt_tokens,
            "samples": plan.samples, "prompts": plan.prompts, "token_budget": plan.token_budget,
        },
        "cases": cases,
        "gradients": gradients,
    }  # fmt: skip


def _case(plan: UpdatePlan, shape: Shape) -> dict[str, Any]:
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    peaks = dict.fromkeys(WAYS, 0)
    for number in range(plan.rounds):
        for way in WAYS if number % 2 == 0 else reversed(WAYS):
            found = run_child(
                "update",
                {
                    "way": way, "model": plan.model.model_dump(mode="json"), "shape": asdict(shape),
                    "repeats": plan.repeats, "token_budget": plan.token_budget, "threads": plan.threads,
                },
            )  # fmt: skip
            seconds[way] += found["seconds"]
            peaks[way] = max(peaks[way], found["peak_bytes"])
    sequences = shape.prompts * shape.samples * (shape.prompt_tokens + shape.completion_tokens)
    return {
        "completion_tokens": shape.completion_tokens,
        "ways": {
            way: {
                "seconds": seconds[way],
                "tokens_per_second": sequences / median(seconds[way]),
                "completion_tokens_per_second": shape.completion_total / median(seconds[way]),
                "peak_bytes": peaks[way],
                "speed_ratio": median(seconds[way]) / median(seconds["ours"]),
                "memory_ratio": peaks["ours"] / peaks[way] if peaks[way] else None,
            }
            for way in WAYS
        },
    }
