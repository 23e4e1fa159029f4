"""How a question is put to a policy and how its answer is found in a completion."""

from __future__ import annotations

from burnish.domains.settings import AnswerFormat
from burnish.records import Message

OPEN, CLOSE = "<answer>", "</answer>"

INSTRUCTIONS: dict[AnswerFormat, str] = {
    "plain": "Reply with the answer only.",
    "tags": f"Think step by step, then give the final answer as {OPEN}...{CLOSE}.",
}


def system_text(answer_format: AnswerFormat, instruction: str | None) -> str:
    """The system message: the given one, or the one that goes with the format."""
    return INSTRUCTIONS[answer_format] if instruction is None else instruction


def ask(question: str, system: str) -> tuple[Message, ...]:
    """A conversation that asks one question; an empty system text sends no system message.

    A system message of our own also keeps chat templates from adding theirs.
    """
    user = Message("user", question)
    return (Message("system", system), user) if system else (user,)


def completion_for(answer: str, answer_format: AnswerFormat) -> str:
    """A completion that gives `answer` in the expected format."""
    return f"{OPEN}{answer.strip()}{CLOSE}" if answer_format == "tags" else answer.strip()


def extract_answer(completion: str, answer_format: AnswerFormat) -> str | None:
    """The answer within a completion without surrounding white space; None when the tags are missing."""
    if answer_format == "plain":
        return completion.strip()
    end = completion.rfind(CLOSE)
    start = completion.rfind(OPEN, 0, end) if end >= 0 else -1
    return completion[start + len(OPEN) : end].strip() if start >= 0 else None
