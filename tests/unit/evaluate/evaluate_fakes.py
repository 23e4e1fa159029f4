"""A scripted domain, grader and engine for tests of the suite and the probe: no model is behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from burnish.errors import ModelError
from burnish.records import (
    Abstained,
    Boundary,
    Faulted,
    Message,
    Sample,
    Scored,
    Split,
    StopReason,
    Task,
    Verdict,
)
from burnish.rollout.engine import Request


@dataclass(frozen=True)
class Numbers:
    """Task i asks for i modulo `answers`; a completion passes when it is exactly that number."""

    name: str = "fake/arithmetic/numbers"
    levels: int = 3
    limit: int | None = None
    gold: bool = True
    answers: int = 1000
    breaks_at: tuple[int, ...] = ()
    """Indices whose task cannot be made."""

    def size(self, split: Split, level: int) -> int | None:
        return self.limit

    def task(self, split: Split, level: int, index: int) -> Task:
        if index in self.breaks_at:
            raise RuntimeError("generator failed")
        right = str(index % self.answers)
        question = Message("user", "say " + right + "!" * (index % 4))
        return Task(
            self.name, split, level, index, (question,), right if self.gold else None, {"right": right}
        )

    def grade(self, task: Task, sample: Sample) -> Verdict:
        if sample.text == "crash":
            raise RuntimeError("grader failed")
        if sample.text == "shrug":
            return Abstained("cannot tell")
        right = sample.text == task.data["right"]
        return Scored(float(right), right)


def judge(domain, task: Task, sample: Sample) -> Verdict:
    """What the real judge does with a crash: a fault of the domain."""
    try:
        return domain.grade(task, sample)
    except Exception as error:
        return Faulted(Boundary.DOMAIN, repr(error))


def encode(task: Task) -> tuple[int, ...]:
    return tuple(task.messages[-1].content.encode())


Script = Callable[[str, int, int], str]
"""(domain, task index, sample index; 0 is greedy) to a completion."""


@dataclass
class ScriptedEngine:
    """Answers by a script and keeps every request; a text ending in ~ is cut off at the limit."""

    script: Script
    version: int = 7
    batches: list[list[Request]] = field(default_factory=list)
    longest: int = 10_000

    @property
    def requests(self) -> list[Request]:
        return [request for batch in self.batches for request in batch]

    def generate(
        self, requests: Sequence[Request], on_done: Callable[[int], None] | None = None
    ) -> list[tuple[Sample, ...]]:
        self.batches.append(list(requests))
        if any(len(request.prompt_ids) > self.longest for request in requests):
            raise ModelError("a prompt does not fit the model's context", got=self.longest)
        drawn = [
            tuple(self._sample(request, i) for i in range(len(request.temperatures))) for request in requests
        ]
        if on_done is not None:
            on_done(len(requests))
        return drawn

    def _sample(self, request: Request, index: int) -> Sample:
        _, _, domain, task = request.stream
        text = self.script(str(domain), int(task), index)
        stop = StopReason.LENGTH if text.endswith("~") else StopReason.EOS
        return Sample(text, index, tuple(range(len(text))), stop=stop)

    def load(self, weights: Mapping[str, Tensor], version: int) -> None:
        raise AssertionError("an evaluation never loads weights")

    def score(self, prompt_ids: Sequence[int], completion_ids: Sequence[int]) -> list[float]:
        raise AssertionError("an evaluation never scores")


def right(domain: str, task: int, sample: int) -> str:
    return str(task)


def wrong(domain: str, task: int, sample: int) -> str:
    return "no"
