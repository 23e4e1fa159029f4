"""Reward functions of other frameworks give the verdicts their authors meant."""

from __future__ import annotations

import asyncio
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from burnish.errors import DomainError
from burnish.records import Abstained, Faulted, Message, Sample, Scored, Split, Task, Verdict
from burnish.rewards.adapters import Reward, as_verdict, trl_reward, verl_reward
from burnish.rewards.judge import judge

TASK = Task(
    "mine/sums",
    Split.TRAIN,
    0,
    0,
    (Message("system", "Be brief."), Message("user", "2 + 3?")),
    gold="5",
    data={"answer": "5", "entry": {"unit": "apples"}},
)


@dataclass(frozen=True)
class Graded:
    """A domain that does nothing but grade by a reward."""

    reward: Reward
    name: str = "mine/sums"

    def grade(self, task: Task, sample: Sample) -> Verdict:
        return self.reward(task, sample.text)  # pyright: ignore[reportReturnType]


def exact(prompts, completions, answer, **kwargs):
    return [float(c == a) for c, a in zip(completions, answer, strict=True)]


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    return 1.0 if solution_str == ground_truth else 0.0


def returning(value):
    def named_reward(prompts, completions, **kwargs):
        return value

    return trl_reward(named_reward)


def test_trl_columns_come_from_the_data_of_the_task():
    reward = trl_reward(exact)
    assert reward(TASK, "5") == Scored(1.0, passed=True)
    assert reward(TASK, "6") == Scored(0.0, passed=False)


def test_trl_columns_can_be_renamed_and_reach_inside():
    def function(prompts, completions, solution, unit, best):
        return [float((solution, unit, best) == (["5"], ["apples"], ["5"]))]

    reward = trl_reward(function, solution="answer", unit="entry.unit", best="gold")
    assert reward(TASK, "") == Scored(1.0, passed=True)


def test_trl_columns_of_a_row_are_known_by_name():
    task = Task(
        "d", Split.TRAIN, 0, 0, TASK.messages, data={"answer": "5", "row": {"unit": "m", "answer": "#5"}}
    )
    reward = trl_reward(lambda prompts, completions, unit, answer: [float((unit, answer) == (["m"], ["5"]))])
    assert reward(task, "") == Scored(1.0, passed=True)


def test_trl_function_without_columns_is_given_none():
    assert trl_reward(lambda prompts, completions: [1.0])(TASK, "5") == Scored(1.0, passed=True)


def test_trl_missing_column_is_a_fault_that_names_it():
    verdict = trl_reward(exact, answer="solution")(TASK, "5")
    assert isinstance(verdict, Faulted)
    assert "exact: column 'answer' wants 'solution', the task has ['answer', 'entry']" in verdict.error


def test_trl_prompts_are_text_without_the_system_message():
    seen = []
    trl_reward(lambda prompts, completions: seen.append((prompts, completions)) or [0.0])(TASK, "5")
    assert seen == [(["2 + 3?"], ["5"])]


def test_trl_prompts_can_be_messages():
    seen = []
    trl_reward(lambda prompts, completions: seen.extend([*prompts, *completions]) or [0.0], messages=True)(
        TASK, "5"
    )
    assert seen == [
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 3?"}],
        [{"role": "assistant", "content": "5"}],
    ]


async def slowly(prompts, completions, **kwargs):
    await asyncio.sleep(0)
    return [0.5]


def test_trl_function_may_be_async():
    assert trl_reward(slowly, threshold=0.5)(TASK, "5") == Scored(0.5, passed=True)


def test_async_function_works_where_a_loop_is_running():
    async def notebook():
        return trl_reward(slowly)(TASK, "5")

    assert asyncio.run(notebook()) == Scored(0.5, passed=False)


def test_none_abstains():
    assert isinstance(returning([None])(TASK, "5"), Abstained)


@pytest.mark.parametrize(
    "wrong",
    [
        *([], [1.0, 1.0], 1.0, "1", {"score": 1.0}, None, np.zeros(2), np.array(1.0)),
        *(["1"], [float("nan")], [float("inf")], [10**400], [[1.0]]),
    ],
    ids=repr,
)
def test_what_is_not_one_number_is_a_fault_that_names_the_function(wrong):
    verdict = returning(wrong)(TASK, "5")
    assert isinstance(verdict, Faulted)
    assert "named_reward: returned" in verdict.error


@pytest.mark.parametrize(
    "right", [[1], [True], (1.0,), np.ones(1, np.float32), [np.float32(1)], [np.bool_(True)]]
)
def test_numbers_of_any_kind_are_scores(right):
    assert returning(right)(TASK, "5") == Scored(1.0, passed=True)


def test_a_value_outside_the_unit_interval_is_a_fault_to_the_judge():
    assert isinstance(judge(Graded(returning([2.0])), TASK, Sample("5")), Faulted)


@pytest.mark.parametrize(("value", "scaled"), [(-1.0, 0.0), (0.0, 0.5), (1.0, 1.0)])
def test_a_scale_maps_to_the_unit_interval(value, scaled):
    reward = trl_reward(lambda prompts, completions: [value], scale=(-1, 1))
    assert judge(Graded(reward), TASK, Sample("5")) == Scored(scaled, passed=scaled == 1)


def test_a_value_outside_its_scale_is_a_fault_to_the_judge():
    reward = trl_reward(lambda prompts, completions: [1.5], scale=(-1, 1))
    assert isinstance(judge(Graded(reward), TASK, Sample("5")), Faulted)


@pytest.mark.parametrize("scale", [(1, 1), (1, 0), (0, float("inf")), (0,), "01", (0, "1")])
def test_an_impossible_scale_is_refused(scale):
    with pytest.raises(DomainError, match="low < high"):
        trl_reward(exact, scale=scale)


def test_a_reward_that_is_no_function_is_refused():
    with pytest.raises(DomainError, match="must be a function"):
        verl_reward("compute_score")  # pyright: ignore[reportArgumentType]


def test_a_crash_is_a_fault_to_the_judge():
    verdict = judge(Graded(trl_reward(lambda prompts, completions: [1 / 0])), TASK, Sample("5"))
    assert isinstance(verdict, Faulted)
    assert "ZeroDivisionError" in verdict.error


def test_verl_is_given_the_answer_and_the_name_of_the_domain():
    seen = {}
    verl_reward(lambda **given: seen.update(given) or 0.0)(TASK, "7")
    assert seen == {"data_source": "mine/sums", "solution_str": "7", "ground_truth": "5", "extra_info": None}


def test_verl_scores():
    assert verl_reward(compute_score)(TASK, "5") == Scored(1.0, passed=True)
    assert verl_reward(compute_score)(TASK, "6") == Scored(0.0, passed=False)


def test_verl_reads_its_own_row_format():
    row = {"data_source": "gsm8k", "reward_model": {"ground_truth": "9"}, "extra_info": {"index": 3}}
    seen = {}
    for data in (row, {"answer": "no", "row": row}):
        task = Task("d", Split.TRAIN, 0, 0, TASK.messages, data=data)
        verl_reward(lambda **given: seen.update(given) or 1.0)(task, "9")
        assert seen == {
            "data_source": "gsm8k",
            "solution_str": "9",
            "ground_truth": "9",
            "extra_info": {"index": 3},
        }


def test_verl_without_a_reference_is_a_fault():
    assert isinstance(verl_reward(compute_score)(Task("d", Split.TRAIN, 0, 0, ()), "9"), Faulted)


def test_verl_dict_keeps_numbers_as_parts_and_lets_acc_decide():
    reward = verl_reward(lambda **_: {"score": 0.5, "acc": True, "length": 3, "pred": "x"})
    verdict = reward(TASK, "5")
    assert verdict == Scored(0.5, passed=True, parts={"acc": 1.0, "length": 3.0})


@pytest.mark.parametrize("returned", [{"acc": 1}, {"score": "1"}, {"score": float("nan")}, "1"])
def test_verl_malformed_results_are_faults(returned):
    assert isinstance(verl_reward(lambda **_: returned)(TASK, "5"), Faulted)


def test_a_verdict_stays_as_it_is():
    verdict = Scored(0.25, passed=True, parts={"a": 1.0})
    assert as_verdict(verdict, "f") is verdict


def test_rewards_travel_to_worker_processes():
    for reward in (trl_reward(exact, answer="answer"), verl_reward(compute_score)):
        assert pickle.loads(pickle.dumps(reward))(TASK, "5") == Scored(1.0, passed=True)
