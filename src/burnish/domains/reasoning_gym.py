"""Every reasoning-gym family as a domain.

A task is drawn by rejection: candidate seeds follow from (family, level, split, index, attempt), and the
first item whose question hashes into the wanted split is taken. The hash knows the text of the question
only (`splits.py`), so splits share no question, not even across levels or families. Items that cannot be
used are passed over: the generator gave up, the reference answer is empty, or it fails its own scorer.

`task` is total because every split of every level in the table of families holds some question, also where
there are only a handful (6 for `tower_of_hanoi`, 8 for `coin_flip` at level 0): indices then repeat
questions within a split, never across splits. A split found empty, after `ATTEMPTS` candidates, is a
`DomainError`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnish.domains.prompts import ask, completion_for, extract_answer, system_text
from burnish.domains.rg_families import FAMILIES, SOURCE, Family
from burnish.domains.rg_rules import Rule, rule_of
from burnish.domains.rg_source import SEEDS, Entry, make_item, score
from burnish.domains.settings import AnswerFormat
from burnish.domains.splits import content_split
from burnish.errors import DomainError, suggestion
from burnish.randomness import integer
from burnish.records import Abstained, Boundary, Faulted, Sample, Scored, Split, Task, Verdict
from burnish.rewards.deadline import within

ATTEMPTS = 200
"""Candidates looked at for one task; a quarter of them belongs to the rarest split."""
LENGTH_FACTOR, LENGTH_FREE = 4, 1000
"""Answers longer than `LENGTH_FACTOR` times the reference plus `LENGTH_FREE` characters are wrong unread."""

_NOT_A_NUMBER = re.compile(r"(?<![a-z])(nan|inf|infinity)(?![a-hk-z])", re.IGNORECASE)
_HUGE_EXPONENT = re.compile(r"\d[eE][+-]?\d{4}")
_INFRASTRUCTURE = (MemoryError, OSError, ImportError, SystemError)
"""What a scorer can raise that no form of an answer explains."""

WRONG = Scored(0.0, passed=False)


@dataclass(frozen=True)
class ReasoningGymDomain:
    """One family as a domain; cheap to make, nothing is imported or built before the first task."""

    family: Family
    answer_format: AnswerFormat = "plain"
    instruction: str | None = None
    graded: bool = False

    @property
    def name(self) -> str:
        """`reasoning-gym/<category>/<family>`."""
        return self.family.full_name

    @property
    def levels(self) -> int:
        """Number of usable levels of the family's curriculum, 1 without one."""
        return len(self.family.upstream_levels)

    def size(self, split: Split, level: int) -> int | None:
        """None: tasks are generated without end (some families repeat themselves soon)."""
        del split
        self._check_level(level)
        return None

    def task(self, split: Split, level: int, index: int) -> Task:
        """The task at a position.

        Raises:
            DomainError: level out of range, or no usable question of this split among `ATTEMPTS` items.
        """
        self._check_level(level)
        entry = _draw(self.family.name, split, level, index)
        reference = rule_of(self.family.name, entry).reference(entry)
        return Task(
            domain=self.name,
            split=split,
            level=level,
            index=index,
            messages=ask(entry["question"], system_text(self.answer_format, self.instruction)),
            gold=None if reference is None else completion_for(str(reference), self.answer_format),
            data={"entry": entry},
        )

    def grade(self, task: Task, sample: Sample) -> Verdict:
        """Right or wrong by the family's rule; partial credit only when `graded`."""
        answer = extract_answer(sample.text, self.answer_format)
        if answer is None:
            return WRONG
        entry: Any = task.data["entry"]
        return judge_answer(self.family.name, task.level, answer, entry, graded=self.graded)

    def _check_level(self, level: int) -> None:
        if not 0 <= level < self.levels:
            raise DomainError(
                f"{self.name} has no such level",
                got=f"level {level}",
                expected=f"0 to {self.levels - 1}" if self.levels > 1 else "0, its only level",
                next_step="set domains.level, or domains.levels for this domain",
            )


def make_domain(
    name: str, *, answer_format: AnswerFormat = "plain", graded: bool = False
) -> ReasoningGymDomain:
    """The domain of a family, by full or short name.

    Raises:
        DomainError: no such family.
    """
    family = FAMILIES.get(name.rpartition("/")[2])
    if family is None or name not in (family.name, family.full_name):
        known = [family.full_name for family in FAMILIES.values()]
        raise DomainError(
            f"no reasoning-gym family {name!r}",
            expected=f"one of {len(known)}, for example {known[0]}",
            next_step=suggestion(name, known) or f"burnish domains list '{SOURCE}/*'",
        )
    return ReasoningGymDomain(family, answer_format=answer_format, graded=graded)


def _draw(family: str, split: Split, level: int, index: int) -> Entry:
    """The first candidate that belongs to the split and can be used."""
    trouble: Exception | None = None
    for attempt in range(ATTEMPTS):
        seed = integer(SEEDS, family, level, str(split), index, attempt)
        try:
            entry = make_item(family, level, seed)
        except (ValueError, RuntimeError, ArithmeticError, LookupError, AssertionError) as error:
            trouble = error
        else:
            if content_split(entry["question"]) is split and _usable(family, level, entry):
                return entry
    raise DomainError(
        f"{SOURCE} family {family!r}, level {level}: no usable question of split {split}",
        got=f"{ATTEMPTS} candidates" + (f", the last trouble was {trouble!r}" if trouble else ""),
        next_step="choose another level, or exclude the domain",
    ) from trouble


def _usable(family: str, level: int, entry: Entry) -> bool:
    """Whether an item has a reference answer that its scorer accepts, where one is expected."""
    rule = rule_of(family, entry)
    reference = rule.reference(entry)
    if reference is None:
        return True
    if not str(reference).strip():
        return False
    return not rule.verify_reference or score(family, level, str(reference), entry) >= rule.threshold


def judge_answer(family: str, level: int, answer: str, entry: Entry, *, graded: bool = False) -> Verdict:
    """The verdict on one extracted answer.

    A scorer that raises over an answer it cannot parse has called it wrong. It is a fault when it raises
    over the reference answer as well, or when no answer explains what it raised.
    """
    rule = rule_of(family, entry)
    reference = str(rule.reference(entry) or "")
    is_reference = bool(answer) and answer == reference.strip()
    if not is_reference and (_is_refused(answer, reference) or (rule.gate and not rule.gate(answer, entry))):
        return WRONG
    if rule.replaces:
        return Scored(1.0, passed=True) if rule.replaces(answer, entry) else WRONG
    try:
        marks = _marks(family, level, reference if is_reference else answer, entry, rule)
    except TimeoutError as error:
        return Abstained(f"the scorer of {family} {error}")
    except _INFRASTRUCTURE as error:
        return Faulted(Boundary.DOMAIN, f"{type(error).__name__}: {error} (scorer of {family})")
    except Exception as error:
        return _verdict_on_crash(family, level, entry, rule, error)
    passed = marks >= rule.threshold and (rule.also is None or rule.also(answer, entry))
    return Scored(1.0, passed=True) if passed else _partial(marks, rule, graded)


def _is_refused(answer: str, reference: str) -> bool:
    """Whether an answer is wrong unread: empty, endless, or made of what careless scorers stumble over.

    Not-a-numbers compare equal to anything; huge exponents take for ever.
    """
    if not answer or len(answer) > LENGTH_FACTOR * len(reference) + LENGTH_FREE:
        return True
    patterns = (_NOT_A_NUMBER, _HUGE_EXPONENT)
    return any(pattern.search(answer) and not pattern.search(reference) for pattern in patterns)


def _partial(marks: float, rule: Rule, graded: bool) -> Scored:
    if not graded or rule.graded_above is None or not marks > rule.graded_above:
        return WRONG
    return Scored(min(marks, 0.99), passed=False)


def _marks(family: str, level: int, answer: str, entry: Mapping[str, Any], rule: Rule) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if rule.seconds is None:
            return score(family, level, answer, entry)
        return within(rule.seconds, lambda: score(family, level, answer, entry))


def _verdict_on_crash(family: str, level: int, entry: Entry, rule: Rule, error: Exception) -> Verdict:
    """Wrong when the scorer can still tell the reference answer; a fault when it cannot."""
    reference = rule.reference(entry)
    try:
        if reference is None or _marks(family, level, str(reference), entry, rule) >= rule.threshold:
            return WRONG
    except Exception as second:
        error = second
    return Faulted(Boundary.DOMAIN, f"{type(error).__name__}: {error} (scorer of {family})")
