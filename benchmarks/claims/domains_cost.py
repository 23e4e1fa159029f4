"""What a thousand domains cost beside the model: made ready, a step of 64 prompts, memory over 1,000 steps.

Every family that this package can make without a file is there several times under names and with tasks of
its own, until there are `--domains`; programs (`code/*`) are left out, they cost what the sandbox costs. No
model takes part: answers are the reference answers and wrong ones.

    python benchmarks/claims/domains_cost.py                  the promise: 1,000 domains, 1,000 steps, minutes
    python benchmarks/claims/domains_cost.py --steps 50       a look

Ready means: a new process, from before its first import of the package to the first draw of 64 prompts.
What the curriculum adds to a step is a draw, a look ahead, what it learns from the outcomes, and its state
as plain data. Tasks and verdicts are timed in this process, one after another; in a run, workers make the
tasks of a step while the model is at work on the step before.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burnish.curriculum.base import Draw, Outcome
    from burnish.domains.base import Domain
    from burnish.records import Sample, Split, Task, Verdict

PROMPTS = 64
READY_SECONDS, STEP_SECONDS = 5.0, 0.005
FLAT = 5e6
"""Bytes by which the second half of the run may raise the memory."""
SETTLED = 500
"""Steps from which that is asked: before, generators are still being loaded and caches filled."""
LEVELS = {"*": 0, "reasoning-gym/*": 0}
"""As a recipe has them: patterns that every domain is held against."""
WRONG = "I don't know"
HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Variant:
    """A domain under another name, whose tasks are every `of`-th of the inner one's."""

    inner: Domain
    number: int
    of: int

    @property
    def name(self) -> str:
        """Full name."""
        return f"{self.inner.name}/{self.number}"

    @property
    def levels(self) -> int:
        """Levels of the inner domain."""
        return self.inner.levels

    def size(self, split: Split, level: int) -> int | None:
        """None: the inner domains are generated."""
        return self.inner.size(split, level)

    def task(self, split: Split, level: int, index: int) -> Task:
        """A task of the inner domain."""
        made = self.inner.task(split, level, index * self.of + self.number)
        return replace(made, domain=self.name, index=index)

    def grade(self, task: Task, sample: Sample) -> Verdict:
        """The inner verdict."""
        return self.inner.grade(task, sample)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    what: str
    value: float
    """Seconds or bytes."""
    unit: str
    limit: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the value is within its limit."""
        return self.limit is None or self.value <= self.limit


def variants(count: int) -> list[Domain]:
    """`count` domains, in turn from every family."""
    from burnish.domains.registry import default_registry

    registry = default_registry()
    inner = [registry.load(name) for name in registry.resolve(["*"], exclude=["code/*"])]
    of = -(-count // len(inner))
    return [Variant(one, number, of) for number in range(of) for one in inner][:count]


def set_up(count: int) -> tuple[Any, Any]:
    """The domains of a run and its curriculum."""
    from burnish.curriculum.base import build
    from burnish.curriculum.settings import CurriculumSettings
    from burnish.domains.registry import build_domains
    from burnish.domains.settings import DomainSettings

    domains = build_domains(DomainSettings(levels=LEVELS), extra=variants(count))
    return domains, build(CurriculumSettings(), domains.levels, 0)


def first_draw(count: int) -> float:
    """Seconds until the first draw, when nothing is imported yet."""
    began = time.perf_counter()
    _, curriculum = set_up(count)
    curriculum.draw(curriculum.start(), PROMPTS)
    return time.perf_counter() - began


def ready(count: int) -> Row:
    """New processes until their first draw."""
    code = f"from domains_cost import first_draw; print(first_draw({count}))"
    command = [sys.executable, "-c", code]
    runs = [subprocess.run(command, cwd=HERE, check=True, capture_output=True, text=True) for _ in range(3)]
    return Row(f"{count:,} domains ready", median(float(run.stdout) for run in runs), "s", READY_SECONDS)


@dataclass
class Clock:
    """Seconds of each part of each step, and memory after it."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    resident: list[int] = field(default_factory=list)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Time what happens inside."""
        began = time.perf_counter()
        yield
        self.seconds.setdefault(name, []).append(time.perf_counter() - began)


def run(count: int, steps: int) -> Clock:
    """Steps without a model: draw, make the tasks, grade two answers to each, observe."""
    import psutil

    from burnish.domains.prefetch import TaskPool

    clock, process = Clock(), psutil.Process()
    domains, curriculum = set_up(count)
    by_name, state = {domain.name: domain for domain in domains.all}, curriculum.start()
    with TaskPool(domains.all, workers=0) as pool:
        for step in range(steps):
            with clock.part("curriculum"):
                draws, state = curriculum.draw(state, PROMPTS)
                curriculum.draw(state, PROMPTS)
            with clock.part("tasks"):
                tasks = pool.get_or_failure(places(draws))
            with clock.part("grading"):
                verdicts = [
                    graded(by_name[draw.domain], task) for draw, task in zip(draws, tasks, strict=True)
                ]
            with clock.part("learning"):
                state = curriculum.observe(
                    state, [outcome(d, v) for d, v in zip(draws, verdicts, strict=True)]
                )
                state.to_json()
            clock.resident.append(process.memory_info().rss)
            if step % 100 == 99:
                print(f"step {step + 1}: {clock.resident[-1] / 1e6:.0f} MB", file=sys.stderr, flush=True)
    return clock


def places(draws: Sequence[Draw]) -> list[tuple[str, Split, int, int]]:
    """Where the tasks of draws stand."""
    from burnish.records import Split

    return [(draw.domain, Split.TRAIN, draw.level, draw.index) for draw in draws]


def graded(domain: Domain, task: Task | str) -> list[Verdict]:
    """Verdicts on the reference answer and on a wrong one, under the time limit that a run has."""
    from burnish.records import Sample
    from burnish.training.collect import verdict_within

    if isinstance(task, str):
        return []
    return [verdict_within(60.0, domain, task, Sample(text)) for text in (task.gold or "", WRONG)]


def outcome(draw: Draw, verdicts: Sequence[Verdict]) -> Outcome:
    """What a curriculum is told."""
    from burnish.curriculum.base import Outcome
    from burnish.records import Scored

    scored = [verdict for verdict in verdicts if isinstance(verdict, Scored)]
    values = tuple(verdict.value for verdict in scored)
    return Outcome(draw, values, sum(v.passed for v in scored), len(verdicts) - len(scored))


def table(count: int, clock: Clock) -> list[Row]:
    """What the steps came to; the first tenth is warm-up."""
    steps = len(clock.resident)
    warm = steps // 10
    seconds = {name: median(found[warm:]) for name, found in clock.seconds.items()}
    grown = clock.resident[-1] - clock.resident[steps // 2]
    return [
        Row("curriculum, a step", seconds["curriculum"] + seconds["learning"], "ms", STEP_SECONDS),
        Row(f"{PROMPTS} tasks made, a step", seconds["tasks"], "ms"),
        Row("one verdict", seconds["grading"] / PROMPTS / 2, "ms"),
        Row(f"memory after {steps:,} steps", clock.resident[-1], "MB"),
        Row(f"growth from step {steps // 2:,} to {steps:,}", grown, "MB", FLAT if steps >= SETTLED else None),
    ]


def shown(row: Row) -> str:
    """A line of Markdown."""
    scale, unit = {"s": (1.0, "s"), "ms": (1e3, "ms"), "MB": (1e-6, "MB")}[row.unit]
    limit = "" if row.limit is None else f"{row.limit * scale:g} {unit}, {'holds' if row.holds else 'MISSED'}"
    return f"| {row.what} | {row.value * scale:.3g} {unit} | {limit} |"


def main() -> int:
    """Exit code 1 when a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--domains", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of the table")
    given = parser.parse_args()
    rows = [ready(given.domains), *table(given.domains, run(given.domains, given.steps))]
    if given.json:
        from burnish.bench.machine import machine

        found = [{**asdict(row), "holds": row.holds} for row in rows]
        print(json.dumps({"machine": machine(1), "rows": found}))
    else:
        print("\n".join(["| what | measured | limit |", "|---|---|---|", *map(shown, rows)]))
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
