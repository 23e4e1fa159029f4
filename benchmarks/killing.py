"""Runs that are killed with SIGKILL and resumed, compared bit for bit with one that was left alone.

A trainer is forked from a server that has loaded everything already, so that a case costs a second or two
instead of the start of an interpreter; from then on it is an ordinary process that is killed like any other.
"""

from __future__ import annotations

import json
import multiprocessing as mp
import os
import shutil
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

RECIPE: dict[str, Any] = {
    "name": "killed",
    "seed": 7,
    "threads": 1,
    "model": {
        "name": "tiny", "tiny_layers": 1, "tiny_hidden": 32, "tiny_intermediate": 64, "dtype": "float32",
    },
    "domains": {
        "instruction": "",
        "train": ["reasoning-gym/arithmetic/basic_arithmetic", "reasoning-gym/algorithmic/letter_counting"],
    },
    "rollout": {"samples": 4, "max_tokens": 6, "unit_prompts": 1, "task_workers": 0},
    "algorithm": {"kl_coef": 0.01},
    "sft": {"steps": 5, "batch": 4, "lr": 1e-3, "checkpoint_every": 2},
    # A coin gives every group a signal; a model this small would earn no reward.
    "rl": {
        "steps": 9, "prompts_per_step": 4, "lr": 1e-3, "reward": "random", "tokens_per_micro_batch": 64,
        "checkpoint_every": 2, "keep_every": 4,
    },
    "evaluate": {"tasks": 2, "samples": 1, "resamples": 100},
}  # fmt: skip
"""A run of a second or two through every stage. KL needs the policy that the stage began with."""

KINDS: dict[str, dict[str, Any]] = {
    "synchronous": {"task_workers": 1},
    "two steps ahead": {"staleness": 2},
    "two steps ahead, in parts": {"staleness": 2, "partial": True, "grading_workers": 4},
    "two steps ahead, two workers": {"staleness": 2, "workers": 2},
}
"""What the `rollout` table says besides."""

PLACES = {
    "before there is a database": "run.before_database:1",
    "after an update of sft": "sft.after_update:4",
    "mid-save, at the first file": "checkpoint.file:1",
    "mid-save, before the manifest": "checkpoint.before_manifest:2",
    "mid-save, before the rename": "checkpoint.before_rename:3",
    "mid-save, after the rename": "checkpoint.after_rename:4",
    "before an evaluation is saved": "run.before_evaluation_is_saved:2",
    "after an evaluation is saved": "run.after_evaluation_is_saved:2",
    "mid-rollout": "rollout.unit:19",
    "mid-grading": "grade.sample:60",
    "mid-update": "update.micro_batch:16",
    "after an update": "rl.after_update:6",
    "after a step is recorded": "rl.after_record:7",
}
"""Named fault points: which, and the how-manieth time it is passed."""

_TIMES = ("seconds", "rollout_seconds", "update_seconds", "tokens_per_second", "checkpoint_seconds")
"""Figures that measure the machine."""
_LEFTOVER_SECONDS = 60.0
"""A worker that is still importing when its trainer is killed notices only afterwards."""
_PATIENCE = 120.0

_server = mp.get_context("forkserver")
_server.set_forkserver_preload(["torch", "burnish.cli.train", "burnish.pipeline.run", "reasoning_gym"])


def recipe_file(folder: Path, kind: str) -> Path:
    """The recipe of a kind of run, as a file."""
    from burnish.recipe import build_recipe, to_toml

    recipe = {**RECIPE, "rollout": {**RECIPE["rollout"], **KINDS[kind]}}
    path = folder / f"{kind.replace(' ', '-').replace(',', '')}.toml"
    path.write_text(to_toml(build_recipe(recipe)), encoding="utf-8")
    return path


class Trainer:
    """`burnish train` in a process, and in a session, of its own."""

    def __init__(self, run: Path, words: Sequence[str], faults: str = "") -> None:
        self.began = time.monotonic()
        self.output = run.with_suffix(".txt")
        arguments = (str(self.output), ["train", *words], faults)
        self._process = _server.Process(target=_train, args=arguments)
        self._process.start()

    def kill_after(self, seconds: float) -> None:
        """SIGKILL at that moment, unless it has ended by then."""
        self._process.join(max(0.0, self.began + seconds - time.monotonic()))
        self._process.kill()

    def wait(self) -> int:
        """Its exit code, which is -9 after a SIGKILL; no process of its session is left then."""
        self._process.join(_PATIENCE)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
            raise AssertionError(f"did not end within {_PATIENCE:g} s\n{self.output.read_text()}")
        _expect_nobody_left(self._process.pid or 0)
        return self._process.exitcode


def _train(output: str, words: list[str], plan: str) -> None:
    os.setsid()
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    from burnish import faults
    from burnish.cli import main

    os.environ[faults.VARIABLE] = plan
    faults.set_plan(plan)
    code = main(words)
    sys.stdout.flush()
    os._exit(code)


def _expect_nobody_left(session: int) -> None:
    end = time.monotonic() + _LEFTOVER_SECONDS
    while left := _members(session):
        if time.monotonic() > end:
            raise AssertionError(f"processes {left} outlive their trainer")
        time.sleep(0.05)


def _members(session: int) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        try:
            fields = (
                Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split() if entry.isdigit() else []
            )
        except OSError:
            continue
        if fields and fields[0] != "Z" and int(fields[3]) == session:
            found.append(int(entry))
    return found


@dataclass
class Case:
    """A run of one kind, and where or when it is killed."""

    name: str
    kind: str
    place: str = ""
    """A named fault point; empty kills at the instants below."""
    instants: tuple[float, ...] = ()
    """For each life of the run, at which share of the uninterrupted run's time it is killed."""


@dataclass
class Outcome:
    """What became of a case."""

    name: str
    kind: str
    kills: int = 0
    where: list[str] = field(default_factory=list)
    """What the run was at when it was killed."""
    problems: list[str] = field(default_factory=list)
    """Differences from the run that was left alone; empty when there are none."""
    seconds: float = 0.0


@dataclass(frozen=True)
class Whole:
    """A run that nobody disturbed."""

    run: Path
    recipe: Path
    seconds: float


class Harness:
    """Keeps the uninterrupted runs, one of each kind, and does cases; several threads may share it."""

    def __init__(self, folder: Path, kinds: Sequence[str]) -> None:
        """Make the uninterrupted runs.

        Args:
            folder: everything lies in it.
            kinds: of the cases that will be done.
        """
        self._folder = folder
        self._numbers = count(1)
        self._whole = {kind: self._undisturbed(kind, number) for number, kind in enumerate(kinds)}

    def _undisturbed(self, kind: str, number: int) -> Whole:
        recipe, run = recipe_file(self._folder, kind), self._folder / f"whole-{number}"
        seconds = 0.0
        for _ in range(2):  # the first one also fills caches, so its time says nothing
            shutil.rmtree(run, ignore_errors=True)
            trainer = Trainer(run, [str(recipe), "--run-dir", str(run)])
            code, seconds = trainer.wait(), time.monotonic() - trainer.began
            if code != 0:
                raise AssertionError(trainer.output.read_text())
        return Whole(run, recipe, seconds)

    def do(self, case: Case) -> Outcome:
        """Kill, resume, compare."""
        began = time.monotonic()
        whole = self._whole[case.kind]
        outcome = Outcome(case.name, case.kind)
        run = self._folder / f"run-{next(self._numbers)}"
        try:
            if case.place:
                self._strike(outcome, whole, run, f"{case.place}:kill")
            for instant in case.instants:
                self._strike_at(outcome, whole, run, instant)
            outcome.problems += self._finish(whole, run) or differences(whole.run, run)
        except AssertionError as error:
            outcome.problems.append(str(error))
        outcome.seconds = time.monotonic() - began
        if not outcome.problems:
            shutil.rmtree(run)
        return outcome

    def _strike_at(self, outcome: Outcome, whole: Whole, run: Path, instant: float) -> None:
        """Kill at a share of the usual time; a run that was quicker than that is begun again."""
        while not self._strike(outcome, whole, run, after=instant * whole.seconds):
            if outcome.kills:
                return
            shutil.rmtree(run)
            instant *= 0.8

    def _strike(
        self, outcome: Outcome, whole: Whole, run: Path, faults: str = "", after: float | None = None
    ) -> bool:
        """Begin or continue the run and kill it; false when it ended before that."""
        trainer = Trainer(run, _words(run, whole.recipe), faults)
        if after is not None:
            trainer.kill_after(after)
        code = trainer.wait()
        if code == 0:
            if faults:
                outcome.problems.append(f"{faults} was never reached")
            return False
        if code != -signal.SIGKILL:
            outcome.problems.append(f"exit code {code}: {trainer.output.read_text()[-2000:]}")
        outcome.kills += 1
        outcome.where.append(_where(run))
        outcome.problems += _violations(run)
        return True

    def _finish(self, whole: Whole, run: Path) -> list[str]:
        if _status(run).get("state") == "finished":
            return []
        trainer = Trainer(run, _words(run, whole.recipe))
        code = trainer.wait()
        return [] if code == 0 else [f"exit code {code} on resume: {trainer.output.read_text()[-2000:]}"]


def _words(run: Path, recipe: Path) -> list[str]:
    """Arguments that begin a run, or continue it once there is something to continue."""
    if _status(run):
        return ["--resume", str(run)]
    shutil.rmtree(run, ignore_errors=True)
    return [str(recipe), "--run-dir", str(run)]


def _status(run: Path) -> dict[str, Any]:
    file = run / "status.json"
    return json.loads(file.read_text()) if file.is_file() else {}


def _where(run: Path) -> str:
    """The last thing a killed run said."""
    text = run.with_suffix(".txt").read_text() if run.with_suffix(".txt").is_file() else ""
    status = _status(run)
    last = text.strip().splitlines()[-1][:60] if text.strip() else "nothing said yet"
    return f"{status.get('stage', 'no run yet')}: {last}"


def _violations(run: Path) -> list[str]:
    """What `burnish runs check` finds in a run as it lies; nothing to check before there is a database."""
    from burnish.errors import BurnishError
    from burnish.store.check import check_run

    if not any((run / "checkpoints").glob("step_*")):
        return []
    try:
        return [f"check: {f.name}: {'; '.join(f.examples)}" for f in check_run(run) if not f.holds]
    except BurnishError as error:
        return [f"check: {error}"]


def differences(whole: Path, run: Path) -> list[str]:
    """In what two finished runs of one recipe differ, besides time."""
    looks: tuple[tuple[str, Callable[[Path], Any]], ...] = (
        ("checkpoints", checkpoints), ("ledger", ledger), ("metrics", metrics), ("samples", samples),
        ("evaluations", evaluations), ("summary", summary),
    )  # fmt: skip
    found = [name for name, look in looks if look(whole) != look(run)]
    told = [f"{name}: {_first_difference(dict(looks)[name], whole, run)}" for name in found]
    return told + _violations(run)


def _first_difference(look: Callable[[Path], Any], whole: Path, run: Path) -> str:
    one, other = look(whole), look(run)
    if isinstance(one, dict):
        one, other = sorted(one.items()), sorted(other.items())
    if isinstance(one, list):
        pairs = [p for p in zip(one, other, strict=False) if p[0] != p[1]]
        return f"{len(one)} against {len(other)}; {str(pairs[0])[:600] if pairs else 'one is longer'}"
    return f"{str(one)[:300]} against {str(other)[:300]}"


def checkpoints(run: Path) -> dict[str, Any]:
    """By folder: the hash of every file of tensors, the state without its clock, and batches under way."""
    found = {}
    for path in (run / "checkpoints").iterdir():
        files = json.loads((path / "manifest.json").read_text())["files"]
        tensors = {n: e["sha256"] for n, e in files.items() if n.endswith(".safetensors")}
        state = json.loads((path / "state.json").read_text()) | {"seconds": 0}
        pending = path / "pending.json"
        found[path.name] = tensors, state, pending.read_text() if pending.is_file() else ""
    return found


def ledger(run: Path) -> list[Any]:
    """Every group; how often a worker was given it is nobody's loss."""
    return _rows(
        run,
        "select ordinal, stage, step, domain, level, task_index, state, reason, version_first, version_last, "
        "tokens, trained_step, trained_version, times_trained from ledger",
    )


def metrics(run: Path) -> list[Any]:
    """Every figure but those that measure the machine."""
    rows = _rows(run, "select stage, step, ifnull(domain, ''), name, value from metrics order by 1, 2, 3, 4")
    return [row for row in rows if row[3] not in _TIMES]


def samples(run: Path) -> list[Any]:
    """Every completion of training with its verdict."""
    return _rows(
        run,
        "select s.stage, s.step, s.ordinal, s.sample_index, s.task_key, s.text, s.stop, s.tokens, "
        "s.mean_logprob, s.weight_version, s.advantage, v.kind, v.value, v.passed from samples s "
        "join verdicts v on v.sample_id = s.id order by 1, 2, 3, 4, 5",
    )


def evaluations(run: Path) -> list[Any]:
    """Every answer of every evaluation."""
    return _rows(run, "select * from evaluations order by 1, 3, 4, 5")


def summary(run: Path) -> dict[str, Any]:
    """`summary.json` without times."""
    return _timeless(json.loads((run / "summary.json").read_text()))


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if k != "seconds"}
    return [_timeless(v) for v in value] if isinstance(value, list) else value


def _rows(run: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(run / "run.sqlite")) as database:
        return database.execute(query).fetchall()


def random_cases(number: int, kinds: Sequence[str], seed: int) -> list[Case]:
    """Kills at instants drawn evenly over a run; every third run is killed again while it is resumed."""
    random = Random(seed)
    lives = [2 if n % 3 == 2 else 1 for n in range(number)]
    return [
        Case(f"random {n + 1}", kinds[n % len(kinds)], instants=tuple(random.random() for _ in range(k)))
        for n, k in enumerate(lives)
    ]


def named_cases(kinds: Sequence[str], places: Sequence[str] = tuple(PLACES)) -> list[Case]:
    """Kills at named fault points."""
    return [Case(name, kinds[n % len(kinds)], PLACES[name]) for n, name in enumerate(places)]
