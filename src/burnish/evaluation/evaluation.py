"""The record of one evaluation and its file; reading it back needs neither a model nor torch."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnish.errors import RunError
from burnish.evaluation.plan import EvaluationPlan
from burnish.records import Split

FORMAT = 1
"""Version of the file's layout."""

_ARRAYS = ("greedy", "sampled")


@dataclass(frozen=True, slots=True, eq=False)
class DomainOutcome:
    """What a model did on the tasks of one domain."""

    name: str
    level: int
    held_out: bool
    """Whether training never draws from this domain."""
    tasks: tuple[str, ...]
    """Keys of the tasks, [T]."""
    content: str
    """Hash of the text of all tasks; differs when an instruction or a generator has changed."""
    greedy: NDArray[np.float64]
    """[T]: 1 passed, 0 failed, NaN no outcome (abstained or faulted)."""
    sampled: NDArray[np.float64]
    """[T, K], the same for K completions at the plan's temperature."""
    faults: int
    """Completions whose grading broke."""
    abstained: int
    """Completions that the grader could not judge."""
    missing: int
    """Tasks wanted and not made, because their generator failed."""
    prompt_length: float
    """Mean tokens of a prompt."""
    longest_prompt: int
    completion_length: float
    """Mean tokens of a sampled completion."""
    truncated: float
    """Share of the sampled completions cut off at the plan's limit."""
    tokens: int
    """Completion tokens drawn, greedy ones included."""

    def outcomes(self, mode: str) -> NDArray[np.float64]:
        """The array of one mode, `greedy` or `sampled`."""
        return self.greedy if mode == "greedy" else self.sampled

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; outcomes are 1, 0 or null."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in _ARRAYS}
        arrays = {name: _to_json(getattr(self, name)) for name in _ARRAYS}
        lengths = {k: _number(plain[k]) for k in ("prompt_length", "completion_length", "truncated")}
        return plain | {"tasks": list(self.tasks)} | lengths | arrays


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What a model did on every domain of a suite."""

    name: str
    """For example `before`, `sft`, `rl`, or the name of a model."""
    plan: EvaluationPlan
    version: int
    """Version of the weights."""
    domains: tuple[DomainOutcome, ...]
    seconds: float
    """Wall time of generating and grading."""
    generate_seconds: float
    """Wall time of generating alone."""

    @property
    def tokens(self) -> int:
        """Completion tokens drawn."""
        return sum(domain.tokens for domain in self.domains)

    @property
    def faults(self) -> int:
        """Completions whose grading broke."""
        return sum(domain.faults for domain in self.domains)

    def domain(self, name: str) -> DomainOutcome:
        """The outcome of one domain.

        Raises:
            KeyError: the domain was not evaluated.
        """
        for domain in self.domains:
            if domain.name == name:
                return domain
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "format": FORMAT,
            "name": self.name,
            "version": self.version,
            "plan": self.plan.to_dict(),
            "seconds": self.seconds,
            "generate_seconds": self.generate_seconds,
            "tokens": self.tokens,
            "domains": [domain.to_dict() for domain in self.domains],
        }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _to_json(outcomes: NDArray[np.float64]) -> list[Any]:
    if outcomes.ndim > 1:
        return [_to_json(row) for row in outcomes]
    return [None if math.isnan(x) else int(x) for x in outcomes]


def _from_json(rows: Sequence[Any], shape: tuple[int, ...]) -> NDArray[np.float64]:
    values = np.array(rows, dtype=np.float64).reshape(shape)
    if not np.all(np.isnan(values) | (values == 0) | (values == 1)):
        raise ValueError("an outcome is neither 1, 0 nor null")
    return values


def _domain_from(plain: Mapping[str, Any], samples: int) -> DomainOutcome:
    names = set(DomainOutcome.__dataclass_fields__)
    values = {name: plain[name] for name in names}
    tasks = tuple(str(key) for key in plain["tasks"])
    values |= {"tasks": tasks, "greedy": _from_json(plain["greedy"], (len(tasks),))}
    values["sampled"] = _from_json(plain["sampled"], (len(tasks), samples))
    for name in ("prompt_length", "completion_length", "truncated"):
        values[name] = math.nan if plain[name] is None else float(plain[name])
    return DomainOutcome(**values)


def evaluation_from(plain: Mapping[str, Any]) -> Evaluation:
    """The evaluation behind a dictionary made by `Evaluation.to_dict`.

    Raises:
        KeyError, TypeError, ValueError: the dictionary is not one.
    """
    if plain["format"] != FORMAT:
        raise ValueError(f"format {plain['format']} is not {FORMAT}")
    plan = EvaluationPlan(**{**plain["plan"], "split": Split(plain["plan"]["split"])})
    return Evaluation(
        name=str(plain["name"]),
        plan=plan,
        version=int(plain["version"]),
        domains=tuple(_domain_from(domain, plan.samples) for domain in plain["domains"]),
        seconds=float(plain["seconds"]),
        generate_seconds=float(plain["generate_seconds"]),
    )


def evaluation_path(directory: Path, name: str) -> Path:
    """Where the evaluation of a name lies; characters that a file name should not have become `-`."""
    return directory / f"evaluation_{re.sub(r'[^A-Za-z0-9._-]+', '-', name)}.json"


def save_evaluation(evaluation: Evaluation, directory: Path) -> Path:
    """Write `evaluation_<name>.json`, whole or not at all, and return its path.

    Raises:
        RunError: the directory cannot be written.
    """
    path = evaluation_path(directory, evaluation.name)
    aside = path.with_suffix(".tmp")
    try:
        aside.write_text(json.dumps(evaluation.to_dict(), allow_nan=False), encoding="utf-8")
        os.replace(aside, path)
    except OSError as error:
        raise RunError(
            "an evaluation cannot be saved",
            got=f"{path}: {error.strerror or error}",
            expected="a directory that can be written, on a disk with room",
            next_step="free some room or choose another directory",
        ) from error
    return path


def load_evaluation(path: Path) -> Evaluation:
    """Read a file written by `save_evaluation`.

    Raises:
        RunError: there is no such file, or it is not a saved evaluation.
    """
    try:
        return evaluation_from(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise RunError(
            "a saved evaluation cannot be read",
            got=f"{path}: {error.strerror or error}",
            expected="a file evaluation_NAME.json from a run directory",
            next_step="name a file that exists, or run `burnish eval` to make one",
        ) from error
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(
            "a file is not a saved evaluation",
            got=f"{path}: {type(error).__name__}: {error}",
            expected=f"a file evaluation_NAME.json of format {FORMAT}",
            next_step="name another file, or run `burnish eval` again",
        ) from error
