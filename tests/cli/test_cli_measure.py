from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from burnish.evaluation.evaluation import DomainOutcome, Evaluation, save_evaluation
from burnish.evaluation.plan import EvaluationPlan
from burnish.recipe import load_recipe

DOMAIN = "reasoning-gym/arithmetic/chain_sum"


def evaluation(name: str, passed: int, tasks: int = 8) -> Evaluation:
    """An evaluation of one domain with 2 samples a task, of whose tasks the first `passed` are right."""
    greedy = (np.arange(tasks) < passed).astype(float)
    outcome = DomainOutcome(
        name=DOMAIN,
        level=0,
        held_out=False,
        tasks=tuple(f"{DOMAIN}:eval:0:{i}" for i in range(tasks)),
        content="same",
        greedy=greedy,
        sampled=np.stack([greedy, greedy], axis=1),
        faults=0,
        abstained=0,
        missing=0,
        prompt_length=10.0,
        longest_prompt=12,
        completion_length=3.0,
        truncated=0.0,
        tokens=72,
    )
    plan = EvaluationPlan(tasks=tasks, samples=2, resamples=200)
    return Evaluation(name, plan, 0, (outcome,), seconds=1.0, generate_seconds=0.5)


@pytest.fixture
def measured(pipeline):
    """The calls that reach evaluation; the model called `good` gets 6 of 8 right, all others 2."""
    return pipeline(
        evaluate_model=lambda model, recipe, **_: evaluation(model, 6 if model == "good" else 2),
        probe_model=lambda model, recipe, **_: SimpleNamespace(
            cells=[SimpleNamespace(to_dict=lambda: CELL)],
            recommendation="Yes: go.",
            to_dict=lambda: {"a": np.nan},
        ),
    )


CELL = {
    "domain": DOMAIN,
    "level": 0,
    "kind": "signal",
    "sure": False,
    "reason": "mixed groups",
    **{key: {"value": 0.5, "low": 0.4, "high": 0.6} for key in ("success", "greedy", "mixed")},
}


def test_eval_measures_the_patterns_given(cli, measured):
    done = cli("eval", "good", "--domains", DOMAIN, "b/*", "--tasks", "3", "--samples", "2", "--level", "1")
    assert done.code == 0, done.err
    (call,) = measured
    model, recipe = call["args"]
    assert model == "good"
    assert recipe.domains.train == (DOMAIN, "b/*")
    assert (recipe.evaluate.tasks, recipe.evaluate.samples, recipe.domains.level) == (3, 2, 1)


def test_eval_prints_accuracy(cli, measured):
    text = cli("eval", "good", "--domains", DOMAIN).out
    assert "chain_sum" in text
    assert "75.0%" in text


def test_eval_of_a_recipe_keeps_its_domains(cli, measured, recipe):
    cli("eval", "good", "--recipe", recipe, "--rollout.max_tokens", "9")
    found = measured[0]["args"][1]
    assert found.domains == load_recipe(recipe).domains
    assert found.rollout.max_tokens == 9


def test_patterns_replace_the_domains_of_a_recipe(cli, measured, tmp_path):
    (tmp_path / "r.toml").write_text('[domains]\ntrain = ["a"]\nheld_out = ["b"]\nanswer_format = "tags"\n')
    cli("eval", "good", "--recipe", "r.toml", "--domains", "b")
    found = measured[0]["args"][1].domains
    assert (found.train, found.held_out, found.answer_format) == (("b",), (), "tags")


def test_level_flag_beats_the_levels_of_a_recipe(cli, measured, tmp_path):
    (tmp_path / "r.toml").write_text('[domains]\ntrain = ["a"]\nlevels = {a = 3}\n')
    cli("eval", "good", "--recipe", "r.toml", "--level", "1")
    found = measured[0]["args"][1].domains
    assert (found.level, found.levels) == (1, {})


@pytest.mark.parametrize(
    "model", ["runs/x", "runs/x/checkpoints/step_000003", "runs/x/checkpoints/step_000003/hf"]
)
def test_run_is_measured_as_its_own_recipe_says(cli, measured, recipe, model):
    Path(model).mkdir(parents=True)
    Path("runs/x/recipe.toml").write_text(Path(recipe).read_text() + "[evaluate]\ntasks = 5\n")
    assert cli("eval", model).code == 0
    assert measured[0]["args"][1].evaluate.tasks == 5


def test_eval_without_domains_says_what_to_give(cli, measured):
    done = cli("eval", "good")
    assert done.code == 2
    assert "--domains PATTERN... or --recipe FILE" in done.err


def test_eval_as_json_is_one_document(cli, measured):
    found = json.loads(cli("eval", "good", "--domains", DOMAIN, "--json").out)
    assert found["evaluations"][0]["sampled"]["macro"]["value"] == 0.75


def test_saved_evaluations_can_be_compared(cli, measured):
    cli("eval", "bad", "--domains", DOMAIN, "--out", "a.json")
    cli("eval", "good", "--domains", DOMAIN, "--out", "b.json")
    text = cli("compare", "a.json", "b.json").out
    assert "25.0%" in text
    assert "75.0%" in text
    assert "+50.0" in text


def test_evaluations_of_the_same_name_are_told_apart(cli, tmp_path):
    for folder, passed in (("a", 2), ("b", 6)):
        (tmp_path / folder).mkdir()
        save_evaluation(evaluation("rl", passed), tmp_path / folder)
    found = json.loads(cli("compare", "a/evaluation_rl.json", "b/evaluation_rl.json", "--json").out)
    assert found["differences"][0]["from"] != found["differences"][0]["to"]


def test_two_models_are_compared_on_the_same_domains(cli, measured):
    found = json.loads(cli("compare", "bad", "good", "--domains", DOMAIN, "--json").out)
    assert found["differences"][0]["sampled"]["macro"]["value"] == pytest.approx(0.5)
    assert measured[0]["args"][1] == measured[1]["args"][1]


def test_model_and_saved_evaluation_cannot_be_compared(cli, measured):
    done = cli("compare", "good", "b.json", "--domains", DOMAIN)
    assert done.code == 2
    assert "burnish eval MODEL --out" in done.err
    assert measured == []


def test_missing_evaluation(cli):
    done = cli("compare", "a.json", "b.json")
    assert done.code == 2
    assert "a.json" in done.err


def test_evaluations_on_other_tasks_cannot_be_compared(cli, tmp_path):
    save_evaluation(evaluation("a", 2), tmp_path)
    save_evaluation(evaluation("b", 2, tasks=6), tmp_path)
    done = cli("compare", "evaluation_a.json", "evaluation_b.json")
    assert done.code == 2
    assert "cannot be paired" in done.err


def test_probe_hands_on_levels_and_prints_advice(cli, measured):
    text = cli("probe", "good", "--domains", DOMAIN, "--levels", "0,2").out
    assert measured[0]["levels"] == (0, 2)
    assert "signal?" in text
    assert "50.0%" in text
    assert text.rstrip().endswith("Yes: go.")


def test_probe_as_json_has_no_nan(cli, measured):
    assert json.loads(cli("probe", "good", "--domains", DOMAIN, "--json").out) == {"a": None}


def test_probe_of_wrong_levels(cli, measured):
    assert "--levels" in cli("probe", "good", "--domains", DOMAIN, "--levels", "x").err
    assert measured == []
