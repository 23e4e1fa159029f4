"""What structured families share: where the answer is in a completion, and JSON read without leniency."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, TypeVar

from burnish.domains.procedural import Procedural
from burnish.domains.prompts import CLOSE, OPEN, completion_for, extract_answer
from burnish.domains.settings import AnswerFormat
from burnish.records import Scored, Verdict

LONGEST = 20_000
"""Completions with more characters are wrong unread."""

_FENCE = re.compile(r"^```[a-zA-Z]*[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)

WRONG = Scored(0.0, passed=False)
RIGHT = Scored(1.0, passed=True)

E = TypeVar("E")


@dataclass(frozen=True)
class Structured(Procedural[E]):
    """A family whose answers are right or wrong as a whole."""

    def answer(self, exercise: E) -> str:
        """A right answer."""
        raise NotImplementedError

    def is_right(self, exercise: E, answer: str) -> bool:
        """Whether an answer, fences removed, is right."""
        raise NotImplementedError

    def kind(self) -> str:
        """What an answer is, as in `Reply with <kind> only`."""
        raise NotImplementedError

    def gold(self, exercise: E) -> str:
        """A right answer in the expected format."""
        return completion_for(self.answer(exercise), self.answer_format)

    def own_instruction(self) -> str:
        """How the answer is given."""
        if self.answer_format == "tags":
            return f"Think step by step, then give {self.kind()} as {OPEN}...{CLOSE}."
        return f"Reply with {self.kind()} only."

    def verdict(self, exercise: E, text: str) -> Verdict:
        """1 for a right answer, else 0."""
        answer = payload(text, self.answer_format)
        return RIGHT if answer and self.is_right(exercise, answer) else WRONG


def payload(text: str, answer_format: AnswerFormat) -> str:
    """The answer in a completion: its only fenced block, or all of it; empty when missing or endless."""
    found = extract_answer(text, answer_format) if len(text) <= LONGEST else None
    if not found:
        return ""
    fenced = _FENCE.findall(found)
    if fenced:
        return fenced[0].strip() if len(fenced) == 1 else ""
    return found


def read_json(text: str) -> tuple[Any] | None:
    """The value of a JSON text, in a tuple; None when it is none, repeats a key or has a NaN or infinity."""
    try:
        return (json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite),)
    except (ValueError, RecursionError):
        return None


def same_json(one: object, other: object) -> bool:
    """Whether two JSON values are equal; true is not 1, the order of keys does not matter."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    return one == other


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is repeated")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is too large")
    return number
