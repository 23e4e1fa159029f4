"""Every reasoning-gym family: gold answers pass, wrong ones do not, nothing faults."""

from __future__ import annotations

import copy
from functools import cache

import pytest

from burnish.domains.reasoning_gym import make_domain
from burnish.domains.rg_families import FAMILIES
from burnish.records import Sample, Scored, Split, Task

WITHOUT_GOLD = {("boxnet", 0), ("boxnet", 8), ("rush_hour", 0), ("rush_hour", 3), ("rubiks_cube", 3)}
"""The dataset knows no solution here, or its scorer cannot read it."""
HIGHEST_AFFORDED = {"zebra_puzzles": 2, "polynomial_multiplication": 2, "n_queens": 3, "futoshiki": 2}

WRONG = [
    "",
    " ",
    "I don't know",
    "-987654321",
    "None of the above, sorry!",
    "nan",
    "[NaN, NaN, NaN, NaN]",
    "1e99999999",
    "9**9**9**9",
    "9" * 5000,
    "word " * 5000,
    "[" * 2000,
    '{"a":' * 50,
    "日本語 ①② \u202e\x00",
    "\\frac{1}{0}",
    "__import__('os').system('exit 1')",
    "{}",
    "[[]]",
    "*(",
]

PLACES = [
    (family.name, level)
    for family in FAMILIES.values()
    for level in sorted({0, HIGHEST_AFFORDED.get(family.name, len(family.upstream_levels) - 1)})
]


@cache
def tasks(name: str, level: int) -> tuple[Task, ...]:
    domain = make_domain(name)
    return tuple(domain.task(Split.TRAIN, level, index) for index in range(2))


def verdict(name: str, task: Task, answer: str) -> Scored:
    found = make_domain(name).grade(task, Sample(answer))
    assert isinstance(found, Scored), f"{answer[:60]!r}: {found}"
    return found


@pytest.mark.parametrize(("name", "level"), PLACES)
def test_gold_gets_full_marks(name: str, level: int) -> None:
    for task in tasks(name, level):
        if (name, level) in WITHOUT_GOLD:
            assert task.gold is None
        else:
            assert task.gold is not None
            assert verdict(name, task, task.gold) == Scored(1.0, passed=True)


@pytest.mark.parametrize(("name", "level"), PLACES)
def test_wrong_answers_get_nothing(name: str, level: int) -> None:
    for task in tasks(name, level):
        for answer in WRONG:
            assert verdict(name, task, answer) == Scored(0.0, passed=False), answer[:60]


@pytest.mark.parametrize(("name", "level"), PLACES)
def test_gold_with_a_word_behind_it_is_wrong(name: str, level: int) -> None:
    for task in tasks(name, level):
        if task.gold is not None:
            assert not verdict(name, task, f"{task.gold} x").passed
            assert not verdict(name, task, f"The answer is {task.gold}").passed


SEVERAL_SOLUTIONS = {
    "graph_color",
    "n_queens",
    "propositional_logic",
    "quantum_lock",
    "jugs",
    "rubiks_cube",
    "shortest_path",
}
"""The solution of one question may happen to solve the other."""


@pytest.mark.parametrize(("name", "level"), PLACES)
def test_the_answer_to_another_question_is_wrong(name: str, level: int) -> None:
    one, other = tasks(name, level)
    if name in SEVERAL_SOLUTIONS or other.gold is None or other.gold == one.gold:
        pytest.skip("the answers of the two questions are not exclusive")
    assert not verdict(name, one, other.gold).passed


@pytest.mark.parametrize(("name", "level"), PLACES)
def test_grading_leaves_the_task_as_it_was(name: str, level: int) -> None:
    task = tasks(name, level)[0]
    before = repr(copy.deepcopy(task.data))
    for answer in (task.gold or "", "42", "[1, 2]", "A"):
        verdict(name, task, answer)
    assert repr(task.data) == before


@pytest.mark.parametrize("name", list(FAMILIES))
def test_tags_ask_for_and_read_the_last_tagged_answer(name: str) -> None:
    domain = make_domain(name, answer_format="tags")
    task = domain.task(Split.TRAIN, 0, 0)
    if task.gold is None:
        pytest.skip("no gold answer is known")
    assert domain.grade(task, Sample(f"<answer>no</answer> Hm. {task.gold}")) == Scored(1.0, passed=True)
    assert domain.grade(task, Sample(task.gold.removeprefix("<answer>"))) == Scored(0.0, passed=False)
