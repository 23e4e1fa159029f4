"""A file of rows as a domain.

The split of a row follows from a hash of its prompt, so a duplicate never crosses splits and a row stays
where it is when others are added. Within (split, level) the order is a permutation keyed by the domain's
name; indices wrap around.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from burnish.domains.answers import COMPARE
from burnish.domains.prompts import completion_for, extract_answer, system_text
from burnish.domains.row_columns import Example, grader_of, read_example
from burnish.domains.row_files import read_rows
from burnish.domains.settings import AnswerFormat, DomainSettings, RowsSettings
from burnish.domains.splits import content_split
from burnish.errors import DomainError
from burnish.randomness import permutation
from burnish.records import Abstained, Message, Sample, Scored, Split, Task, Verdict


@dataclass(frozen=True, slots=True)
class _Table:
    """A file read, split and ordered."""

    examples: tuple[Example, ...]
    order: Mapping[tuple[Split, int], Sequence[int]]
    levels: int


@dataclass(frozen=True)
class RowsDomain:
    """A row file as a domain; the file is read once per process."""

    settings: RowsSettings
    answer_format: AnswerFormat = "plain"
    instruction: str | None = None

    @property
    def name(self) -> str:
        """As the settings say."""
        return self.settings.name

    @property
    def levels(self) -> int:
        """Number of distinct values of the level column, 1 without one."""
        return self._table.levels

    def size(self, split: Split, level: int) -> int | None:
        """Rows of a split at a level."""
        self._check_level(level)
        return len(self._table.order.get((split, level), ()))

    def task(self, split: Split, level: int, index: int) -> Task:
        """The task at a position.

        Raises:
            DomainError: level out of range, or no row of this split at this level.
        """
        self._check_level(level)
        order = self._table.order.get((split, level))
        if not order:
            raise _empty_split(self.settings, split, f"level {level}", len(self._table.examples))
        example = self._table.examples[order[index % len(order)]]
        return Task(
            domain=self.name,
            split=split,
            level=level,
            index=index,
            messages=self._with_instruction(example.messages),
            gold=completion_for(example.answer, self.answer_format),
            data={"answer": example.answer, "row": example.data},
        )

    def grade(self, task: Task, sample: Sample) -> Verdict:
        """Compare the extracted answer with the row's by the domain's grader."""
        answer = extract_answer(sample.text, self.answer_format)
        if not answer:
            return Scored(0.0, passed=False)
        right = COMPARE[grader_of(self.settings)](answer, str(task.data["answer"]))
        if right is None:
            return Abstained("comparing the answer took too long")
        return Scored(float(right), passed=right)

    @property
    def _table(self) -> _Table:
        return _load(self.settings.model_dump_json())

    def _with_instruction(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """The messages with our system message in front, unless they bring their own."""
        system = system_text(self.answer_format, self.instruction)
        has_own = any(message.role == "system" for message in messages)
        return messages if has_own or not system else (Message("system", system), *messages)

    def _check_level(self, level: int) -> None:
        if not 0 <= level < self.levels:
            raise DomainError(
                f"{self.name} has no such level",
                got=f"level {level}",
                expected=f"0 to {self.levels - 1}" if self.levels > 1 else "0, its only level",
                next_step="set `level` of [[domains.rows]] to a column that holds the difficulty",
            )


def open_rows(settings: RowsSettings, common: DomainSettings | None = None) -> RowsDomain:
    """The domain of a row file, read and checked at once.

    Raises:
        DomainError: the file, one of its rows, or a split without a row.
    """
    table = _load(settings.model_dump_json())
    for split in Split:
        if not any(where is split for where, _ in table.order):
            raise _empty_split(settings, split, "any level", len(table.examples))
    common = common or DomainSettings()
    return RowsDomain(settings, common.answer_format, common.instruction)


@lru_cache(maxsize=32)
def _load(settings_json: str) -> _Table:
    settings = RowsSettings.model_validate_json(settings_json)
    rows = read_rows(Path(settings.path).expanduser())
    examples = tuple(read_example(row, number, settings) for number, row in enumerate(rows, start=1))
    steps = {level: step for step, level in enumerate(sorted({example.level for example in examples}))}
    members: dict[tuple[Split, int], list[int]] = {}
    for position, example in enumerate(examples):
        place = content_split(example.content), steps[example.level]
        members.setdefault(place, []).append(position)
    order = {place: _shuffled(found, settings.name, *place) for place, found in members.items()}
    return _Table(examples, order, len(steps))


def _shuffled(positions: list[int], name: str, split: Split, level: int) -> list[int]:
    return [positions[i] for i in permutation(len(positions), "rows", name, str(split), level)]


def _empty_split(settings: RowsSettings, split: Split, where: str, rows: int) -> DomainError:
    return DomainError(
        f"{settings.name} has no row of split {split} at {where}",
        got=f"{rows} rows in {settings.path}",
        expected="rows enough for all splits: about half are train, a quarter each eval and holdout",
        next_step="add rows; a hash of the prompt decides where each belongs",
    )
