import json
import math

import numpy as np
import pytest
from evaluate_fakes import Numbers, ScriptedEngine, encode, judge, right, wrong

from burnish.errors import DomainError, ModelError
from burnish.evaluation.cost import RunShape, estimate
from burnish.evaluation.intervals import Interval
from burnish.evaluation.plan import EvaluationPlan
from burnish.evaluation.probe import ProbeSettings, grid, mixed_interval, probe
from burnish.evaluation.statistics import wilson
from burnish.evaluation.verdicts import Evidence, Kind, classify

PLAN = EvaluationPlan(tasks=32, samples=4, max_tokens=9)
SETTINGS = ProbeSettings(shape=RunShape(steps=10, prompts_per_step=5, samples=4))


def half(domain: str, task: int, sample: int) -> str:
    """Right in every other sample of every other task."""
    return str(task) if task % 2 == 0 and sample % 2 == 0 else "no"


def run(script, *domains, engine=None, levels=(0,), **settings):
    engine = engine or ScriptedEngine(script)
    cells = grid(domains, levels)
    return probe(engine, encode, cells, PLAN, settings=SETTINGS, judge=judge, **settings)


def by_name(domain: str, task: int, sample: int) -> str:
    return {"signal": half, "solved": right, "dead": wrong, "bare": wrong}[domain](domain, task, sample)


def test_every_class_is_found():
    domains = [Numbers("signal"), Numbers("solved"), Numbers("dead"), Numbers("bare", gold=False)]
    broken = Numbers("broken", breaks_at=tuple(range(32)))
    report = run(by_name, *domains, broken)
    kinds = {cell.domain: cell.kind for cell in report.cells}
    assert kinds == {
        "signal": Kind.SIGNAL,
        "solved": Kind.SOLVED,
        "dead": Kind.NEEDS_SFT,
        "bare": Kind.NO_GOLD,
        "broken": Kind.FAULTY,
    }
    assert [cell.domain for cell in report.cells] == ["signal", "dead", "solved", "bare", "broken"]


def test_a_cell_holds_what_was_measured():
    cell = run(half, Numbers("signal")).cells[0]
    assert cell.success.value == pytest.approx(0.25)
    assert cell.greedy.value == pytest.approx(0.5)
    assert cell.mixed.value == pytest.approx(0.5)
    assert cell.gold == 1.0
    assert cell.tasks == 32
    assert cell.truncated == 0.0
    assert cell.longest_prompt == 9
    assert cell.generate_seconds > 0
    assert not cell.guessing


def test_an_unknown_grader_failure_makes_a_cell_faulty():
    cell = run(lambda domain, task, sample: "crash", Numbers("x")).cells[0]
    assert cell.kind is Kind.FAULTY
    assert "100%" in cell.reason


def test_a_grader_that_pays_for_nothing_makes_a_cell_faulty():
    cell = run(half, Numbers("x", answers=1)).cells[0]
    assert cell.kind is Kind.FAULTY
    assert cell.reason == "one constant answer earns 100%"


def test_success_no_better_than_a_constant_is_called_guessing():
    report = run(lambda domain, task, sample: str((task + sample) % 2), Numbers("coin", answers=2))
    assert report.cells[0].guessing
    assert "may be guessing: coin" in report.recommendation


def test_a_prompt_that_does_not_fit_spoils_its_cell_only():
    engine = ScriptedEngine(by_name, longest=8)
    report = run(None, Numbers("signal", answers=10), Numbers("solved"), engine=engine)
    cells = {cell.domain: cell for cell in report.cells}
    assert cells["signal"].kind is Kind.SIGNAL
    assert cells["solved"].kind is Kind.FAULTY
    assert "does not fit" in cells["solved"].reason


def test_a_model_that_fails_everywhere_is_an_error():
    with pytest.raises(ModelError, match="does not fit"):
        run(None, Numbers("a"), Numbers("b"), engine=ScriptedEngine(right, longest=1))


def test_a_level_that_does_not_exist_is_refused_before_any_work():
    engine = ScriptedEngine(right)
    with pytest.raises(DomainError, match="no level 5"):
        probe(engine, encode, [(Numbers(), 0), (Numbers(), 5)], PLAN, judge=judge)
    assert engine.batches == []


def test_grid_takes_the_levels_that_a_domain_has():
    deep, flat = Numbers("deep"), Numbers("flat", levels=1)
    assert [(domain.name, level) for domain, level in grid([deep, flat], [0, 2])] == [
        ("deep", 0),
        ("deep", 2),
        ("flat", 0),
    ]
    assert len(grid([deep, flat])) == 4


def test_cells_are_told_as_they_are_measured():
    told = []
    run(right, Numbers("a"), Numbers("b"), on_cell=lambda cell: told.append(cell.domain))
    assert told == ["a", "b"]


def test_best_level_is_that_with_most_mixed_groups():
    class Levels(Numbers):
        def grade(self, task, sample):
            keep = task.index % 8 < (task.level + 1) * 2
            return Numbers.grade(self, task, sample if keep else type(sample)("no"))

    report = run(half, Levels("deep"), levels=(0, 1, 2))
    assert report.to_dict()["domains"]["deep"] == {"kind": "signal", "level": 2, "signal_levels": [1, 2]}


def test_report_is_strict_json():
    report = run(by_name, Numbers("signal"), Numbers("broken", breaks_at=tuple(range(32))))
    plain = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert {"recommendation", "cost", "domains", "cells"} == set(plain)
    assert plain["cells"][0]["success"].keys() == {"value", "low", "high"}


@pytest.mark.parametrize(
    ("names", "headline"),
    [
        (["signal"], "Yes"),
        (["signal", "dead"], "Yes"),
        (["dead"], "Probably, after supervised fine-tuning"),
        (["solved"], "Little to gain"),
        (["bare"], "No:"),
    ],
)
def test_recommendation_follows_the_classes(names, headline):
    domains = [Numbers(name, gold=name != "bare") for name in names]
    assert run(by_name, *domains).recommendation.startswith(headline)


def evidence(success=(0.0, 0.0, 0.05), mixed=(0.0, 0.0, 0.1), **settings) -> Evidence:
    facts = {"tasks": 32, "unjudged": 0.0, "gold": 1.0} | settings
    return Evidence(success=Interval(*success), mixed=Interval(*mixed), **facts)


def test_signal_must_hold_at_the_low_end_of_its_interval():
    assert classify(evidence(mixed=(0.2, 0.06, 0.4))).kind is Kind.SIGNAL
    unsure = classify(evidence(mixed=(0.2, 0.04, 0.5)))
    assert unsure.kind is Kind.NEEDS_SFT
    assert not unsure.sure
    assert classify(evidence(mixed=(0.0, 0.0, 0.1))).sure


def test_solved_must_hold_at_the_low_end_of_its_interval():
    assert classify(evidence(success=(0.95, 0.85, 0.99))).kind is Kind.SOLVED
    assert classify(evidence(success=(0.95, 0.7, 0.99))).kind is not Kind.SOLVED


def test_mixed_share_of_smaller_groups_is_estimated_from_all_samples():
    sampled = np.array([[1, 1, 0, 0], [0, 0, 0, 0]], np.float64)
    assert mixed_interval(sampled, 4, 0.95) == wilson(1, 2)
    assert mixed_interval(sampled, 2, 0.95).value == pytest.approx(4 / 6 / 2)
    assert mixed_interval(np.full((2, 4), math.nan), 4, 0.95).to_dict()["value"] is None


def test_cost_by_hand():
    shape = RunShape(steps=10, prompts_per_step=5, samples=4, update_tokens_per_second=50.0)
    cost = estimate(shape, prompt_length=30.0, completion_length=10.0, tokens_per_second=100.0)
    assert cost.completion_tokens_per_step == 200
    assert cost.update_tokens_per_step == 350
    assert cost.rollout_seconds_per_step == 2.0
    assert cost.update_seconds_per_step == 7.0
    assert cost.total_hours == pytest.approx(90 / 3600)


def test_cost_without_a_measured_update_leaves_its_time_out():
    cost = estimate(RunShape(), 30.0, 10.0, 100.0)
    assert cost.update_seconds_per_step is None
    assert cost.total_hours is None
    assert cost.rollout_hours is not None
