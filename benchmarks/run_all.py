"""Every benchmark in one go: `make bench`. Writes results/DATE.json and results/DATE.svg.

A benchmark is a program that prints one JSON object on standard output when it is given `--json`. They run
one after another, because two at once would measure each other. `--only` chooses some by name, `--long` takes
the lengths that the promises name instead of those that fit into a quarter of an hour.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from environments import HERE, say
from plot import plot


@dataclass(frozen=True)
class Benchmark:
    """One line of the table."""

    name: str
    minutes: float
    """About how long it takes on two cores."""
    command: tuple[str, ...]
    long: tuple[str, ...] = ()
    """Arguments added by `--long`."""
    optional: bool = False
    """Left out when its file is not there."""


def _cli(*words: str) -> tuple[str, ...]:
    return ("-m", "burnish", "bench", *words)


BENCHMARKS = (
    Benchmark("rollout", 2.5, ("vllm_rollout.py",), ("--rounds", "5")),
    Benchmark("update", 2, _cli("update", "--rounds", "1"), ("--rounds", "3")),
    Benchmark("step", 1.5, _cli("step"), ("--steps", "8")),
    Benchmark("against_trl", 4, ("against_trl.py", "--steps", "2"), ("--steps", "10")),
    Benchmark("memory", 2, ("memory.py", "--steps", "12"), ("--steps", "1000")),
    Benchmark("kill_resume", 2, ("kill_resume.py",), (), optional=True),
    Benchmark("staleness", 2, ("staleness.py",), ("--bounds", "0,1,2,4,8", "--steps", "120", "--seeds", "3")),
    Benchmark("domains", 1, ("claims/domains_cost.py", "--steps", "60"), ("--steps", "1000")),
    Benchmark("sandbox", 1.5, ("sandbox.py",)),
    Benchmark("int8_rollout", 1, ("int8_rollout.py", "--tokens", "16", "--rounds", "1"), ("--tokens", "64")),
)
"""The order in which they run."""


def run(benchmark: Benchmark, *, long: bool) -> dict[str, Any]:
    """The result of one benchmark, or what went wrong."""
    words = [*benchmark.command, "--json", *(benchmark.long if long else ())]
    if words[0].endswith(".py"):
        words[0] = str(HERE / words[0])
    began = time.monotonic()
    done = subprocess.run([sys.executable, *words], stdout=subprocess.PIPE, text=True, check=False)
    seconds = time.monotonic() - began
    try:
        found = json.loads(done.stdout[done.stdout.index("{") :])
    except ValueError:
        found = {"error": f"exit code {done.returncode}, and no JSON on standard output"}
    return found | {"exit_code": done.returncode, "wall_seconds": seconds}


def main() -> int:
    """Run what was asked for; the exit code is 1 when one of them failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="names separated by commas")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--list", action="store_true", help="show the table and stop")
    options = parser.parse_args()
    wanted = [name for name in options.only.split(",") if name]
    unknown = set(wanted) - {b.name for b in BENCHMARKS}
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}; --list shows them")
    chosen = [b for b in BENCHMARKS if _chosen(b, wanted)]
    if options.list:
        print("\n".join(f"{b.name:<14}{b.minutes:>5} min   {' '.join(b.command)}" for b in chosen))
        return 0
    return measure(chosen, long=options.long)


def _chosen(benchmark: Benchmark, wanted: list[str]) -> bool:
    there = not benchmark.optional or (HERE / benchmark.command[0]).is_file()
    return there and (not wanted or benchmark.name in wanted)


def measure(chosen: list[Benchmark], *, long: bool) -> int:
    """Run them one after another; the file is written anew after each, so that nothing is lost."""
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    path = folder / f"{datetime.now(UTC):%Y-%m-%dT%H%M}.json"
    results: dict[str, Any] = {}
    for benchmark in chosen:
        say(f"== {benchmark.name} (about {benchmark.minutes} minutes)")
        results[benchmark.name] = run(benchmark, long=long)
        path.write_text(json.dumps(results, indent=1) + "\n")
        say(f"== {benchmark.name}: {results[benchmark.name].get('error', 'done')}")
    say(f"results: {path}")
    picture = plot(results, path.with_suffix(".svg"))
    say(f"plot: {picture}" if picture else "no plot: pip install -r benchmarks/requirements/plot.txt")
    return int(any("error" in found or found["exit_code"] for found in results.values()))


if __name__ == "__main__":
    sys.exit(main())
