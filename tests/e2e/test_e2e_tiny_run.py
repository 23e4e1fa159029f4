"""A whole run of the tiny model, as a user would start it, and what must hold afterwards."""

import json
import sqlite3

import pytest

import burnish
from burnish.observe.console import Console
from burnish.recipe import build_recipe

RECIPE = {
    "name": "e2e",
    "seed": 3,
    "threads": 1,
    "model": {
        "name": "tiny",
        "tiny_layers": 2,
        "tiny_hidden": 128,
        "tiny_intermediate": 384,
        "dtype": "float32",
    },
    "domains": {
        "instruction": "",
        "train": ["reasoning-gym/algorithmic/letter_counting", "reasoning-gym/arithmetic/products"],
        "held_out": ["reasoning-gym/arithmetic/gcd"],
    },
    "rollout": {"samples": 8, "max_tokens": 6, "task_workers": 0},
    "algorithm": {"kl_coef": 0.0},
    "sft": {"steps": 80, "batch": 16, "lr": 2e-3},
    "rl": {"steps": 90, "prompts_per_step": 8, "lr": 5e-4, "schedule": "linear"},
    "evaluate": {"tasks": 32, "samples": 4, "resamples": 500},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "e2e"
    result = burnish.train(build_recipe(RECIPE), folder, console=Console(quiet=True))
    return folder, result.summary


def test_held_out_tasks_are_answered_better_after_training(run):
    _, summary = run
    change = next(d for d in summary["differences"] if (d["from"], d["to"]) == ("before", "rl"))
    assert change["sampled"]["macro"]["low"] > 0.05
    after_sft, after_rl = (e["sampled"]["macro"]["value"] for e in summary["evaluations"][1:])
    assert after_rl > after_sft


def test_summary_has_the_promised_shape(run):
    folder, summary = run
    assert json.loads((folder / "summary.json").read_text()) == summary
    assert [e["name"] for e in summary["evaluations"]] == ["before", "sft", "rl"]
    cell = summary["evaluations"][2]["greedy"]["domains"]["reasoning-gym/arithmetic/gcd"]
    assert {"value", "low", "high", "tasks", "held_out"} <= set(cell)
    assert cell["held_out"] is True
    assert {"sft", "rl"} <= set(summary["seconds"])
    assert summary["tokens"]["rl"]["generated"] > 0


def test_samples_metrics_and_report_are_kept(run):
    folder, _ = run
    with sqlite3.connect(folder / "run.sqlite") as database:
        (samples,) = database.execute("select count(*) from samples where stage = 'rl'").fetchone()
        names = {n for (n,) in database.execute("select distinct name from metrics where stage = 'rl'")}
    assert samples == 90 * 8 * 8
    wanted = {"success", "reward", "advantage_mass", "zero_signal", "length", "truncated", "entropy"}
    assert wanted | {"clipped", "grad_norm"} <= names
    page = (folder / "report.html").read_text()
    assert "letter_counting" in page
    assert (folder / "recipe.toml").is_file()
    assert (folder / "environment.json").is_file()


def test_the_checkpoint_evaluates_like_the_run(run):
    folder, summary = run
    evaluation = burnish.evaluate(folder, build_recipe(RECIPE), console=Console(quiet=True))
    from burnish.evaluation.summary import summarise

    again = summarise([evaluation])["evaluations"][0]["greedy"]["macro"]["value"]
    assert again == pytest.approx(summary["evaluations"][2]["greedy"]["macro"]["value"], abs=0.02)


def test_the_same_recipe_gives_the_same_weights(tmp_path):
    from safetensors.torch import load_file

    short = {**RECIPE, "rl": {**RECIPE["rl"], "steps": 3}, "sft": {**RECIPE["sft"], "steps": 3}}
    short["evaluate"] = {"tasks": 2, "samples": 1, "resamples": 100}
    weights = []
    for name in "ab":
        burnish.train(build_recipe(short), tmp_path / name, console=Console(quiet=True))
        weights.append(
            load_file(tmp_path / name / "checkpoints" / "step_000006" / "hf" / "model.safetensors")
        )
    assert all((weights[0][n] == t).all() for n, t in weights[1].items())
