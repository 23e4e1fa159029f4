"""What families of generated tasks share: levels, drawing by rejection, the conversation that asks.

A family says how an exercise is made from a generator and a level, what it asks, what the answer is and how
an answer is graded; the rest is here. Seeds follow from (name, split, level, index, attempt), and the first
exercise whose question belongs to the split is taken (`splits.py`), so splits share no question.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Generic, TypeVar, cast

from burnish.domains.prompts import ask
from burnish.domains.settings import AnswerFormat
from burnish.domains.splits import content_split
from burnish.errors import DomainError
from burnish.randomness import stream_key
from burnish.records import Sample, Split, Task, Verdict

ATTEMPTS = 400
"""Exercises looked at for one task; a quarter of them belongs to the rarest split."""

E = TypeVar("E")


@dataclass(frozen=True)
class Procedural(Generic[E]):
    """A family of generated tasks; `E` is its exercise, a frozen dataclass of plain values."""

    answer_format: AnswerFormat = "plain"
    instruction: str | None = None
    """System message; None takes the family's own."""

    @property
    def name(self) -> str:
        """Full name."""
        raise NotImplementedError

    @property
    def levels(self) -> int:
        """Number of difficulty levels."""
        raise NotImplementedError

    def make(self, rng: Random, level: int) -> E | None:
        """An exercise; None when what was drawn is not worth asking."""
        raise NotImplementedError

    def question(self, exercise: E) -> str:
        """What is asked; it decides the split."""
        raise NotImplementedError

    def gold(self, exercise: E) -> str:
        """A completion that earns full marks."""
        raise NotImplementedError

    def own_instruction(self) -> str:
        """The system message unless a recipe has another."""
        raise NotImplementedError

    def verdict(self, exercise: E, text: str) -> Verdict:
        """What a completion is worth."""
        raise NotImplementedError

    def kept(self, exercise: E) -> E:
        """What of an exercise its grader needs."""
        return exercise

    def size(self, split: Split, level: int) -> int | None:
        """None: tasks are made without end, though easy ones repeat within a split."""
        del split
        self._check_level(level)
        return None

    def task(self, split: Split, level: int, index: int) -> Task:
        """The task at a position.

        Raises:
            DomainError: level out of range.
        """
        self._check_level(level)
        exercise, question = self._draw(split, level, index)
        system = self.own_instruction() if self.instruction is None else self.instruction
        return Task(
            domain=self.name,
            split=split,
            level=level,
            index=index,
            messages=ask(question, system),
            gold=self.gold(exercise),
            data={"exercise": self.kept(exercise)},
        )

    def grade(self, task: Task, sample: Sample) -> Verdict:
        """What a completion is worth."""
        return self.verdict(cast("E", task.data["exercise"]), sample.text)

    def _draw(self, split: Split, level: int, index: int) -> tuple[E, str]:
        for attempt in range(ATTEMPTS):
            exercise: Any = self.make(Random(stream_key(self.name, str(split), level, index, attempt)), level)
            if exercise is not None:
                question = self.question(exercise)
                if content_split(question) is split:
                    return exercise, question
        raise DomainError(
            f"{self.name} found no task of split {split} at level {level}", got=f"index {index}"
        )

    def _check_level(self, level: int) -> None:
        if not 0 <= level < self.levels:
            raise DomainError(
                f"{self.name} has no such level",
                got=f"level {level}",
                expected=f"0 to {self.levels - 1}",
                next_step="set domains.level, or domains.levels for this domain",
            )
