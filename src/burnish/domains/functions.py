"""A domain of one's own in ten lines: a function that makes questions, and one that marks answers.

    import burnish

    def make(rng, level):
        a, b = rng.randrange(10 ** (level + 1)), rng.randrange(10 ** (level + 1))
        return f"What is {a} + {b}?", a + b

    sums = burnish.domain("my-team/sums", make, levels=3)

A task is drawn by rejection: seeds follow from (name, split, level, index, attempt), and the first
question whose content belongs to the split is taken (`splits.py`). So splits share no question, as long as
`make` uses no other randomness than the generator it is given; `burnish domains validate` looks for that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from burnish.domains.base import Domain
from burnish.domains.prompts import ask, system_text
from burnish.domains.splits import content_split
from burnish.errors import DomainError
from burnish.randomness import stream_key
from burnish.records import Sample, Split, Task, Verdict
from burnish.rewards.adapters import Reward, as_verdict, name_of

Make = Callable[[Random, int], tuple[str, Any]]
"""`make(rng, level)` -> a question and its answer; the answer None when none is known."""
Grade = Callable[[str, Any, str], bool | float | Verdict | None]
"""`grade(question, answer, text)` -> a bool, a number in [0, 1], None for "cannot tell", or a verdict."""

ATTEMPTS = 200
"""Questions looked at for one task; a quarter of them belongs to the rarest split."""


def domain(
    name: str,
    make: Make,
    grade: Grade | None = None,
    levels: int = 1,
    instruction: str | None = None,
    *,
    threshold: float = 1.0,
) -> FunctionDomain:
    """A domain made of two functions.

    Args:
        name: full name, for example `my-team/invoices`.
        make: makes a question and its answer from a generator and a level; level 0 is the easiest.
        grade: marks a completion; None compares with the answer, white space around both aside.
        levels: number of difficulty levels.
        instruction: system message; None asks for the answer only, "" sends none.
        threshold: number returned by `grade` from which a sample counts as a success.

    Raises:
        DomainError: an unusable name, no function, or fewer than one level.
    """
    _check_name(name)
    _check_function("make", make)
    if grade is not None:
        _check_function("grade", grade)
    if not isinstance(levels, int) or levels < 1:
        raise DomainError(f"domain {name!r} needs a level", got=f"levels = {levels!r}", expected="at least 1")
    return FunctionDomain(name, make, grade, levels, instruction, threshold)


def with_reward(
    domain: Domain, reward: Reward, *, name: str | None = None, threshold: float = 1.0
) -> RewardedDomain:
    """The tasks of a domain, graded by a reward function.

    Args:
        domain: any domain.
        reward: `reward(task, text)` -> a number in [0, 1], a bool, None to abstain, or a verdict; see
            `burnish.rewards.adapters` for functions written for TRL or verl.
        name: name of the new domain, needed beside the old one in a run; None keeps the old one.
        threshold: number from which a sample counts as a success.

    Raises:
        DomainError: an unusable name, or no function.
    """
    _check_function("reward", reward)
    if name is not None:
        _check_name(name)
    return RewardedDomain(domain, reward, name or domain.name, threshold)


@dataclass(frozen=True)
class FunctionDomain:
    """See `domain`."""

    name: str
    make: Make
    grader: Grade | None = None
    levels: int = 1
    instruction: str | None = None
    threshold: float = 1.0

    def size(self, split: Split, level: int) -> int | None:
        """None: tasks are made without end, though questions may repeat within a split."""
        del split
        self._check_level(level)
        return None

    def task(self, split: Split, level: int, index: int) -> Task:
        """The task at a position.

        Raises:
            DomainError: level out of range, `make` returned something else than a question and an answer,
                or no question of this split among `ATTEMPTS`.
        """
        self._check_level(level)
        question, answer = self._draw(split, level, index)
        return Task(
            domain=self.name,
            split=split,
            level=level,
            index=index,
            messages=ask(question, system_text("plain", self.instruction)),
            gold=None if answer is None else str(answer).strip(),
            data={"question": question, "answer": answer},
        )

    def grade(self, task: Task, sample: Sample) -> Verdict:
        """The verdict of the grading function, or of an exact comparison."""
        question, answer = str(task.data["question"]), task.data["answer"]
        if self.grader is None:
            right = None if answer is None else sample.text.strip() == str(answer).strip()
            return as_verdict(right, self.name)
        return as_verdict(self.grader(question, answer, sample.text), name_of(self.grader), self.threshold)

    def _draw(self, split: Split, level: int, index: int) -> tuple[str, Any]:
        seen: set[str] = set()
        for attempt in range(ATTEMPTS):
            key = stream_key(self.name, str(split), level, index, attempt)
            question, answer = self._checked(self.make(Random(key), level))
            if content_split(question) is split:
                return question, answer
            seen.add(question)
        raise DomainError(
            f"the task space of {self.name!r} at level {level} is too small for three splits",
            got=f"{len(seen)} different questions in {ATTEMPTS} attempts, none of them of split {split}",
            expected="dozens of different questions",
            next_step="let `make` draw from more questions, with the generator that it is given",
        )

    def _checked(self, made: object) -> tuple[str, Any]:
        if isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], str) and made[0].strip():
            return made[0], made[1]
        raise DomainError(
            f"`make` of domain {self.name!r} made no task",
            got=f"{made!r:.80}",
            expected="a tuple (question, answer) whose question is a text that is not empty",
            next_step="return question, answer",
        )

    def _check_level(self, level: int) -> None:
        if not 0 <= level < self.levels:
            raise DomainError(
                f"{self.name} has no such level",
                got=f"level {level}",
                expected=f"0 to {self.levels - 1}" if self.levels > 1 else "0, its only level",
                next_step="set domains.level, or domains.levels for this domain",
            )


@dataclass(frozen=True)
class RewardedDomain:
    """See `with_reward`."""

    inner: Domain
    reward: Reward
    name: str
    threshold: float = 1.0

    @property
    def levels(self) -> int:
        """Levels of the wrapped domain."""
        return self.inner.levels

    def size(self, split: Split, level: int) -> int | None:
        """Number of tasks of the wrapped domain."""
        return self.inner.size(split, level)

    def task(self, split: Split, level: int, index: int) -> Task:
        """The task of the wrapped domain, under the name of this one."""
        return replace(self.inner.task(split, level, index), domain=self.name)

    def grade(self, task: Task, sample: Sample) -> Verdict:
        """The verdict of the reward function."""
        return as_verdict(self.reward(task, sample.text), name_of(self.reward), self.threshold)


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip() or any(c in "*?[]:" or c.isspace() for c in name):
        raise DomainError(
            "a domain needs a name of its own",
            got=repr(name),
            expected="a text without white space and * ? [ ] :",
            next_step="name it like my-team/invoices",
        )


def _check_function(role: str, function: object) -> None:
    if not callable(function):
        raise DomainError(f"`{role}` must be a function", got=f"{function!r:.80}", expected="a callable")
