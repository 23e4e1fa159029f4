"""Procedural code domains with levels: write a function, mend one, say what one prints.

    code/python/write_function    from a specification and one example; hidden tests
    code/python/fix_bug           a function with a mistake, what it should do, and a call that goes wrong
    code/python/predict_output    a program and nothing else; the answer is what it prints

Level 0 is a single step on a number, level 1 a single step on a list or a string, and each level more is
one step more. Tests of one task disagree with each other, so no constant passes, and with the version
that has the bug, so leaving it in does not either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import cast

from burnish.domains.code.catalogue import KINDS, Kind, Program, Value, draw_program, draw_value
from burnish.domains.code.extract import extract_code
from burnish.domains.code.grading import grade_program
from burnish.domains.code.prompts import ask_for_code, completion_with
from burnish.domains.prompts import ask, completion_for, extract_answer, system_text
from burnish.domains.settings import AnswerFormat, CodeSettings, DomainSettings
from burnish.domains.splits import content_split
from burnish.errors import DomainError
from burnish.randomness import stream_key
from burnish.records import Message, Sample, Scored, Split, Task, Verdict
from burnish.sandbox.judging.checks import CallCheck, Suite
from burnish.sandbox.judging.text import same_text
from burnish.sandbox.judging.values import EXACT
from burnish.sandbox.records import Call

LEVELS = 5
TESTS = 8
"""Tests of one task, the shown one included."""
ATTEMPTS = 400
"""Programs looked at for one task."""
_STARTS: tuple[tuple[Kind, ...], ...] = (
    ("int",),
    ("ints", "str"),
    ("ints", "str"),
    ("ints", "str"),
    ("ints", "str"),
)


@dataclass(frozen=True, slots=True)
class Exercise:
    """A program and the inputs that it is tried on, with what it gives for each."""

    program: Program
    wrong: Program
    """The same with a mistake."""
    tests: tuple[tuple[Value, Value], ...]

    @property
    def telling(self) -> tuple[Value, Value]:
        """The first test that the mistake fails."""
        return next((v, a) for v, a in self.tests if self.wrong.answer(v) != a)


@dataclass(frozen=True)
class CodeFamily:
    """What the three families share: how a task is drawn."""

    settings: CodeSettings = field(default_factory=CodeSettings)
    answer_format: AnswerFormat = "plain"
    instruction: str | None = None
    levels: int = LEVELS

    @property
    def name(self) -> str:
        """Full name."""
        raise NotImplementedError

    def question(self, exercise: Exercise) -> str:
        """What is asked; it decides the split."""
        raise NotImplementedError

    def gold(self, exercise: Exercise) -> str:
        """A completion that earns full marks."""
        return completion_with(exercise.program.source, self.answer_format)

    def messages(self, question: str) -> tuple[Message, ...]:
        """The conversation that asks."""
        return ask_for_code(question, self.answer_format, self.instruction)

    def size(self, split: Split, level: int) -> int | None:
        """None: tasks are made without end."""
        del split
        self._check_level(level)
        return None

    def task(self, split: Split, level: int, index: int) -> Task:
        """The task at a position.

        Raises:
            DomainError: level out of range.
        """
        self._check_level(level)
        for attempt in range(ATTEMPTS):
            exercise = draw_exercise(Random(stream_key(self.name, str(split), level, index, attempt)), level)
            if exercise is None:
                continue
            question = self.question(exercise)
            if content_split(question) is split:
                return Task(
                    domain=self.name,
                    split=split,
                    level=level,
                    index=index,
                    messages=self.messages(question),
                    gold=self.gold(exercise),
                    data={"exercise": exercise},
                )
        raise DomainError(
            f"{self.name} found no task of split {split} at level {level}", got=f"index {index}"
        )

    def grade(self, task: Task, sample: Sample) -> Verdict:
        """Run the program of a completion on the hidden tests."""
        exercise = cast("Exercise", task.data["exercise"])
        code = extract_code(sample.text, self.answer_format)
        return grade_program(code, suite_of(exercise), self.settings, self.name)

    def _check_level(self, level: int) -> None:
        if not 0 <= level < self.levels:
            raise DomainError(
                f"{self.name} has no such level",
                got=f"level {level}",
                expected=f"0 to {self.levels - 1}",
                next_step="set domains.level, or domains.levels for this domain",
            )


@dataclass(frozen=True)
class WriteFunction(CodeFamily):
    """Write a function from a specification."""

    @property
    def name(self) -> str:
        """Full name."""
        return "code/python/write_function"

    def question(self, exercise: Exercise) -> str:
        """The specification and one example."""
        value, answer = exercise.telling
        return (
            f"Write a Python function f(x). It takes {KINDS[exercise.program.takes]} x and returns "
            f"{KINDS[exercise.program.gives]}: {exercise.program.specification}.\n"
            f"Example: f({value!r}) == {answer!r}"
        )


@dataclass(frozen=True)
class FixBug(CodeFamily):
    """Mend a function."""

    @property
    def name(self) -> str:
        """Full name."""
        return "code/python/fix_bug"

    def question(self, exercise: Exercise) -> str:
        """The function, what it should do, and a call that goes wrong."""
        (value, answer), program = exercise.telling, exercise.program
        return (
            f"This Python function has a bug. It should take {KINDS[program.takes]} x and return "
            f"{KINDS[program.gives]}: {program.specification}.\n\n{exercise.wrong.source}\n\n"
            f"f({value!r}) should be {answer!r}, but it is {exercise.wrong.answer(value)!r}. "
            "Write the corrected function."
        )


@dataclass(frozen=True)
class PredictOutput(CodeFamily):
    """Say what a program prints; nothing is run."""

    @property
    def name(self) -> str:
        """Full name."""
        return "code/python/predict_output"

    def question(self, exercise: Exercise) -> str:
        """The program."""
        value, _ = exercise.tests[0]
        return f"What does this Python program print?\n\n{exercise.program.source}\n\nprint(f({value!r}))"

    def gold(self, exercise: Exercise) -> str:
        """What it prints."""
        return completion_for(str(exercise.tests[0][1]), self.answer_format)

    def messages(self, question: str) -> tuple[Message, ...]:
        """A question whose answer is text."""
        return ask(question, system_text(self.answer_format, self.instruction))

    def grade(self, task: Task, sample: Sample) -> Verdict:
        """Compare with what the program prints."""
        exercise = cast("Exercise", task.data["exercise"])
        answer = extract_answer(sample.text, self.answer_format)
        if answer is None:
            return Scored(0.0, passed=False)
        printed = str(exercise.tests[0][1]).strip().encode()
        right = same_text(answer.encode("utf-8", "surrogatepass"), printed)
        return Scored(float(right), passed=right)


def draw_exercise(rng: Random, level: int) -> Exercise | None:
    """A program with its tests; None when what was drawn is not worth asking."""
    program = draw_program(rng, max(level, 1), _STARTS[level])
    wrong = replace(program, buggy=rng.randrange(len(program.steps)))
    values = [draw_value(rng, program.takes) for _ in range(TESTS)]
    tests = tuple((value, program.answer(value)) for value in values)
    answers = [repr(answer) for _, answer in tests]
    told_apart = sum(wrong.answer(value) != answer for value, answer in tests)
    changed = sum(value != answer for value, answer in tests)
    is_empty = not str(tests[0][1]).strip("[] ")
    if len(set(answers)) < TESTS // 2 or told_apart < 3 or changed < 2 or is_empty:
        return None
    return Exercise(program, wrong, tests)


def suite_of(exercise: Exercise) -> Suite:
    """The tests of an exercise; the one that the prompt shows is public."""
    shown = exercise.telling[0]
    return Suite(
        calls=tuple(
            CallCheck(f"test {n}", Call("f", (value,)), answer, EXACT, public=value == shown)
            for n, (value, answer) in enumerate(exercise.tests, start=1)
        )
    )


def _made(kind: type[CodeFamily]) -> Callable[[DomainSettings], CodeFamily]:
    return lambda settings: kind(settings.code, settings.answer_format, settings.instruction)


FAMILIES: Mapping[str, Callable[[DomainSettings], CodeFamily]] = {
    kind().name: _made(kind) for kind in (FixBug, PredictOutput, WriteFunction)
}
