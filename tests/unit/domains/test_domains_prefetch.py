"""Tasks made ahead: in workers or here, kept, in order, with failures as records."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from burnish.domains.functions import domain
from burnish.domains.prefetch import TaskPool
from burnish.domains.reasoning_gym import make_domain
from burnish.records import Sample, Scored, Split, Task, Verdict


def make(rng: Random, level: int) -> tuple[str, int]:
    number = rng.randrange(10_000)
    return f"What is {number} + 1?", number + 1


OWN = domain("mine/next", make)


@dataclass
class Traced:
    """Answers with the process that made the task; every third task fails."""

    name: str = "mine/traced"
    levels: int = 1

    def size(self, split: Split, level: int) -> int | None:
        return None

    def task(self, split: Split, level: int, index: int) -> Task:
        if index % 3 == 2:
            raise ValueError(f"no task {index}")
        return Task(self.name, split, level, index, (), gold=str(os.getpid()))

    def grade(self, task: Task, sample: Sample) -> Verdict:
        return Scored(0.0, passed=False)


class Dying(Traced):
    """Ends the process that asks for a task, unless it is the one that made the domain."""

    def __init__(self) -> None:
        super().__init__("mine/dying")
        self.home = os.getpid()

    def task(self, split: Split, level: int, index: int) -> Task:
        if os.getpid() != self.home:
            os._exit(3)
        return Task(self.name, split, level, index, (), gold="here")


def places(name: str, count: int, split: Split = Split.TRAIN) -> list[tuple[str, Split, int, int]]:
    return [(name, split, 0, index) for index in range(count)]


@pytest.mark.parametrize("workers", [0, 2])
def test_tasks_come_in_order_and_are_those_of_the_domain(workers: int) -> None:
    gcd = make_domain("gcd")
    with TaskPool([gcd, OWN], workers) as pool:
        wanted = [
            place for pair in zip(places(gcd.name, 9), places(OWN.name, 9), strict=True) for place in pair
        ]
        made = pool.get(wanted)
    assert [(t.domain, t.split, t.level, t.index) for t in made] == wanted
    assert made[::2] == [gcd.task(Split.TRAIN, 0, index) for index in range(9)]


def test_workers_make_the_tasks() -> None:
    with TaskPool([Traced()], workers=1) as pool:
        assert {task.gold for task in pool.get(places("mine/traced", 2))} != {str(os.getpid())}


@pytest.mark.parametrize("workers", [0, 1])
def test_one_failing_task_is_recorded_and_not_fatal(workers: int) -> None:
    with TaskPool([Traced()], workers) as pool:
        made = pool.get_or_failure(places("mine/traced", 4))
        assert [isinstance(task, Task) for task in made] == [True, True, False, True]
        assert made[2] == "ValueError: no task 2"
        assert pool.last_failure("mine/traced") == "ValueError: no task 2"
        assert len(pool.made("mine/traced")) == 3


def test_progress_counts_every_place() -> None:
    with TaskPool([OWN], workers=1) as pool:
        steps: list[int] = []
        pool.prefetch(places(OWN.name, 10), on_done=steps.append)
    assert sum(steps) == 10


def test_a_task_is_made_once() -> None:
    calls: list[int] = []

    def counted(rng: Random, level: int) -> tuple[str, int]:
        calls.append(1)
        return make(rng, level)

    own = domain("mine/counted", counted)
    with TaskPool([own], workers=2) as pool:
        first = pool.get(places(own.name, 5))
        before = len(calls)
        assert pool.get(places(own.name, 5)) == first
    assert len(calls) == before, "an object that cannot be pickled is made here, and kept"


def test_of_the_training_split_only_the_latest_tasks_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnish.domains.prefetch._KEPT_TRAIN", 6)
    with TaskPool([OWN], workers=0) as pool:
        assert len(pool.get(places(OWN.name, 4, Split.EVAL))) == 4
        assert [task.index for task in pool.get(places(OWN.name, 20))] == list(range(20))
        kept = pool.made(OWN.name)
        assert [task.index for task in kept if task.split is Split.TRAIN] == list(range(14, 20))
        assert sum(task.split is Split.EVAL for task in kept) == 4
        assert [task.index for task in pool.get(places(OWN.name, 3))] == [0, 1, 2]


def test_a_worker_that_dies_is_stood_in_for() -> None:
    with TaskPool([Dying()], workers=1) as pool:
        assert [task.gold for task in pool.get(places("mine/dying", 6))] == ["here"] * 6


class Sleepy(Traced):
    """Takes a minute a task."""

    def task(self, split: Split, level: int, index: int) -> Task:
        time.sleep(60)
        return super().task(split, level, index)


def test_closing_does_not_wait_for_tasks_under_way() -> None:
    start = time.monotonic()
    with TaskPool([Sleepy("mine/sleepy")], workers=1) as pool:
        pool.prefetch(places("mine/sleepy", 8))
        time.sleep(1)
    assert time.monotonic() - start < 20


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    """Workers do not run the script again; what it defines is made in its own process."""
    script = tmp_path / "run.py"
    script.write_text(
        "print('started')\n"
        "from burnish.domains.functions import domain\n"
        "from burnish.domains.prefetch import TaskPool\n"
        "from burnish.domains.reasoning_gym import make_domain\n"
        "from burnish.records import Split\n"
        "own = domain('mine/x', lambda rng, level: (str(rng.random()), 1))\n"
        "def make(rng, level): return str(rng.random()), 1\n"
        "named = domain('mine/y', make)\n"
        "gcd = make_domain('gcd')\n"
        "with TaskPool([own, named, gcd], workers=1) as pool:\n"
        "    print(len(pool.get([(d.name, Split.TRAIN, 0, 0) for d in (own, named, gcd)])))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, str(script)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout == "started\n3\n"
    assert done.stderr == ""
