"""A validation passes what is sound and names what is not."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import count
from random import Random
from typing import Any

import numpy as np
import pytest

from burnish.domains.functions import FunctionDomain, domain
from burnish.domains.prompts import ask, completion_for, extract_answer
from burnish.domains.validate import validate_domain
from burnish.errors import DomainError
from burnish.records import Abstained, Sample, Scored, Split, Task, Verdict


def make_sum(rng: Random, level: int) -> tuple[str, int]:
    a, b = rng.randrange(100 * (level + 1)), rng.randrange(100 * (level + 1))
    return f"What is {a} + {b}?", a + b


SUMS = domain("mine/sums", make_sum, levels=2)


def graded_by(grade) -> FunctionDomain:
    return domain("mine/sums", make_sum, grade)


@dataclass(frozen=True)
class Changed:
    """A sound domain with one method replaced."""

    make: Any = None
    mark: Any = None
    rows: int | None = None
    name: str = "mine/sums"
    levels: int = 1

    def size(self, split: Split, level: int) -> int | None:
        return self.rows

    def task(self, split: Split, level: int, index: int) -> Task:
        task = SUMS.task(split, level, index)
        return self.make(task) if self.make else task

    def grade(self, task: Task, sample: Sample) -> Verdict:
        return self.mark(task, sample) if self.mark else SUMS.grade(task, sample)


def kinds(of, tasks: int = 3) -> set[str]:
    report = validate_domain(of, tasks=tasks)
    assert report.ok == (not report.findings)
    return {problem.what for problem in report.findings}


def test_a_sound_domain_is_ok():
    report = validate_domain(SUMS, tasks=4)
    assert report.ok, report.problems
    assert report.problems == report.notes == ()


def test_counts_per_level():
    report = validate_domain(SUMS, tasks=4)
    assert [level.level for level in report.levels] == [0, 1]
    for level in report.levels:
        assert (level.tasks, level.with_gold, level.gold_passed) == (12, 12, 12)
        assert level.wrong_tried == level.wrong_refused == 12 * 7
        assert 0 < level.seconds_per_task < 1


def test_only_the_levels_asked_for():
    assert [level.level for level in validate_domain(SUMS, tasks=1, levels=[1]).levels] == [1]


@pytest.mark.parametrize("settings", [{"tasks": 0}, {"levels": [2]}, {"levels": [-1]}, {"levels": []}])
def test_impossible_settings(settings):
    with pytest.raises(DomainError, match="cannot be validated like this"):
        validate_domain(SUMS, **settings)


def test_a_gold_answer_that_fails():
    assert kinds(graded_by(lambda question, answer, text: text == f"{answer}.")) == {
        "the gold answer does not get full marks"
    }


def test_a_gold_answer_that_gets_part_marks():
    assert "the gold answer does not get full marks" in kinds(
        graded_by(lambda question, answer, text: Scored(0.9, passed=True) if text == str(answer) else False)
    )


def test_a_gold_answer_without_a_verdict():
    assert "the gold answer does not get full marks" in kinds(
        graded_by(lambda question, answer, text: None if text == str(answer) else False)
    )


@pytest.mark.parametrize(
    ("grade", "kind"),
    [
        (lambda q, a, text: text in (str(a), ""), "an empty answer passes"),
        (lambda q, a, text: text in (str(a), "I don't know"), "'I don't know' passes"),
        (lambda q, a, text: text == str(a) or len(text) > 10_000, "a very long text passes"),
        (lambda q, a, text: text == str(a) or not text.isascii(), "odd Unicode passes"),
        (lambda q, a, text: text in (str(a), q), "the prompt itself passes"),
        (lambda q, a, text: text.startswith(str(a)), "the gold answer with a word behind it passes"),
        (lambda q, a, text: text.isdigit(), "the gold answer of another task passes"),
    ],
)
def test_a_wrong_answer_that_passes(grade, kind):
    assert kinds(graded_by(grade)) == {kind}


def test_a_wrong_answer_with_full_reward_passes_too():
    assert kinds(graded_by(lambda q, a, text: 1.0 if text in (str(a), "") else 0.0)) == {
        "an empty answer passes"
    }
    assert kinds(graded_by(lambda q, a, text: text == str(a) or Scored(float(text == ""), passed=False))) == {
        "an empty answer passes"
    }


def test_a_grader_that_breaks():
    report = validate_domain(graded_by(lambda q, a, text: int(text) == a), tasks=2)
    broken = {problem.what: problem for problem in report.findings}
    assert "the grader breaks over an empty answer" in broken
    assert "ValueError" in broken["the grader breaks over an empty answer"].got
    assert "the grader breaks over the gold answer" not in broken


def test_the_other_answer_may_be_right_by_chance():
    def make(rng: Random, level: int) -> tuple[str, str]:
        number = rng.randrange(10_000)
        return f"A number with the last digit of {number}?", str(number)

    digits = domain("mine/digits", make, lambda q, a, text: text.isdigit() and text[-1] == a[-1])
    report = validate_domain(digits, tasks=8)
    assert report.ok, report.problems
    assert any("the gold answer of another task passed" in note for note in report.notes)


def test_a_task_that_differs_when_asked_twice():
    calls = count()
    assert kinds(Changed(lambda task: replace(task, gold=str(next(calls))))) >= {
        "a task differs when asked for twice"
    }


def test_data_that_differs_when_asked_twice():
    calls = count()
    changed = Changed(lambda task: replace(task, data={**task.data, "seed": next(calls)}))
    assert kinds(changed) == {"the data of a task differs when asked for twice"}


def test_data_that_cannot_be_compared_is_compared_as_text():
    changed = Changed(lambda task: replace(task, data={**task.data, "grid": np.zeros(3), "tool": Random}))
    assert kinds(changed) == set()


def test_objects_that_say_nothing_about_themselves_do_not_count():
    assert kinds(Changed(lambda task: replace(task, data={**task.data, "tool": object()}))) == set()


def test_a_task_that_names_another_place():
    assert kinds(Changed(lambda task: replace(task, index=99))) == {"a task names another place"}


def test_splits_that_share_questions():
    changed = Changed(lambda task: replace(task, messages=ask(f"What is  {task.index}?", "")))
    report = validate_domain(changed, tasks=2)
    assert {p.what for p in report.findings} == {
        "splits train and eval share a question",
        "splits train and holdout share a question",
        "splits eval and holdout share a question",
    }
    assert report.findings[0].times == 2


def test_tasks_that_cannot_be_made():
    report = validate_domain(domain("mine/tiny", lambda rng, level: ("Heads or tails?", "heads")), tasks=2)
    (problem,) = report.findings
    assert problem.what == "a task cannot be made"
    assert problem.times == 4
    assert "too small for three splits" in problem.got
    assert problem.task.startswith("mine/tiny:")


@pytest.mark.parametrize("made", [None, "task"])
def test_what_is_no_task(made):
    assert kinds(Changed(lambda task: made)) == {"a task cannot be made"}


def test_a_task_without_a_prompt():
    assert kinds(Changed(lambda task: replace(task, messages=()))) == {"a task cannot be made"}


def test_an_empty_gold_answer():
    assert "a gold answer is empty" in kinds(Changed(lambda task: replace(task, gold=" ")))


def test_no_gold_answer_is_a_note():
    report = validate_domain(Changed(lambda task: replace(task, gold=None)), tasks=2)
    assert report.ok, report.problems
    assert report.levels[0].with_gold == 0
    assert report.notes == ("level 0: no gold answer is known, so there is nothing to fine-tune on",)


def test_abstentions_over_wrong_answers_are_a_note():
    def mark(task: Task, sample: Sample) -> Verdict:
        right = sample.text == task.gold
        return Scored(1.0, passed=True) if right else Abstained("unsure")

    report = validate_domain(Changed(mark=mark), tasks=1)
    assert report.ok
    assert report.notes == ("level 0: the grader could not tell 21 times",)


def test_a_finite_domain_is_not_asked_past_its_end():
    assert validate_domain(Changed(rows=2), tasks=5).levels[0].tasks == 6


def test_a_word_goes_inside_the_tags():
    def mark(task: Task, sample: Sample) -> Verdict:
        right = extract_answer(sample.text, "tags") == str(task.data["answer"])
        return Scored(float(right), passed=right)

    tagged = Changed(lambda task: replace(task, gold=completion_for(str(task.gold), "tags")), mark)
    assert kinds(tagged) == set()


def test_a_problem_reads_as_a_sentence_with_its_task():
    (sentence,) = validate_domain(graded_by(lambda q, a, text: text in (str(a), "")), tasks=1).problems
    assert sentence == (
        "an empty answer passes (mine/sums:train:0:0, 3 times): "
        "got 1 and passed for '', expected a wrong answer"
    )


def test_to_dict_is_plain_data():
    report = validate_domain(graded_by(lambda q, a, text: True), tasks=1)
    table = json.loads(json.dumps(report.to_dict()))
    assert table["ok"] is False
    assert table["name"] == "mine/sums"
    assert table["problems"] == list(report.problems)
    assert table["levels"][0]["tasks"] == 3
    assert table["findings"][0].keys() == {"what", "got", "expected", "task", "times"}
