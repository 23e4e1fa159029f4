"""One step of TRL's GRPOTrainer against one of ours: same model, prompts, rewards and sizes, taking turns.

Both programs run at once and are stopped between steps, so a step of one is followed by a step of the other
on an otherwise idle machine. The seconds are those between "go" and the end of the step, everything included.
Peak memory is that of the process and its children from the end of the first step on.

    python benchmarks/against_trl.py --workloads chain_sum,short_answers --steps 3 --json
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import fmean, median
from typing import Any

import psutil
from environments import HERE, python_of, say
from models import model_folder

from burnish.bench.child import memory
from burnish.bench.machine import machine
from burnish.bench.workloads import WORKLOADS, step_recipe
from burnish.models.precision import has_fast_bfloat16
from burnish.pipeline.parts import curriculum_of, domains_of
from burnish.records import Sample, Scored, Split, Task
from burnish.rewards.judge import judge

PROMPTS = 8
SAMPLES = 8
MODEL = {"chain_sum": "raw", "short_answers": "warm"}
"""The raw model writes long answers to sums, as 64 tokens allow; the warm one short answers."""
REWARD = {"chain_sum": "random", "short_answers": "true"}
"""The raw model is never right: coin flips give its groups signal, so that both sides have work."""


@dataclass
class Side:
    """One of the two programs."""

    name: str
    process: subprocess.Popen[str]
    tasks: list[Task]
    judges: dict[str, Any]
    coin: Random | None
    seconds: list[float] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)
    peak: int = 0
    ended: bool = False

    def step(self, *, first: bool = False) -> None:
        """Let it run until its next step has ended."""
        began = time.perf_counter()
        if not first:
            self._tell({"kind": "go"})
        while (message := self._hear())["kind"] == "grade":
            self._tell({"rewards": self._grade(message)})
        if message["kind"] == "end":
            self.ended = True
            return
        if message.get("reward") is not None:
            self.rewards.append(message["reward"])
        self._remember(time.perf_counter() - began, first)

    def _remember(self, seconds: float, first: bool) -> None:
        if first:
            self._reset_peak()
            return
        self.seconds.append(seconds)
        self.peak = max(self.peak, sum(memory("VmHWM", pid) for pid in self._family()))

    def _family(self) -> list[int]:
        me = psutil.Process(self.process.pid)
        return [me.pid, *(child.pid for child in me.children(recursive=True))]

    def _reset_peak(self) -> None:
        for pid in self._family():
            try:
                Path(f"/proc/{pid}/clear_refs").write_text("5")
            except OSError:
                say(f"{self.name}: the peak of memory counts from its start")

    def _grade(self, message: dict[str, Any]) -> list[float]:
        values = []
        for row, text in zip(message["rows"], message["texts"], strict=True):
            task = self.tasks[row]
            verdict = judge(self.judges[task.domain], task, Sample(text))
            value = verdict.value if isinstance(verdict, Scored) else 0.0
            values.append(float(self.coin.random() < 0.5) if self.coin else value)
        self.rewards.append(fmean(values))
        if message["tokens"]:
            self.lengths.append(fmean(message["tokens"]))
        return values

    def _tell(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None  # noqa: S101
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def _hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None  # noqa: S101
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended with code {self.process.wait()}; its log is shown above")
        return json.loads(line)

    def close(self) -> None:
        """End it, finished or not."""
        self.process.kill()
        self.process.wait()

    def figures(self) -> dict[str, Any]:
        """What was measured."""
        return {
            "seconds_per_step": median(self.seconds),
            "seconds": self.seconds,
            "peak_bytes": self.peak,
            "reward": self.rewards,
            "mean_reward": fmean(self.rewards) if self.rewards else None,
            "completion_tokens": self.lengths or None,
        }


def measure(workload: str, options: argparse.Namespace) -> dict[str, Any]:
    """Both sides on one workload."""
    name = options.model or MODEL[workload]
    reward = options.reward or REWARD[workload]
    model, steps = model_folder(name), options.steps + options.warm_up
    common = {
        "workload": workload, "model": str(model), "samples": SAMPLES, "prompts_per_step": PROMPTS,
        "max_tokens": options.max_tokens or WORKLOADS[workload]["max_tokens"], "steps": steps + 1,
        "lr": options.lr, "seed": options.seed, "threads": options.threads, "reward": reward,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        sides: list[Side] = []
        try:
            # The second starts when the first waits: two that warm up at once take ten times as long.
            for begin in (
                lambda: start_trl(common, Path(folder), options),
                lambda: start_ours(common, Path(folder)),
            ):
                sides.append(begin())
                say(f"{workload}: step 1 of {steps}, {sides[-1].name}")
                sides[-1].step(first=True)
            for number in range(1, steps):
                for side in sides if number % 2 == 0 else reversed(sides):
                    say(f"{workload}: step {number + 1} of {steps}, {side.name}")
                    side.step()
        finally:
            for side in sides:
                side.close()
    for side in sides:
        side.seconds = side.seconds[options.warm_up - 1 :]
    trl, ours = (side.figures() for side in sides)
    return {
        "model": name, "reward": reward, "max_tokens": common["max_tokens"], "steps": options.steps,
        "trl": trl, "ours": ours,
        "speed_ratio": trl["seconds_per_step"] / ours["seconds_per_step"],
        "memory_ratio": ours["peak_bytes"] / trl["peak_bytes"] if trl["peak_bytes"] else None,
    }  # fmt: skip


def start_trl(common: dict[str, Any], folder: Path, options: argparse.Namespace) -> Side:
    """TRL, with the prompts that our curriculum draws, in its order, and our graders for rewards."""
    recipe = step_recipe(common["workload"], "tiny", common["steps"], seed=common["seed"])
    domains = domains_of(recipe, ())
    curriculum = curriculum_of(recipe, domains)
    position, tasks = curriculum.start(), []
    for _ in range(common["steps"]):
        draws, position = curriculum.draw(position, PROMPTS)
        tasks += [domains.get(d.domain).task(Split.TRAIN, d.level, d.index) for d in draws]
    prompts = folder / "prompts.jsonl"
    rows = [{"messages": [{"role": m.role, "content": m.content} for m in t.messages]} for t in tasks]
    prompts.write_text("\n".join(map(json.dumps, rows)))
    settings = common | {
        "prompts": str(prompts), "folder": str(folder / "trl"), "batch": options.batch,
        "dtype": options.trl_dtype, "bf16": options.trl_bf16, "checkpointing": options.trl_checkpointing,
    }  # fmt: skip
    process = _start(python_of("trl"), "trl_side.py", settings, package=False)
    coin = Random(common["seed"]) if common["reward"] == "random" else None
    return Side("TRL", process, tasks, {d.name: d for d in domains.all}, coin)


def start_ours(common: dict[str, Any], folder: Path) -> Side:
    """This package."""
    process = _start(sys.executable, "ours_side.py", common | {"folder": str(folder / "ours")}, package=True)
    (folder / "ours").mkdir()
    return Side("ours", process, [], {}, None)


def _start(python: str, script: str, settings: dict[str, Any], *, package: bool) -> subprocess.Popen[str]:
    environment = {k: v for k, v in os.environ.items() if k not in {"VIRTUAL_ENV", "PYTHONPATH"}}
    if package:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    if settings["threads"]:
        environment["OMP_NUM_THREADS"] = str(settings["threads"])
    return subprocess.Popen(
        [python, str(HERE / "sides" / script), json.dumps(settings)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def table(result: dict[str, Any]) -> str:
    """The result for people."""
    lines = [
        f"{'workload':<16}{'who':<7}{'seconds a step':>15}{'peak memory':>13}{'mean reward':>13}{'faster':>9}"
    ]
    for name, found in result["workloads"].items():
        for side in ("trl", "ours"):
            f = found[side]
            ratio = f"{found['speed_ratio']:.1f}x" if side == "ours" else ""
            reward = "-" if f["mean_reward"] is None else f"{f['mean_reward']:.3f}"
            peak = f"{f['peak_bytes'] / 1e9:.2f} GB"
            lines.append(f"{name:<16}{side:<7}{f['seconds_per_step']:>15.2f}{peak:>13}{reward:>13}{ratio:>9}")
    return "\n".join(lines)


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workloads", default="chain_sum,short_answers")
    parser.add_argument("--steps", type=int, default=3, help="steps timed")
    parser.add_argument("--warm-up", type=int, default=1, help="steps before them, at least 1")
    parser.add_argument("--model", help="raw, warm or a folder; by default raw for chain_sum, else warm")
    parser.add_argument("--reward", choices=["true", "random"], help="random: coin flips on both sides")
    parser.add_argument("--max-tokens", type=int, help="longest completion")
    parser.add_argument("--batch", type=int, default=8, help="sequences in one pass of TRL's update")
    parser.add_argument("--lr", type=float, default=1e-5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--trl-dtype", choices=["bfloat16", "float32"], help="by default what is fast here")
    parser.add_argument("--trl-bf16", action=argparse.BooleanOptionalAction, help="likewise")
    parser.add_argument("--trl-checkpointing", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parser.parse_args(arguments)


def main() -> None:
    """Measure and print."""
    options = options_of()
    options.threads = options.threads or len(os.sched_getaffinity(0))
    fast = has_fast_bfloat16()
    options.trl_dtype = options.trl_dtype or ("bfloat16" if fast else "float32")
    options.trl_bf16 = fast if options.trl_bf16 is None else options.trl_bf16
    result = {
        "benchmark": "against_trl",
        "machine": machine(options.threads),
        "workload": {"prompts": PROMPTS, "samples": SAMPLES, **{k: getattr(options, k) for k in (
            "steps", "batch", "lr", "trl_dtype", "trl_bf16", "trl_checkpointing")}},
        "workloads": {name: measure(name, options) for name in options.workloads.split(",")},
    }  # fmt: skip
    print(json.dumps(result, indent=2) if options.json else table(result))


if __name__ == "__main__":
    main()
