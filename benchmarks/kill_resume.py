"""Kill a run with SIGKILL at 50 random instants and at every named fault point, resume it, compare.

What must be equal to the run that nobody disturbed: weights and optimiser bit for bit, every figure, the
ledger, every sample with its verdict, every evaluation, the checkpoints that are kept. After each kill and at
the end `burnish runs check` must hold, and no process may outlive the killed trainer.

Besides: the time from a cold start of `burnish train --resume` to the end of its first step.

    python benchmarks/kill_resume.py                 50 random kills, all places
    python benchmarks/kill_resume.py --kills 200     more of them
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

from killing import KINDS, Case, Harness, Outcome, Trainer, named_cases, random_cases, recipe_file

COLD = 3
"""Cold restarts that are timed."""
EVERY_SO_OFTEN = 7
"""One random case in so many is with worker processes, which take seconds to start."""


def cases(kills: int, seed: int) -> list[Case]:
    """All cases: named places over the kinds that draw in the trainer, random instants over all kinds."""
    alone = [kind for kind in KINDS if "workers" not in KINDS[kind]]
    pooled = [kind for kind in KINDS if "workers" in KINDS[kind]]
    rare = len(range(EVERY_SO_OFTEN - 1, kills, EVERY_SO_OFTEN))
    return [
        *named_cases(alone),
        *random_cases(kills - rare, alone, seed),
        *random_cases(rare, pooled, seed + 1),
    ]


def strike_all(folder: Path, chosen: Sequence[Case], lanes: int) -> list[Outcome]:
    """Do the cases, some at a time."""
    say("the runs that nobody disturbs")
    harness = Harness(folder, sorted({case.kind for case in chosen}))
    done: list[Outcome] = []
    with ThreadPoolExecutor(lanes) as pool:
        for outcome in pool.map(harness.do, chosen):
            done.append(outcome)
            verdict = "; ".join(outcome.problems) or "identical"
            say(f"{len(done):>3}/{len(chosen)} {outcome.kind}, {outcome.name}: {verdict}")
    return done


def cold_restart(folder: Path, number: int) -> dict[str, float]:
    """Kill a run in its reinforcement learning, and time a fresh interpreter that continues it.

    Returns:
        Seconds to the first word of the command, and to the end of the first step done again.
    """
    run = folder / f"cold-{number}"
    recipe = recipe_file(folder, "two steps ahead")
    Trainer(run, [str(recipe), "--run-dir", str(run)], "rl.after_record:5:kill").wait()
    began = time.monotonic()
    command = [sys.executable, "-m", "burnish", "train", "--resume", str(run), "--json"]
    times: dict[str, float] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        for line in process.stdout or ():
            times.setdefault("first_word", time.monotonic() - began)
            if json.loads(line)["event"] == "step":
                times.setdefault("next_step", time.monotonic() - began)
    if process.returncode != 0:
        raise AssertionError(f"resume ended with exit code {process.returncode}")
    return times


def result(
    outcomes: Sequence[Outcome], restarts: Sequence[dict[str, float]], seconds: float
) -> dict[str, Any]:
    """The JSON object that is printed."""
    from burnish.bench.machine import machine

    different = [asdict(o) for o in outcomes if o.problems]
    return {
        "machine": machine(),
        "cases": len(outcomes),
        "kills": sum(o.kills for o in outcomes),
        "identical": len(outcomes) - len(different),
        "different": different,
        "restart_seconds": {
            name: {"median": median(values), "most": max(values)}
            for name in ("first_word", "next_step")
            if (values := [r[name] for r in restarts])
        },
        "seconds": seconds,
        "outcomes": [asdict(o) for o in outcomes],
    }


def main() -> int:
    """Exit code 1 when a single run differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50, help="random instants")
    parser.add_argument("--seed", type=int, default=0, help="of the instants")
    parser.add_argument("--lanes", type=int, default=min(2, os.cpu_count() or 1), help="runs at a time")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="burnish-kill-", ignore_cleanup_errors=True) as name:
        outcomes = strike_all(Path(name), cases(options.kills, options.seed), options.lanes)
        restarts = [cold_restart(Path(name), number) for number in range(COLD)]
    found = result(outcomes, restarts, time.monotonic() - began)
    if options.json:
        print(json.dumps(found))
    next_step = found["restart_seconds"]["next_step"]["median"]
    say(
        f"{found['kills']} kills in {found['cases']} runs, {found['identical']} identical to the undisturbed "
        f"run; {next_step:.1f} s from a cold restart to the next step"
    )
    return int(bool(found["different"]))


def say(text: str) -> None:
    """A line for people, on standard error."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
