"""What tasks about documents share: length by level, the question behind the document, exact answers.

An answer is right when it equals the reference as a whole: as a number where the reference is one, otherwise
letter case, white space, quotation marks around it and a full stop at its end aside. So neither the document
nor a sentence of it is ever an answer, and a list of candidates is none either.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from burnish.domains.answers import number, read_number
from burnish.domains.procedural import Procedural
from burnish.domains.prompts import completion_for, extract_answer, system_text
from burnish.domains.splits import canonical
from burnish.records import Scored, Verdict

WORDS = (60, 160, 330, 700, 1400)
"""Words of a document, by level; about 1.4 tokens each."""
MAX_ANSWER = 100
"""Longer answers are wrong unread."""

_QUOTED = re.compile(r"[\"'`“‘*]*(.*?)[\"'`”’*]*\.?[\"'`”’*]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reading:
    """A document with a question and its answer."""

    document: str
    question: str
    answer: str


@dataclass(frozen=True)
class Documents(Procedural[Reading]):
    """A family of questions about documents."""

    @property
    def levels(self) -> int:
        """From about 100 tokens to about 2,000."""
        return len(WORDS)

    def question(self, exercise: Reading) -> str:
        """The document, and the question behind it."""
        return f"{exercise.document}\n\nQuestion: {exercise.question}"

    def gold(self, exercise: Reading) -> str:
        """The answer."""
        return completion_for(exercise.answer, self.answer_format)

    def own_instruction(self) -> str:
        """How the answer is given."""
        return f"Read the document. {system_text(self.answer_format, None)}"

    def kept(self, exercise: Reading) -> Reading:
        """Without the document, which the prompt has."""
        return replace(exercise, document="")

    def verdict(self, exercise: Reading, text: str) -> Verdict:
        """1 for the answer and nothing else, otherwise 0."""
        answer = extract_answer(text, self.answer_format)
        right = answer is not None and is_same(answer, exercise.answer)
        return Scored(float(right), passed=right)


def is_same(answer: str, reference: str) -> bool:
    """Whether an answer is the reference."""
    if len(answer) > MAX_ANSWER:
        return False
    bare = _QUOTED.fullmatch(answer.strip())
    answer = bare[1] if bare else answer
    if read_number(reference) is not None:
        return number(answer, reference)
    return canonical(answer) == canonical(reference)
