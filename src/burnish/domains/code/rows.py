"""A file of problems whose answers are programs: MBPP, HumanEval, APPS, LiveCodeBench columns.

[[domains.rows]]
name = "code/mbpp"
path = "mbpp.jsonl"
adapter = "mbpp"

As with other rows, a hash of the prompt decides the split, and the order within (split, level) is a keyed
permutation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import cast

from burnish.domains.code.columns import read_code
from burnish.domains.code.example import CodeExample
from burnish.domains.code.extract import extract_code
from burnish.domains.code.grading import grade_program
from burnish.domains.code.prompts import ask_for_code, completion_with
from burnish.domains.row_files import read_rows
from burnish.domains.settings import AnswerFormat, CodeConvention, CodeSettings, DomainSettings, RowsSettings
from burnish.domains.splits import content_split
from burnish.errors import DomainError
from burnish.randomness import permutation
from burnish.records import Sample, Split, Task, Verdict
from burnish.sandbox.judging.extract import continued


@dataclass(frozen=True, slots=True)
class _Table:
    """A file read, split and ordered."""

    examples: tuple[CodeExample, ...]
    order: Mapping[tuple[Split, int], Sequence[int]]
    levels: int


@dataclass(frozen=True)
class CodeRowsDomain:
    """A file of problems as a domain; the file is read once per process."""

    settings: RowsSettings
    answer_format: AnswerFormat = "plain"
    instruction: str | None = None
    code: CodeSettings = field(default_factory=CodeSettings)

    @property
    def name(self) -> str:
        """As the settings say."""
        return self.settings.name

    @property
    def levels(self) -> int:
        """Number of distinct difficulties, 1 without a column for them."""
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
        gold = None if example.gold is None else completion_with(example.gold, self.answer_format)
        return Task(
            domain=self.name,
            split=split,
            level=level,
            index=index,
            messages=ask_for_code(example.question, self.answer_format, self.instruction),
            gold=gold,
            data={"example": example, "row": example.row},
        )

    def grade(self, task: Task, sample: Sample) -> Verdict:
        """Run the program of a completion on the row's tests."""
        example = cast("CodeExample", task.data["example"])
        code = extract_code(sample.text, self.answer_format)
        if code and example.stub:
            code = continued(example.stub, code, example.entry_point)
        return grade_program(code, example.suite, self.code, self.name)

    @property
    def _table(self) -> _Table:
        return _load(self.settings.model_dump_json(), self.code.show_tests)

    def _check_level(self, level: int) -> None:
        if not 0 <= level < self.levels:
            raise DomainError(
                f"{self.name} has no such level",
                got=f"level {level}",
                expected=f"0 to {self.levels - 1}" if self.levels > 1 else "0, its only level",
                next_step="set domains.levels for this domain",
            )


def open_code_rows(settings: RowsSettings, common: DomainSettings | None = None) -> CodeRowsDomain:
    """The domain of a file of problems, read and checked at once; nothing is run.

    Raises:
        DomainError: the file, one of its rows, a setting that has no meaning here, or a split without a row.
    """
    common = common or DomainSettings()
    for key in ("prompt", "answer", "grader", "level"):
        if getattr(settings, key) is not None:
            raise DomainError(
                f"{settings.name}: `{key}` has no meaning for adapter {settings.adapter!r}",
                got=f"{key} = {getattr(settings, key)!r}",
                expected="name, path and adapter only; programs are judged by the row's tests",
                next_step=f"remove `{key}` from [[domains.rows]]",
            )
    table = _load(settings.model_dump_json(), common.code.show_tests)
    for split in Split:
        if not any(where is split for where, _ in table.order):
            raise _empty_split(settings, split, "any level", len(table.examples))
    return CodeRowsDomain(settings, common.answer_format, common.instruction, common.code)


@lru_cache(maxsize=16)
def _load(settings_json: str, show_tests: int) -> _Table:
    settings = RowsSettings.model_validate_json(settings_json)
    adapter = cast("CodeConvention", settings.adapter)
    rows = read_rows(Path(settings.path).expanduser())
    examples = tuple(
        read_code(adapter, row, f"{settings.path}, row {number}", show_tests)
        for number, row in enumerate(rows, start=1)
    )
    steps = {level: step for step, level in enumerate(sorted({example.level for example in examples}))}
    members: dict[tuple[Split, int], list[int]] = {}
    for position, example in enumerate(examples):
        members.setdefault((content_split(example.prompt), steps[example.level]), []).append(position)
    order = {
        place: [found[i] for i in permutation(len(found), "rows", settings.name, str(place[0]), place[1])]
        for place, found in members.items()
    }
    return _Table(examples, order, len(steps))


def _empty_split(settings: RowsSettings, split: Split, where: str, rows: int) -> DomainError:
    return DomainError(
        f"{settings.name} has no row of split {split} at {where}",
        got=f"{rows} rows in {settings.path}",
        expected="rows enough for all splits: about half are train, a quarter each eval and holdout",
        next_step="add rows; a hash of the prompt decides where each belongs",
    )
