"""A domain made of functions: deterministic, total, disjoint, graded as declared."""

from __future__ import annotations

import pickle
import subprocess
import sys
from random import Random

import pytest

from burnish.domains.base import Domain
from burnish.domains.functions import domain, with_reward
from burnish.domains.splits import canonical
from burnish.errors import DomainError
from burnish.records import Abstained, Faulted, Sample, Scored, Split, Task
from burnish.rewards.judge import judge


def make_sum(rng: Random, level: int) -> tuple[str, int]:
    a, b = rng.randrange(10 ** (level + 1)), rng.randrange(10 ** (level + 1))
    return f"What is {a} + {b}?", a + b


SUMS = domain("mine/sums", make_sum, levels=3)


def graded_by(grade, **settings):
    return domain("mine/sums", make_sum, grade, **settings)


def first(of: Domain) -> Task:
    return of.task(Split.TRAIN, 0, 0)


def test_it_is_a_domain():
    assert isinstance(SUMS, Domain)
    assert isinstance(with_reward(SUMS, lambda task, text: 1.0), Domain)
    assert SUMS.size(Split.TRAIN, 2) is None


def test_a_task_asks_the_question_and_knows_the_answer():
    task = SUMS.task(Split.EVAL, 1, 5)
    assert (task.domain, task.split, task.level, task.index) == ("mine/sums", Split.EVAL, 1, 5)
    assert [m.role for m in task.messages] == ["system", "user"]
    assert task.messages[-1].content.startswith("What is ")
    assert task.gold == str(task.data["answer"])


def test_a_task_is_the_same_in_another_process():
    code = (
        "from test_domains_functions import SUMS; from burnish.records import Split;"
        "print(SUMS.task(Split.HOLDOUT, 2, 7).messages[-1].content)"
    )
    folder = __file__.rpartition("/")[0]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == SUMS.task(Split.HOLDOUT, 2, 7).messages[-1].content


def test_splits_share_no_question_even_where_questions_repeat():
    questions = {
        split: {
            canonical(SUMS.task(split, level, i).messages[-1].content) for level in (0, 1) for i in range(150)
        }
        for split in Split
    }
    assert not questions[Split.TRAIN] & questions[Split.EVAL]
    assert not questions[Split.TRAIN] & questions[Split.HOLDOUT]
    assert not questions[Split.EVAL] & questions[Split.HOLDOUT]


def test_indices_give_different_tasks():
    assert len({SUMS.task(Split.TRAIN, 2, i).messages for i in range(30)}) > 25


def test_names_give_different_tasks():
    other = domain("mine/other", make_sum, levels=3)
    assert [other.task(Split.TRAIN, 2, i).gold for i in range(5)] != [
        SUMS.task(Split.TRAIN, 2, i).gold for i in range(5)
    ]


def test_levels_reach_the_function():
    assert len(SUMS.task(Split.TRAIN, 2, 0).messages[-1].content) > len("What is 9 + 9?")


def test_a_space_too_small_for_three_splits_says_so():
    tiny = domain("mine/tiny", lambda rng, level: ("Heads or tails?", "heads"))
    with pytest.raises(DomainError, match="too small for three splits"):
        for split in Split:
            tiny.task(split, 0, 0)


@pytest.mark.parametrize("made", [None, "question", ("q", "a", "b"), ("", "a"), (" \n", "a"), (3, "a")])
def test_what_is_no_task_is_refused(made):
    with pytest.raises(DomainError, match="made no task"):
        first(domain("mine/broken", lambda rng, level: made))


@pytest.mark.parametrize("level", [-1, 3])
def test_level_out_of_range(level):
    with pytest.raises(DomainError, match="no such level"):
        SUMS.task(Split.TRAIN, level, 0)


@pytest.mark.parametrize("name", ["", " ", "a b", "mine/*", "a:b", None])
def test_unusable_names(name):
    with pytest.raises(DomainError, match="name of its own"):
        domain(name, make_sum)


@pytest.mark.parametrize("settings", [{"make": 1}, {"grade": "exact"}, {"levels": 0}, {"levels": "2"}])
def test_unusable_settings(settings):
    with pytest.raises(DomainError):
        domain(**{"name": "mine/sums", "make": make_sum, **settings})


def test_instruction_is_the_system_message():
    told = domain("mine/sums", make_sum, instruction="Say a number.")
    assert first(told).messages[0].content == "Say a number."
    assert [m.role for m in first(domain("mine/sums", make_sum, instruction="")).messages] == ["user"]


def test_default_grade_is_exact_but_for_white_space():
    task = first(SUMS)
    assert SUMS.grade(task, Sample(f" {task.gold}\n")) == Scored(1.0, passed=True)
    assert SUMS.grade(task, Sample(f"{task.gold}.")) == Scored(0.0, passed=False)


def test_without_an_answer_there_is_no_gold_and_no_verdict():
    unknown = domain("mine/open", lambda rng, level: (f"Why {rng.random()}?", None))
    task = first(unknown)
    assert task.gold is None
    assert isinstance(unknown.grade(task, Sample("because")), Abstained)


def test_grade_sees_question_answer_and_text():
    seen = []
    mine = graded_by(lambda *given: bool(seen.append(given)))
    task = first(mine)
    mine.grade(task, Sample(" 5 "))
    assert seen == [(task.messages[-1].content, task.data["answer"], " 5 ")]


@pytest.mark.parametrize(
    ("returned", "verdict"),
    [
        (True, Scored(1.0, passed=True)),
        (False, Scored(0.0, passed=False)),
        (0.8, Scored(0.8, passed=False)),
        (1, Scored(1.0, passed=True)),
        (Scored(0.3, passed=True), Scored(0.3, passed=True)),
    ],
)
def test_what_grade_returns_becomes_a_verdict(returned, verdict):
    mine = graded_by(lambda question, answer, text: returned)
    assert mine.grade(first(mine), Sample("5")) == verdict


def test_threshold_decides_about_success():
    mine = graded_by(lambda question, answer, text: 0.8, threshold=0.8)
    assert mine.grade(first(mine), Sample("5")) == Scored(0.8, passed=True)


@pytest.mark.parametrize("returned", ["yes", float("nan"), 2.0])
def test_what_is_no_score_is_a_fault(returned):
    mine = graded_by(lambda question, answer, text: returned)
    assert isinstance(judge(mine, first(mine), Sample("5")), Faulted)


def test_it_travels_to_worker_processes():
    assert first(pickle.loads(pickle.dumps(SUMS))) == first(SUMS)


def test_with_reward_grades_the_tasks_of_a_domain():
    short = with_reward(SUMS, lambda task, text: 1 / len(text), threshold=0.5)
    task = first(short)
    assert task == first(SUMS)
    assert short.levels == SUMS.levels
    assert short.grade(task, Sample("12")) == Scored(0.5, passed=True)
    assert short.grade(task, Sample("1234")) == Scored(0.25, passed=False)


def test_with_reward_sees_the_task():
    echo = with_reward(SUMS, lambda task, text: text == task.gold)
    task = first(echo)
    assert echo.grade(task, Sample(str(task.gold))) == Scored(1.0, passed=True)


def test_with_reward_may_abstain():
    assert isinstance(with_reward(SUMS, lambda task, text: None).grade(first(SUMS), Sample("")), Abstained)


def test_with_reward_can_rename():
    renamed = with_reward(SUMS, lambda task, text: 1.0, name="mine/short-sums")
    assert renamed.name == first(renamed).domain == "mine/short-sums"
    assert first(renamed).messages == first(SUMS).messages


def test_with_reward_needs_a_function():
    with pytest.raises(DomainError, match="`reward` must be a function"):
        with_reward(SUMS, 1.0)  # pyright: ignore[reportArgumentType]
