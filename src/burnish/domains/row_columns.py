"""Where a row keeps its prompt and its answer: named conventions, and columns named by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.domains.math import gsm8k_answer
from burnish.domains.row_files import Row, column
from burnish.domains.settings import GraderName, RowsSettings
from burnish.errors import DomainError
from burnish.records import Message

ROLES = ("system", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Convention:
    """The columns that a kind of data set uses."""

    prompt: tuple[str, ...]
    """Columns that may hold the prompt; the first that a row has is taken."""
    answer: tuple[str, ...]
    """Columns that may hold the answer."""
    grader: GraderName = "exact"
    read_answer: Callable[[str], str] = str


CONVENTIONS: Mapping[str, Convention] = {
    "columns": Convention(("prompt",), ("answer",)),
    "gsm8k": Convention(("question",), ("answer",), "math", gsm8k_answer),
    "trl": Convention(("prompt",), ("answer", "solution", "ground_truth", "completion")),
    "verl": Convention(("prompt",), ("reward_model.ground_truth",), "math"),
}


@dataclass(frozen=True, slots=True)
class Example:
    """What a row says once its columns are read."""

    messages: tuple[Message, ...]
    answer: str
    level: float
    data: Mapping[str, Any]
    """The row, for graders and reward functions that want other columns."""

    @property
    def content(self) -> str:
        """The prompt as one text, which decides the split; system messages do not count."""
        return "\n".join(message.content for message in self.messages if message.role != "system")


def grader_of(settings: RowsSettings) -> GraderName:
    """The comparison that settings ask for, or that of the convention."""
    return settings.grader or CONVENTIONS[settings.adapter].grader


def read_example(row: Row, number: int, settings: RowsSettings) -> Example:
    """The prompt, answer and level of a row.

    Raises:
        DomainError: a column is missing or holds something else than it should; names row and columns.
    """
    convention = CONVENTIONS[settings.adapter]
    where = f"{settings.path}, row {number}"
    prompt = _first(row, (settings.prompt,) if settings.prompt else convention.prompt, where)
    answer = _first(row, (settings.answer,) if settings.answer else convention.answer, where)
    level = _first(row, (settings.level,), where) if settings.level else 0
    return Example(
        _messages(prompt, where), convention.read_answer(_text(answer, where)), _level(level, where), row
    )


def _first(row: Row, names: Sequence[str], where: str) -> Any:
    for name in names:
        try:
            value = column(row, name)
        except KeyError:
            continue
        if value is not None:
            return value
    raise DomainError(
        f"{where} has no column {' or '.join(repr(name) for name in names)}",
        got=f"columns {', '.join(map(str, row)) or 'none'}",
        expected="every mapped column in every row, and not null",
        next_step="set prompt, answer or level of [[domains.rows]], or correct the row",
    )


def _messages(prompt: object, where: str) -> tuple[Message, ...]:
    if isinstance(prompt, str) and prompt.strip():
        return (Message("user", prompt),)
    if isinstance(prompt, Sequence) and not isinstance(prompt, str) and prompt:
        messages = tuple(_message(part, where) for part in prompt)
        if messages[-1].role == "user":
            return messages
    raise DomainError(
        f"{where}: the prompt cannot be used",
        got=repr(prompt)[:80],
        expected="text, or a list of {role, content} that ends with a user message",
    )


def _message(part: object, where: str) -> Message:
    if isinstance(part, Mapping) and part.get("role") in ROLES and isinstance(part.get("content"), str):
        return Message(part["role"], part["content"])
    raise DomainError(
        f"{where}: a message of the prompt cannot be used",
        got=repr(part)[:80],
        expected=f'{{"role": one of {", ".join(ROLES)}, "content": text}}',
    )


def _text(answer: object, where: str) -> str:
    """An answer as text; of a list of messages the last, of a list of answers the first."""
    if isinstance(answer, Sequence) and not isinstance(answer, str) and answer:
        last = answer[-1]
        return _text(last["content"] if isinstance(last, Mapping) and "content" in last else answer[0], where)
    if isinstance(answer, bool | Mapping) or not isinstance(answer, str | int | float):
        raise DomainError(
            f"{where}: the answer cannot be used", got=repr(answer)[:80], expected="text or a number"
        )
    return str(answer)


def _level(level: object, where: str) -> float:
    if isinstance(level, bool) or not isinstance(level, int | float) or level != level:  # noqa: PLR0124  NaN
        raise DomainError(f"{where}: the level is not a number", got=repr(level)[:80])
    return level
