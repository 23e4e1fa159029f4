"""What the derivations share: an outcome for the answer, and a score for each line of a response.

`Scored.value` is 1 when the answer is right and 0 otherwise. `Scored.steps` has one score for each span of
`step_spans(response)`: a line that is false, says nothing new or is no step at all is worth 0, whatever the
answer. In the format `plain` the last line is the answer, and a step like the others. In the format `tags`
the lines of the answer are worth what the answer is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from burnish.domains.procedural import Procedural
from burnish.domains.prompts import CLOSE, OPEN, completion_for
from burnish.records import Scored, Verdict
from burnish.rewards.steps import Span, step_spans

E = TypeVar("E")


@dataclass(frozen=True)
class Derivation(Procedural[E]):
    """A family whose responses are graded line by line."""

    def lines(self, exercise: E) -> tuple[str, ...]:
        """A solution, the answer last."""
        raise NotImplementedError

    def marks(self, exercise: E, lines: Sequence[str]) -> list[float]:
        """The score of each line in [0, 1], as many as there are lines."""
        raise NotImplementedError

    def is_right(self, exercise: E, answer: str) -> bool:
        """Whether an answer is right."""
        raise NotImplementedError

    def task_instruction(self) -> str:
        """How a step is written."""
        raise NotImplementedError

    def gold(self, exercise: E) -> str:
        """A solution; every line of it is a step that earns full marks."""
        *first, last = self.lines(exercise)
        return "\n".join([*first, completion_for(last, self.answer_format)])

    def own_instruction(self) -> str:
        """How a step and the answer are written."""
        end = f"as {OPEN}...{CLOSE}" if self.answer_format == "tags" else "alone on the last line"
        return f"{self.task_instruction()} Give the final answer {end}. Write nothing else."

    def verdict(self, exercise: E, text: str) -> Verdict:
        """Outcome and steps of a response."""
        spans = step_spans(text)
        if not spans:
            return Scored(0.0, passed=False)
        answer = spans[-1] if self.answer_format == "plain" else answer_span(text)
        right = answer is not None and self.is_right(exercise, untagged(text[slice(*answer)]))
        is_work = [answer is None or self.answer_format == "plain" or not _meet(s, answer) for s in spans]
        work = [text[start:end] for (start, end), counts in zip(spans, is_work, strict=True) if counts]
        marks = iter(self.marks(exercise, work))
        steps = tuple(next(marks) if counts else float(right) for counts in is_work)
        return Scored(float(right), passed=right, steps=steps)


def answer_span(text: str) -> Span | None:
    """Where the last <answer>...</answer> stands, tags included; None when there is none."""
    end = text.rfind(CLOSE)
    start = text.rfind(OPEN, 0, end) if end >= 0 else -1
    return (start, end + len(CLOSE)) if start >= 0 else None


def untagged(text: str) -> str:
    """A text without the tags of an answer around it."""
    return text.removeprefix(OPEN).removesuffix(CLOSE).strip()


def _meet(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]
