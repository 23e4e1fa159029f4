from __future__ import annotations

import json
from pathlib import Path

import pytest

from burnish.recipe import load_recipe, to_toml
from burnish.store import RunDir, RunStore, write_json_atomic

SUMMARY = {
    "evaluations": [
        {"name": "before", "sampled": {"macro": {"value": 0.25, "low": 0.2, "high": 0.3}, "domains": {}}}
    ],
    "differences": [],
}


@pytest.fixture
def run(tmp_path: Path, recipe: str) -> Path:
    """A finished run at runs/x, as a path from the folder where commands run."""
    opened = RunDir.create(tmp_path / "runs" / "x")
    opened.write_status("finished", "rl", 60)
    opened.recipe.write_text(to_toml(load_recipe(tmp_path / recipe)))
    write_json_atomic(opened.summary, SUMMARY)
    RunStore.create(opened.database).close()
    return Path("runs/x")


def test_no_runs_say_how_to_make_one(cli):
    done = cli("runs")
    assert done.code == 0
    assert "burnish train" in done.out


def test_no_runs_as_json_are_an_empty_list(cli):
    assert json.loads(cli("runs", "--json").out) == []


@pytest.mark.parametrize("words", [[], ["list"], ["runs"], ["list", "runs"]])
def test_runs_are_listed(cli, run, words):
    text = cli("runs", *words).out
    assert "finished" in text
    assert "25.0%" in text


def test_runs_as_json(cli, run):
    (found,) = json.loads(cli("runs", "--json").out)
    assert (found["name"], found["state"], found["step"]) == ("x", "finished", 60)


def test_one_run_shows_state_results_and_places(cli, run):
    text = cli("runs", "show", str(run)).out
    assert "finished, stage rl, step 60" in text
    assert "25.0%" in text
    assert "run.sqlite" in text


def test_one_run_as_json(cli, run):
    found = json.loads(cli("runs", "show", str(run), "--json").out)
    assert found["summary"] == SUMMARY
    assert "report" not in found["places"]


def test_run_without_results_yet_can_be_shown(cli, run):
    (run / "summary.json").unlink()
    assert cli("runs", "show", str(run)).code == 0


@pytest.mark.parametrize("command", [["runs", "show"], ["report"]])
def test_folder_that_is_no_run(cli, command):
    done = cli(*command, "nowhere")
    assert done.code == 2
    assert "is not a run directory" in done.err


def test_report_is_written_and_named(cli, run):
    done = cli("report", str(run))
    assert done.code == 0, done.err
    assert done.out.strip().endswith("report.html")
    assert "<html" in (run / "report.html").read_text()


def test_export_hands_on_run_destination_and_stage(cli, run, pipeline):
    calls = pipeline(export=lambda run_dir, dest, stage=None: dest)
    done = cli("export", str(run), "model", "--stage", "sft")
    assert done.out.strip() == "model"
    assert calls == [{"name": "export", "args": (run, Path("model")), "stage": "sft"}]
