"""Whole runs of a few steps, for properties of the loop: half a second each."""

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from safetensors.torch import load_file

import burnish
from burnish import faults
from burnish.observe.console import Console
from burnish.recipe import build_recipe
from burnish.records import Message, Scored, Split, Task

BASE = {
    "name": "small",
    "seed": 5,
    "threads": 1,
    "stages": ["rl"],
    "model": {
        "name": "tiny", "tiny_layers": 1, "tiny_hidden": 32, "tiny_intermediate": 64, "dtype": "float32",
    },
    "domains": {"instruction": "", "train": ["test/parity"]},
    "rollout": {"samples": 4, "max_tokens": 6, "task_workers": 0},
    "algorithm": {"kl_coef": 0.0},
    "rl": {"steps": 6, "prompts_per_step": 4, "lr": 1e-2, "warmup": 0, "schedule": "constant"},
    "evaluate": {"tasks": 1, "samples": 1, "resamples": 100},
}  # fmt: skip


class Parity:
    """A domain with signal from the first step: an even number of bytes is right."""

    levels = 1

    def __init__(self, name="test/parity", grade=None):
        self.name = name
        self._grade = grade

    def size(self, split, level):
        return None

    def task(self, split, level, index):
        return Task(self.name, Split(split), level, index, (Message("user", f"{index}"),), gold="1")

    def grade(self, task, sample):
        if self._grade is not None:
            self._grade(task, sample)
        right = sum(sample.token_ids) % 2 == 0
        return Scored(float(right), right)


class Evens(Parity):
    """A domain that a policy this small learns in a dozen steps: the share of tokens that are even."""

    def grade(self, task, sample):
        share = sum(token % 2 == 0 for token in sample.token_ids) / len(sample.token_ids)
        return Scored(share, share >= 0.8)


class Listening(Console):
    """Keeps what it is warned about."""

    def __init__(self):
        super().__init__(quiet=True)
        self.warnings = []

    def warn(self, sentence):
        self.warnings.append(sentence)


def recipe(**tables):
    changed = {k: {**BASE[k], **v} if isinstance(v, dict) else v for k, v in tables.items()}
    return build_recipe({**BASE, **changed})


def train(folder, domain=None, *, resume=False, console=None, **tables):
    """Run, and return the folder."""
    burnish.train(
        recipe(**tables), folder, resume=resume, console=console or Listening(),
        domains=[domain or Parity()],
    )  # fmt: skip
    return Path(folder)


def weights(folder):
    """Digest of the last checkpoint's weights."""
    last = sorted((folder / "checkpoints").glob("step_*"))[-1]
    tensors = load_file(last / "hf" / "model.safetensors")
    return hashlib.sha256(b"".join(tensors[n].numpy().tobytes() for n in sorted(tensors))).hexdigest()


def rows(folder, query):
    with closing(sqlite3.connect(folder / "run.sqlite")) as database:
        return database.execute(query).fetchall()


def metric(folder, name):
    """A figure over all domains, step by step."""
    chosen = f"name = '{name}' and stage = 'rl' and domain is null"
    return [value for (value,) in rows(folder, f"select value from metrics where {chosen} order by step")]


def broken_and_resumed(folder, **tables):
    """The same run twice: left alone, and broken off after a step and resumed."""
    whole = train(folder / "whole", **tables)
    part = folder / "part"
    faults.set_plan("rl.after_record:5:error")
    with pytest.raises(RuntimeError, match="fault"):
        train(part, **tables)
    faults.set_plan("")
    train(part, resume=True, **tables)
    return whole, part
