import json
import math

import numpy as np
import pytest

from burnish.errors import RunError
from burnish.evaluation.compare import compare
from burnish.evaluation.evaluation import (
    DomainOutcome,
    Evaluation,
    evaluation_path,
    load_evaluation,
    save_evaluation,
)
from burnish.evaluation.plan import EvaluationPlan
from burnish.evaluation.summary import summarise

NAN = math.nan
PLAN = EvaluationPlan(tasks=40, samples=4, resamples=300)


def outcome(name, greedy, sampled, held_out=False, **settings) -> DomainOutcome:
    greedy, sampled = np.asarray(greedy, np.float64), np.asarray(sampled, np.float64)
    tasks = tuple(f"{name}:eval:0:{i}" for i in range(len(greedy)))
    facts = {"tasks": tasks, "content": "c", "faults": 0, "abstained": 0, "missing": 0, "tokens": 100}
    lengths = {"prompt_length": 5.0, "longest_prompt": 8, "completion_length": 3.0, "truncated": 0.0}
    return DomainOutcome(
        name=name, level=0, held_out=held_out, greedy=greedy, sampled=sampled, **(facts | lengths | settings)
    )


def rates(name, greedy, sampled, held_out=False, tasks=40) -> DomainOutcome:
    """Passes of the first tasks, as many as the rates say."""
    column = (np.arange(tasks) < round(greedy * tasks)).astype(float)
    cells = (np.arange(tasks * 4) < round(sampled * tasks * 4)).reshape(4, tasks).T.astype(float)
    return outcome(name, column, cells, held_out)


def evaluation(name, *domains, plan=PLAN) -> Evaluation:
    return Evaluation(name, plan, 3, tuple(domains), seconds=2.0, generate_seconds=1.5)


BEFORE = evaluation("before", rates("a", 0.5, 0.25), rates("b", 0.75, 0.5), rates("h", 0.25, 0.25, True))
SFT = evaluation("sft", rates("a", 0.5, 0.5), rates("b", 0.5, 0.5), rates("h", 0.25, 0.25, True))
RL = evaluation("rl", rates("a", 0.75, 0.75), rates("b", 0.125, 0.5), rates("h", 0.25, 0.5, True))


def test_schema_of_an_evaluation():
    entry = summarise([BEFORE])["evaluations"][0]
    assert entry["name"] == "before"
    assert set(entry["sampled"]) == {"macro", "macro_held_out", "domains"}
    assert set(entry["sampled"]["macro"]) == {"value", "low", "high"}
    assert {"value", "low", "high", "tasks", "held_out"} <= set(entry["greedy"]["domains"]["a"])
    assert entry["greedy"]["domains"]["a"]["tasks"] == 40
    assert entry["sampled"]["domains"]["h"]["held_out"] is True
    assert entry["tokens"] == 300


def test_macro_is_over_trained_domains_and_held_out_ones_stand_beside():
    entry = summarise([BEFORE])["evaluations"][0]
    assert entry["greedy"]["macro"]["value"] == pytest.approx((0.5 + 0.75) / 2)
    assert entry["sampled"]["macro"]["value"] == pytest.approx((0.25 + 0.5) / 2)
    assert entry["greedy"]["macro_held_out"]["value"] == pytest.approx(0.25)


def test_pass_at_k_is_given_for_powers_of_two_and_all_samples():
    plan = EvaluationPlan(tasks=2, samples=6, resamples=10)
    domain = outcome("a", [1, 0], [[1, 0, 0, 0, 0, 0], [0] * 6])
    passes = summarise([evaluation("x", domain, plan=plan)])["evaluations"][0]["sampled"]["domains"]["a"][
        "pass_at_k"
    ]
    assert passes == {
        "1": pytest.approx(1 / 12),
        "2": pytest.approx(1 / 6),
        "4": pytest.approx(1 / 3),
        "6": pytest.approx(0.5),
    }


def test_differences_are_of_neighbours_and_of_first_and_last():
    differences = summarise([BEFORE, SFT, RL])["differences"]
    assert [(d["from"], d["to"]) for d in differences] == [("before", "sft"), ("sft", "rl"), ("before", "rl")]
    assert [(d["from"], d["to"]) for d in summarise([BEFORE, RL])["differences"]] == [("before", "rl")]
    assert summarise([BEFORE])["differences"] == []


def test_a_difference_holds_macro_domains_and_what_ended_worse():
    difference = compare(BEFORE, RL)
    assert difference["sampled"]["macro"]["value"] == pytest.approx((0.5 + 0.0) / 2)
    assert difference["greedy"]["macro"]["value"] == pytest.approx((0.25 - 0.625) / 2)
    assert difference["greedy"]["domains"]["b"]["value"] == pytest.approx(-0.625)
    assert difference["sampled"]["macro_held_out"]["value"] == pytest.approx(0.25)
    assert difference["greedy"]["worse"] == ["b"]
    assert difference["worse"] == ["b"]
    assert difference["sampled"]["better"] == ["a", "h"]
    assert difference["better"] == ["a", "h"]


def test_a_small_fall_is_not_named_significant():
    before = evaluation("before", rates("a", 0.5, 0.5))
    after = evaluation("after", rates("a", 0.45, 0.475))
    assert compare(before, after)["worse"] == []


def test_summary_is_strict_json_even_without_outcomes():
    empty = outcome("a", [NAN], [[NAN] * 4], completion_length=NAN)
    summary = summarise([evaluation("x", empty), evaluation("y", empty)])
    text = json.dumps(summary, allow_nan=False)
    assert json.loads(text)["evaluations"][0]["sampled"]["macro"]["value"] is None
    assert summary["differences"][0]["greedy"]["domains"]["a"]["value"] is None
    assert summary["differences"][0]["worse"] == []


def test_only_tasks_with_outcomes_on_both_sides_are_paired():
    before = evaluation("x", outcome("a", [1, NAN, 0], [[1] * 4] * 3))
    after = evaluation("y", outcome("a", [1, 1, 1], [[1] * 4] * 3))
    assert compare(before, after)["greedy"]["domains"]["a"]["value"] == 0.5


def test_settings_that_differ_are_noted():
    plan = EvaluationPlan(tasks=40, samples=4, resamples=300, max_tokens=64)
    other = evaluation("other", *BEFORE.domains, plan=plan)
    assert compare(BEFORE, other)["notes"] == ["max_tokens: 24 before, 64 after"]


@pytest.mark.parametrize(
    ("after", "message"),
    [
        ([rates("a", 1, 1)], "only in before: b"),
        ([rates("a", 1, 1), rates("b", 1, 1), rates("z", 1, 1)], "only in after: z"),
        ([rates("a", 1, 1), rates("b", 1, 1, tasks=30)], "b: 40 tasks in before, 30 in after"),
        (
            [rates("a", 1, 1), outcome("b", [1] * 40, [[1] * 4] * 40, content="d")],
            "b: same tasks, but their text",
        ),
        (
            [
                rates("a", 1, 1),
                outcome("b", [1] * 40, [[1] * 4] * 40, tasks=tuple("b:eval:0:9" for _ in range(40))),
            ],
            "b: b:eval:0:0 against b:eval:0:9",
        ),
    ],
)
def test_tasks_that_differ_are_named(after, message):
    before = evaluation("before", rates("a", 1, 1), rates("b", 1, 1))
    with pytest.raises(RunError, match=message):
        compare(before, evaluation("after", *after))


def test_a_saved_evaluation_comes_back_the_same(tmp_path):
    original = evaluation("rl", outcome("a", [1, NAN, 0], [[1, 0, NAN, 1]] * 3, held_out=True, faults=2))
    path = save_evaluation(original, tmp_path)
    assert path == tmp_path / "evaluation_rl.json"
    loaded = load_evaluation(path)
    assert loaded.to_dict() == original.to_dict()
    assert loaded.plan == original.plan
    np.testing.assert_array_equal(loaded.domains[0].sampled, original.domains[0].sampled)
    assert [file.name for file in tmp_path.iterdir()] == ["evaluation_rl.json"]


def test_saved_evaluations_compare_like_those_in_memory(tmp_path):
    paths = [save_evaluation(one, tmp_path) for one in (BEFORE, RL)]
    assert compare(*(load_evaluation(path) for path in paths)) == compare(BEFORE, RL)


def test_a_model_id_makes_a_plain_file_name(tmp_path):
    assert evaluation_path(tmp_path, "org/model 1").name == "evaluation_org-model-1.json"


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"format": 99}',
        json.dumps(BEFORE.to_dict()).replace('"greedy": [1', '"greedy": [5', 1),
    ],
)
def test_a_file_that_is_no_evaluation_is_refused(tmp_path, text):
    path = tmp_path / "evaluation_x.json"
    path.write_text(text)
    with pytest.raises(RunError, match="not a saved evaluation"):
        load_evaluation(path)


def test_a_missing_file_and_an_unwritable_directory_are_told(tmp_path):
    with pytest.raises(RunError, match="cannot be read"):
        load_evaluation(tmp_path / "none.json")
    with pytest.raises(RunError, match="cannot be saved"):
        save_evaluation(BEFORE, tmp_path / "none")
