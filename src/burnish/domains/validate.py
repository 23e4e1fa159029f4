"""Proof of a domain without a model: gold answers get full marks, wrong ones do not, splits share nothing.

Covered: tasks that cannot be made or differ when asked for twice, graders that refuse the gold answer, let
a wrong one pass or break over it, and questions common to two splits, all on a sample of tasks. Not
covered: what differs from one process to another, and answers that are wrong in ways not tried here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import median
from time import perf_counter
from typing import Any

from burnish.domains.base import Domain
from burnish.domains.prompts import completion_for, extract_answer
from burnish.domains.splits import canonical
from burnish.errors import DomainError
from burnish.records import Abstained, Faulted, Sample, Scored, Split, Task, Verdict
from burnish.rewards.judge import judge

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_SHOWN = 60

ALWAYS_WRONG = {
    "an empty answer": "",
    "'I don't know'": "I don't know",
    "a very long text": "word " * 20_000,
    "odd Unicode": "日本語 ①② \u202e\x00 ﬁ 🙂",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that makes a domain unfit, with its first example."""

    what: str
    got: str
    expected: str
    task: str
    """Key of the first task where it was seen."""
    times: int = 1

    def __str__(self) -> str:
        """One sentence."""
        often = f", {self.times} times" if self.times > 1 else ""
        return f"{self.what} ({self.task}{often}): got {self.got}, expected {self.expected}"


@dataclass(frozen=True, slots=True)
class LevelReport:
    """What was seen at one level."""

    level: int
    tasks: int
    """Tasks made, all splits together."""
    different: int
    """Different questions among them."""
    with_gold: int
    """Tasks with a known gold answer."""
    gold_passed: int
    """Gold answers that got full marks."""
    wrong_tried: int
    wrong_refused: int
    """Wrong answers that got a verdict, or an abstention, and did not pass."""
    seconds_per_task: float
    """Median time to make a task."""


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """Whether a domain is sound, and why not."""

    name: str
    levels: tuple[LevelReport, ...]
    findings: tuple[Problem, ...]
    notes: tuple[str, ...]
    """What a user should know and is no fault, such as the lack of gold answers."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def problems(self) -> tuple[str, ...]:
        """The findings, a sentence each."""
        return tuple(map(str, self.findings))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {**asdict(self), "ok": self.ok, "problems": list(self.problems)}


@dataclass(frozen=True, slots=True)
class _Try:
    """One answer given to a grader."""

    task: Task
    kind: str
    answer: str
    verdict: Verdict

    @property
    def passed(self) -> bool:
        return isinstance(self.verdict, Scored) and (self.verdict.passed or self.verdict.value >= 1)

    @property
    def has_full_marks(self) -> bool:
        return isinstance(self.verdict, Scored) and self.verdict.passed and self.verdict.value == 1


_GOLD = "the gold answer"
_OTHER = "the gold answer of another task"


def validate_domain(domain: Domain, tasks: int = 8, levels: Sequence[int] | None = None) -> ValidationReport:
    """Prove a domain on `tasks` tasks of each split at each of `levels`, all of them by default.

    Another task's gold answer may be right by chance where questions have several solutions; it is a
    problem only when it passes more often than not.

    Raises:
        DomainError: no task asked for, or a level out of range.
    """
    levels = range(domain.levels) if levels is None else levels
    wrong = [level for level in levels if not 0 <= level < domain.levels]
    if wrong or tasks < 1 or not levels:
        raise DomainError(
            f"{domain.name} cannot be validated like this",
            got=f"levels {wrong}" if wrong else f"{tasks} tasks at {len(levels)} levels",
            expected=f"levels from 0 to {domain.levels - 1}, and at least 1 task",
        )
    made, reports, found, notes = [], [], [], []
    for level in levels:
        here, seconds, problems = _make_tasks(domain, level, tasks)
        tries = [attempt for task in here for attempt in _tries(domain, task, here)]
        made += here
        reports.append(_count(level, here, tries, seconds))
        found += [*problems, *_problems(tries)]
        notes += _notes(level, here, tries)
    found += _shared(made)
    return ValidationReport(domain.name, tuple(reports), tuple(_merged(found)), tuple(notes))


def _make_tasks(domain: Domain, level: int, count: int) -> tuple[list[Task], list[float], list[Problem]]:
    """The tasks of a level that could be made, the seconds each took, and what was wrong with them."""
    made: list[Task] = []
    seconds: list[float] = []
    problems: list[Problem] = []
    for split in Split:
        for index in range(count):
            place = (domain.name, split, level, index)
            try:
                size = domain.size(split, level)
                if size is not None and index >= max(size, 1):
                    break
                start = perf_counter()
                task = _make(domain, split, level, index)
                seconds.append(perf_counter() - start)
                again = _make(domain, split, level, index)
            except Exception as error:
                got = f"{type(error).__name__}: {error}".partition("\n")[0]
                problems.append(Problem("a task cannot be made", got, "a task", ":".join(map(str, place))))
                continue
            made.append(task)
            problems += _differences(task, again, place)
    return made, seconds, problems


def _make(domain: Domain, split: Split, level: int, index: int) -> Task:
    task = domain.task(split, level, index)
    if not isinstance(task, Task) or not task.messages:
        raise TypeError(f"made {task!r:.{_SHOWN}}, which is no task with a prompt")
    return task


def _differences(task: Task, again: Task, place: tuple[str, Split, int, int]) -> Iterator[Problem]:
    """What is wrong with a task before anybody answers it."""
    found = (task.domain, task.split, task.level, task.index)
    if found != place:
        yield Problem("a task names another place", _short(found), _short(place), task.key)
    if (task.messages, task.gold) != (again.messages, again.gold):
        got = f"{_question(again)} (gold {again.gold!r:.30})"
        expected = f"{_question(task)} (gold {task.gold!r:.30})"
        yield Problem("a task differs when asked for twice", got, expected, task.key)
    elif not _same_data(task.data, again.data):
        yield Problem("the data of a task differs when asked for twice", "other data", "the same", task.key)
    if task.gold is not None and not task.gold.strip():
        yield Problem("a gold answer is empty", repr(task.gold), "an answer, or None", task.key)


def _same_data(one: object, other: object) -> bool:
    try:
        if bool(one == other):
            return True
    except Exception:  # noqa: S110 - arrays, for example, do not compare to one truth value
        pass
    return _ADDRESS.sub("", repr(one)) == _ADDRESS.sub("", repr(other))


def _tries(domain: Domain, task: Task, others: Sequence[Task]) -> Iterator[_Try]:
    """Every answer tried on a task, with its verdict."""
    if task.gold is not None:
        yield _Try(task, _GOLD, task.gold, judge(domain, task, Sample(task.gold)))
    for kind, answer in _wrong_answers(task, others):
        yield _Try(task, kind, answer, judge(domain, task, Sample(answer)))


def _wrong_answers(task: Task, others: Sequence[Task]) -> Iterator[tuple[str, str]]:
    """Answers that must not pass, by kind; what equals the gold answer is left out."""
    answers = {**ALWAYS_WRONG, "the prompt itself": task.messages[-1].content}
    if task.gold is not None:
        answers["the gold answer with a word behind it"] = _with_a_word(task.gold)
        position = next((i for i, other in enumerate(others) if other is task), 0)
        following = [*others[position + 1 :], *others[:position]]
        golds = (other.gold for other in following if other.gold is not None)
        other_gold = next((gold for gold in golds if canonical(gold) != canonical(task.gold)), None)
        if other_gold is not None:
            answers[_OTHER] = other_gold
    for kind, answer in answers.items():
        if task.gold is None or canonical(answer) != canonical(task.gold):
            yield kind, answer


def _with_a_word(gold: str) -> str:
    """A word behind the answer, within its tags where it has some."""
    tagged = extract_answer(gold, "tags")
    return f"{gold} x" if tagged is None else completion_for(f"{tagged} x", "tags")


def _problems(tries: Sequence[_Try]) -> Iterator[Problem]:
    swapped = [attempt for attempt in tries if attempt.kind == _OTHER]
    by_chance = 2 * sum(attempt.passed for attempt in swapped) <= len(swapped)
    for attempt in tries:
        is_gold = attempt.kind == _GOLD
        key, shown = attempt.task.key, _in_words(attempt.verdict)
        if isinstance(attempt.verdict, Faulted):
            yield Problem(f"the grader breaks over {attempt.kind}", shown, "a verdict", key)
        elif is_gold and not attempt.has_full_marks:
            yield Problem("the gold answer does not get full marks", shown, "1.0 and passed", key)
        elif attempt.passed and not is_gold and not (attempt.kind == _OTHER and by_chance):
            got = f"{shown} for {attempt.answer!r:.{_SHOWN}}"
            yield Problem(f"{attempt.kind} passes", got, "a wrong answer", key)


def _notes(level: int, made: Sequence[Task], tries: Sequence[_Try]) -> Iterator[str]:
    without = sum(task.gold is None for task in made)
    if without:
        share = (
            "no gold answer is" if without == len(made) else f"{without} of {len(made)} gold answers are not"
        )
        yield f"level {level}: {share} known, so there is nothing to fine-tune on"
    swapped = [attempt.passed for attempt in tries if attempt.kind == _OTHER]
    if 0 < 2 * sum(swapped) <= len(swapped):
        yield f"level {level}: {_OTHER} passed {sum(swapped)} of {len(swapped)} times"
    abstained = sum(isinstance(attempt.verdict, Abstained) for attempt in tries if attempt.kind != _GOLD)
    if abstained:
        yield f"level {level}: the grader could not tell {abstained} times"


def _shared(made: Iterable[Task]) -> Iterator[Problem]:
    """Questions that two splits have in common."""
    by_split: dict[Split, dict[str, Task]] = {split: {} for split in Split}
    for task in made:
        by_split[task.split].setdefault(_content(task), task)
    for one, other in combinations(Split, 2):
        for content in by_split[one].keys() & by_split[other].keys():
            task = by_split[other][content]
            got = f"{_question(task)}, also {by_split[one][content].key}"
            yield Problem(f"splits {one} and {other} share a question", got, "different questions", task.key)


def _count(level: int, made: Sequence[Task], tries: Sequence[_Try], seconds: Sequence[float]) -> LevelReport:
    gold = [attempt for attempt in tries if attempt.kind == _GOLD]
    wrong = [attempt for attempt in tries if attempt.kind != _GOLD]
    return LevelReport(
        level=level,
        tasks=len(made),
        different=len({_content(task) for task in made}),
        with_gold=len(gold),
        gold_passed=sum(a.has_full_marks for a in gold),
        wrong_tried=len(wrong),
        wrong_refused=sum(not a.passed and not isinstance(a.verdict, Faulted) for a in wrong),
        seconds_per_task=median(seconds or [0.0]),
    )


def _merged(problems: Iterable[Problem]) -> list[Problem]:
    """One problem of each kind, the first, with how often it was seen."""
    kinds: dict[str, list[Problem]] = {}
    for problem in problems:
        kinds.setdefault(problem.what, []).append(problem)
    return [
        Problem(what, same[0].got, same[0].expected, same[0].task, len(same)) for what, same in kinds.items()
    ]


def _content(task: Task) -> str:
    """What a task asks; its system message, the same for all, does not count."""
    return canonical("\n".join(message.content for message in task.messages if message.role != "system"))


def _question(task: Task) -> str:
    return _short(task.messages[-1].content)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _in_words(verdict: Verdict) -> str:
    if isinstance(verdict, Scored):
        return f"{verdict.value:g} and {'passed' if verdict.passed else 'not passed'}"
    return verdict.reason if isinstance(verdict, Abstained) else verdict.error
