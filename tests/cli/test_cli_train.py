from __future__ import annotations

import json
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

from burnish.recipe import load_recipe, to_toml

SUMMARY = {
    "evaluations": [
        {"name": "before", "sampled": {"macro": {"value": 0.25, "low": 0.2, "high": 0.3}, "domains": {}}}
    ],
    "differences": [],
}


@pytest.fixture
def trained(pipeline):
    """The calls that reach training."""
    return pipeline(
        train=lambda recipe, run_dir, **_: SimpleNamespace(summary=SUMMARY, run_dir=Path(run_dir)),
        dry_run=lambda recipe: SimpleNamespace(
            memory_bytes=3.2e9, seconds=600.0, lines=("weights: 0.5 GB", "rollouts: 8 minutes")
        ),
    )


def saved_run(folder: Path, recipe: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "status.json").write_text("{}")
    (folder / "recipe.toml").write_text(to_toml(load_recipe(recipe)))
    return folder


def test_recipe_and_overrides_reach_the_pipeline(cli, recipe, trained):
    assert cli("train", recipe, "--rl.steps", "3", "--run-dir", "here", "--quiet").code == 0
    (call,) = trained
    assert call["args"][0] == load_recipe(recipe, {"rl.steps": 3})
    assert call["args"][1] == Path("here")
    assert call["resume"] is False
    assert call["console"].quiet


def test_recipe_may_follow_its_overrides(cli, recipe, trained):
    assert cli("train", "--rl.steps", "3", "--seed", "4", recipe).code == 0
    assert trained[0]["args"][0] == load_recipe(recipe, {"rl.steps": 3, "seed": 4})


def test_run_goes_to_a_new_folder_named_after_the_recipe(cli, recipe, trained):
    cli("train", recipe)
    Path("runs/quick").mkdir(parents=True)
    Path("runs/quick-2").mkdir()
    cli("train", recipe)
    assert [call["args"][1] for call in trained] == [Path("runs/quick"), Path("runs/quick-3")]


def test_name_with_slashes_stays_one_folder(cli, recipe, trained):
    cli("train", recipe, "--name", "../a b/c")
    assert trained[0]["args"][1] == Path("runs/a-b-c")


def test_json_ends_with_the_summary(cli, recipe, trained):
    lines = [json.loads(line) for line in cli("train", recipe, "--json").out.splitlines()]
    assert lines[-1]["event"] == "result"
    assert lines[-1]["summary"] == SUMMARY


def test_resume_needs_only_the_run(cli, recipe, trained):
    run = saved_run(Path("runs/x"), recipe)
    assert cli("train", "--resume", str(run)).code == 0
    assert trained[0]["args"] == (load_recipe(recipe), run)
    assert trained[0]["resume"] is True


def test_resume_takes_overrides(cli, recipe, trained):
    saved_run(Path("runs/x"), recipe)
    cli("train", "--resume", "runs/x", "--rl.steps", "99")
    assert trained[0]["args"][0].rl.steps == 99


def test_resume_of_a_recipe_takes_its_newest_run(cli, recipe, trained):
    for name in ("quick", "quick-2", "quick-10", "quick-other"):
        saved_run(Path("runs") / name, recipe)
    cli("train", recipe, "--resume")
    assert trained[0]["args"][1] == Path("runs/quick-10")


def test_resume_without_a_run(cli, recipe, trained):
    done = cli("train", recipe, "--resume")
    assert done.code == 2
    assert "no run of quick" in done.err


def test_resume_of_what_is_no_run(cli, trained):
    assert "is not a run directory" in cli("train", "--resume", "nowhere").err


def test_resume_of_nothing(cli, trained):
    assert "which run?" in cli("train", "--resume").err


def test_dry_run_prints_a_recipe_that_can_be_run(cli, recipe, trained, tmp_path):
    done = cli("train", recipe, "--dry-run", "--rl.steps", "3")
    (tmp_path / "again.toml").write_text(done.out)
    assert load_recipe(tmp_path / "again.toml") == load_recipe(recipe, {"rl.steps": 3})
    assert "# estimate: 3.2 GB of memory, 10m 00s" in done.out
    assert "# weights: 0.5 GB" in done.out
    assert [call["name"] for call in trained] == ["dry_run"]


def test_dry_run_as_json(cli, recipe, trained):
    found = json.loads(cli("train", recipe, "--dry-run", "--json").out)
    assert found["memory_bytes"] == 3.2e9
    assert found["recipe"]["rl"]["steps"] == 60


def test_dry_run_of_a_name_with_quotes_is_toml(cli, recipe, trained):
    assert tomllib.loads(cli("train", recipe, "--dry-run", "--name", 'a "b"').out)["name"] == 'a "b"'
