"""A domain in ten lines: a function that makes a question, and one that judges an answer.

    from burnish.domains.function import domain

    def make(rng, level):
        a, b = rng.randrange(10 ** (level + 1)), rng.randrange(10 ** (level + 1))
        return f"{a} + {b} = ?", str(a + b)

    sums = domain("demo/sums", make, levels=3)

Splits follow from a hash of the question, as everywhere, so nobody has to keep them apart by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from burnish.domains.base import Domain
from burnish.domains.prompts import ask, completion_for, extract_answer, system_text
from burnish.domains.settings import AnswerFormat
from burnish.domains.splits import content_split
from burnish.errors import DomainError
from burnish.randomness import stream_key
from burnish.records import Sample, Scored, Split, Task, Verdict
from burnish.rewards.functions import TaskGrader
from burnish.rewards.outcomes import Outcome, as_verdict

ATTEMPTS = 500
"""Questions looked at for one task."""

Make = Callable[[Random, int], tuple[str, Any]]
Grade = Callable[[str, Any], Outcome]


def exact_match(answer: str, reference: Any) -> bool:
    """The grader of a domain that brings none: equal text."""
    return answer.strip() == str(reference).strip()


@dataclass(frozen=True)
class FunctionDomain:
    """A domain made of two functions; see `domain`."""

    name: str
    make: Make
    judge: Grade = exact_match
    levels: int = 1
    answer_format: AnswerFormat = "plain"
    instruction: str | None = None

    def size(self, split: Split, level: int) -> int | None:
        """None: tasks are generated without end."""
        del split, level
        return None

    def task(self, split: Split, level: int, index: int) -> Task:
        """The task at a position: the first question made that hashes into the split.

        Raises:
            DomainError: level out of range, or `make` gives too few different questions.
        """
        if not 0 <= level < self.levels:
            raise DomainError(f"{self.name} has no level {level}", expected=f"0 to {self.levels - 1}")
        for attempt in range(ATTEMPTS):
            rng = Random(stream_key(self.name, level, str(split), index, attempt))
            question, answer = self.make(rng, level)
            if content_split(question) is split:
                return self._task(split, level, index, question, answer)
        raise DomainError(
            f"{self.name}, level {level}: none of {ATTEMPTS} questions is of split {split}",
            expected="many different questions; a hash of the question decides its split",
            next_step="draw the question from the given generator, and from a larger range",
        )

    def grade(self, task: Task, sample: Sample) -> Verdict:
        """What the judging function says about the extracted answer; no answer is wrong."""
        answer = extract_answer(sample.text, self.answer_format)
        if answer is None:
            return Scored(0.0, passed=False)
        return as_verdict(self.judge(answer, task.data["answer"]))

    def _task(self, split: Split, level: int, index: int, question: str, answer: Any) -> Task:
        return Task(
            domain=self.name,
            split=split,
            level=level,
            index=index,
            messages=ask(question, system_text(self.answer_format, self.instruction)),
            gold=completion_for(str(answer), self.answer_format),
            data={"answer": answer},
        )


def domain(
    name: str,
    make: Make,
    grade: Grade = exact_match,
    *,
    levels: int = 1,
    answer_format: AnswerFormat = "plain",
    instruction: str | None = None,
) -> FunctionDomain:
    """A domain from functions.

    Args:
        name: full name, `source/category/family` by custom.
        make: `make(rng, level) -> (question, answer)`; draws only from `rng`.
        grade: `grade(answer_text, answer)` -> bool, a reward in [0, 1], None for "cannot tell", or a
            verdict; equal text by default.
        levels: number of difficulties.
        answer_format: `plain` or `tags`.
        instruction: system message; None takes that of the format.

    Raises:
        DomainError: an empty name, or no level.
    """
    if not name.strip() or levels < 1:
        raise DomainError(
            "a domain needs a name and at least one level", got=f"name {name!r}, levels {levels}"
        )
    return FunctionDomain(name, make, grade, levels, answer_format, instruction)


@dataclass(frozen=True)
class RegradedDomain:
    """A domain whose answers are judged by another grader."""

    inner: Domain
    grader: TaskGrader

    @property
    def name(self) -> str:
        """That of the domain inside."""
        return self.inner.name

    @property
    def levels(self) -> int:
        """Those of the domain inside."""
        return self.inner.levels

    def size(self, split: Split, level: int) -> int | None:
        """That of the domain inside."""
        return self.inner.size(split, level)

    def task(self, split: Split, level: int, index: int) -> Task:
        """The task of the domain inside."""
        return self.inner.task(split, level, index)

    def grade(self, task: Task, sample: Sample) -> Verdict:
        """The verdict of the other grader."""
        return self.grader(task, sample)


def regrade(inner: Domain, grader: TaskGrader) -> RegradedDomain:
    """The tasks of one domain with another grader, for example `TrlReward(f)` or `VerlReward(f)`."""
    return RegradedDomain(inner, grader)
