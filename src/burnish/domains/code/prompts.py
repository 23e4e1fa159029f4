"""How a program is asked for."""

from __future__ import annotations

from burnish.domains.prompts import CLOSE, OPEN, ask
from burnish.domains.settings import AnswerFormat
from burnish.records import Message

INSTRUCTIONS: dict[AnswerFormat, str] = {
    "plain": "Reply with Python code only.",
    "tags": f"Think step by step, then give the Python code as {OPEN}...{CLOSE}.",
}


def ask_for_code(question: str, answer_format: AnswerFormat, instruction: str | None) -> tuple[Message, ...]:
    """A conversation that asks for a program."""
    return ask(question, INSTRUCTIONS[answer_format] if instruction is None else instruction)


def completion_with(code: str, answer_format: AnswerFormat) -> str:
    """A completion that gives a program in the expected format; its indentation is kept."""
    code = code.strip("\n").rstrip()
    return f"{OPEN}\n{code}\n{CLOSE}" if answer_format == "tags" else code
