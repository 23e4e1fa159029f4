"""The checker on the files of real small runs: sound ones pass, and every planted fault is found by name."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import burnish
from burnish.cli import main
from burnish.errors import BurnishError
from burnish.observe.console import Console
from burnish.recipe import Recipe, build_recipe, to_toml
from burnish.store import RunStore
from burnish.store.check import check_run

DOMAINS = ["reasoning-gym/arithmetic/basic_arithmetic", "reasoning-gym/algorithmic/letter_counting"]


def recipe(**rollout) -> Recipe:
    return build_recipe(
        {
            "name": "checked",
            "threads": 1,
            "model": {
                "name": "tiny",
                "tiny_layers": 1,
                "tiny_hidden": 32,
                "tiny_intermediate": 64,
                "dtype": "float32",
            },
            "domains": {"instruction": "", "train": DOMAINS},
            "rollout": {"samples": 4, "max_tokens": 4, "task_workers": 0, **rollout},
            "algorithm": {"kl_coef": 0.0},
            "sft": {"steps": 3, "batch": 4, "lr": 1e-3},
            # A coin gives every group a signal; a model this small would earn no reward.
            "rl": {
                "steps": 6,
                "prompts_per_step": 4,
                "lr": 1e-3,
                "reward": "random",
                "checkpoint_every": 2,
                "keep_checkpoints": 9,
            },
            "evaluate": {"tasks": 2, "samples": 1, "resamples": 100},
        }
    )


@pytest.fixture(scope="module", params=[0, 2], ids=["synchronous", "two steps ahead"])
def finished(request, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    burnish.train(recipe(staleness=request.param), folder, console=Console(quiet=True))
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def violated(run: Path) -> dict[str, tuple[str, ...]]:
    return {f.name: f.examples for f in check_run(run) if not f.holds}


def change(run: Path, *statements: str) -> None:
    with sqlite3.connect(run / "run.sqlite") as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            assert connection.execute(statement).rowcount != 0, statement
    connection.close()


def test_a_sound_run_passes_and_everything_was_looked_at(run, capsys):
    assert main(["runs", "check", str(run)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].endswith("every invariant holds")
    found = {f.name: f for f in check_run(run)}
    assert len(lines) == len(found) + 1
    assert found["ordinals"].checked == found["samples"].checked == 24
    assert found["staleness"].checked > 12
    assert found["metrics"].checked == 9
    assert found["checkpoints"].checked == 4


OF_STEP_3 = "(SELECT min(ordinal) FROM ledger WHERE trained_step = 3)"
PLANTED = {
    "a lost group": ([f"DELETE FROM ledger WHERE ordinal = {OF_STEP_3}"], "ordinals", "is lost"),
    "a group that nobody settled": (
        [
            "UPDATE ledger SET state = 'leased', trained_step = NULL, trained_version = NULL, "
            f"times_trained = 0 WHERE ordinal = {OF_STEP_3}"
        ],
        "ordinals",
        "still leased",
    ),
    "a drop without a reason": (
        [
            "UPDATE ledger SET state = 'dropped', trained_step = NULL, trained_version = NULL, "
            f"times_trained = 0 WHERE ordinal = {OF_STEP_3}"
        ],
        "ordinals",
        "with the reason None",
    ),
    "a group trained on twice": (
        [f"UPDATE ledger SET times_trained = 2 WHERE ordinal = {OF_STEP_3}"],
        "trained once",
        "2 times",
    ),
    "samples at two steps": (
        [
            "INSERT INTO samples SELECT id + 100000, stage, step + 1, ordinal, task_key, domain, split, "
            "level, task_index, sample_index, prompt_text, text, stop, tokens, mean_logprob, weight_version, "
            f"advantage, gold FROM samples WHERE stage = 'rl' AND ordinal = {OF_STEP_3}"
        ],
        "trained once",
        "has samples at steps 3, 4",
    ),
    "a task used twice": (
        [
            "UPDATE ledger SET (domain, level, task_index) = (SELECT domain, level, task_index FROM ledger "
            f"WHERE ordinal = 0) WHERE ordinal = {OF_STEP_3}"
        ],
        "tasks",
        "is of groups 0 and",
    ),
    "a stale group": (
        [f"UPDATE ledger SET version_first = version_first - 9 WHERE ordinal = {OF_STEP_3}"],
        "staleness",
        "was trained on at version 5",
    ),
    "weights from the future": (
        [f"UPDATE ledger SET version_last = trained_version + 1 WHERE ordinal = {OF_STEP_3}"],
        "staleness",
        "to 6 was trained on at version 5",
    ),
    "a version that did not rise": (
        ["UPDATE ledger SET trained_version = trained_version - 1 WHERE trained_step = 3"],
        "versions",
        "step 3 changed version 4, not 5",
    ),
    "a missing step": (
        ["DELETE FROM metrics WHERE stage = 'rl' AND step = 3"],
        "metrics",
        "rl step 3 has no success, reward",
    ),
    "a missing step of the stage before": (
        ["DELETE FROM metrics WHERE stage = 'sft' AND step = 2"],
        "metrics",
        "sft step 2 has no loss",
    ),
    "a missing figure": (
        ["DELETE FROM metrics WHERE stage = 'rl' AND step = 3 AND name = 'reward' AND domain IS NULL"],
        "metrics",
        "rl step 3 has no reward",
    ),
    "a missing figure of a domain": (
        [
            "DELETE FROM metrics WHERE stage = 'rl' AND step = 3 AND name = 'reward' AND domain = "
            f"(SELECT domain FROM ledger WHERE ordinal = {OF_STEP_3})"
        ],
        "metrics",
        "rl step 3 has no reward of reasoning-gym",
    ),
    "a step shown twice": (
        [
            "DROP INDEX metrics_by_name",
            "INSERT INTO metrics SELECT stage, step, domain, name, value, time FROM metrics "
            "WHERE stage = 'rl' AND step = 3",
        ],
        "metrics",
        "2 times",
    ),
    "lost samples": (
        [f"DELETE FROM samples WHERE stage = 'rl' AND ordinal = {OF_STEP_3}"],
        "samples",
        "was trained on at step 3 but has no samples",
    ),
    "one lost sample": (
        ["DELETE FROM samples WHERE id = (SELECT max(id) FROM samples WHERE stage = 'rl' AND step = 3)"],
        "samples",
        "has 3 samples instead of 4",
    ),
    "samples of an unknown group": (
        [f"UPDATE samples SET ordinal = 99 WHERE stage = 'rl' AND ordinal = {OF_STEP_3}"],
        "samples",
        "group 99 of the samples of step 3 is not in the ledger",
    ),
    "samples of another task": (
        [f"UPDATE samples SET task_index = 77 WHERE stage = 'rl' AND ordinal = {OF_STEP_3}"],
        "samples",
        "is of another task",
    ),
    "tokens that do not add up": (
        [f"UPDATE ledger SET tokens = tokens + 1 WHERE ordinal = {OF_STEP_3}"],
        "samples",
        "the ledger says",
    ),
    "samples of other weights": (
        [f"UPDATE samples SET weight_version = 1 WHERE stage = 'rl' AND ordinal = {OF_STEP_3}"],
        "samples",
        "is of versions 1 to 1",
    ),
    "a group settled only after the checkpoint that settled it": (
        ["UPDATE ledger SET trained_step = 6 WHERE ordinal = (SELECT min(ordinal) FROM ledger WHERE "
         "trained_step = 2)"],
        "checkpoints",
        "is settled in it, yet trained on only at step 6",
    ),
    "a database behind its checkpoint": (
        ["DELETE FROM metrics WHERE stage = 'rl' AND step > 4"],
        "checkpoints",
        "rl step 6 is saved, but the last one in the database is 4",
    ),
    "what no row ever held": (
        [f"UPDATE ledger SET version_first = 'x' WHERE ordinal = {OF_STEP_3}"],
        "staleness",
        "what was never written",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found_and_named(run, fault, capsys):
    statements, name, words = PLANTED[fault]
    change(run, *statements)
    found = violated(run)
    assert words in " ".join(found[name]), found
    assert main(["runs", "check", str(run)]) == 1
    output = capsys.readouterr()
    assert name in output.out
    assert "NOT PROVED" in output.out
    assert not output.err


def _edit(path: Path, **values) -> None:
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, **values}))


def _resealed(checkpoint: Path) -> None:
    """Give a checkpoint a manifest that fits its files again."""
    import hashlib

    files = sorted(p for p in checkpoint.rglob("*") if p.is_file() and p.name != "manifest.json")
    entries = {
        str(p.relative_to(checkpoint)): {
            "size": p.stat().st_size,
            "sha256": hashlib.sha256(p.read_bytes()).hexdigest(),
        }
        for p in files
    }
    _edit(checkpoint / "manifest.json", files=entries)


@pytest.mark.parametrize("shift", [-4, 4])
def test_a_frontier_that_does_not_fit_the_database_is_found(run, shift):
    checkpoint = run / "checkpoints" / "step_000009"
    ledger = json.loads((checkpoint / "state.json").read_text())["ledger"]
    _edit(checkpoint / "state.json", ledger={**ledger, "frontier": ledger["frontier"] + shift})
    _resealed(checkpoint)
    assert "frontier" in " ".join(violated(run)["checkpoints"])


def test_a_version_in_a_checkpoint_that_skips_a_step_is_found(run):
    checkpoint = run / "checkpoints" / "step_000007"
    _edit(checkpoint / "state.json", version=8)
    _resealed(checkpoint)
    assert "step_000007 is version 8 after rl step 4" in " ".join(violated(run)["versions"])


def test_batches_under_way_that_were_not_saved_are_found(finished, run):
    pending = run / "checkpoints" / "step_000005" / "pending.json"
    if not pending.is_file():
        assert "staleness = 0" in (finished / "recipe.toml").read_text()
        return
    pending.unlink()
    _resealed(pending.parent)
    assert "its samples are not saved" in " ".join(violated(run)["checkpoints"])


@pytest.mark.parametrize("file", ["hf/model.safetensors", "optimiser.safetensors", "state.json"])
def test_a_flipped_byte_in_a_checkpoint_is_found(run, file):
    path = run / "checkpoints" / "step_000007" / file
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert f"step_000007: the content of {file}" in " ".join(violated(run)["manifests"])


def test_a_missing_and_an_added_file_of_a_checkpoint_are_found(run):
    (run / "checkpoints" / "step_000005" / "hf" / "config.json").unlink()
    (run / "checkpoints" / "step_000007" / "extra.bin").write_bytes(b"x")
    (run / "checkpoints" / "step_000009" / "manifest.json").write_text("{")
    text = "; ".join(violated(run)["manifests"])
    assert "step_000005: hf/config.json is missing" in text
    assert "step_000007: extra.bin is not in the manifest" in text
    assert "step_000009: cannot be read" in text


def test_a_damaged_database_is_a_finding_or_a_clear_error_and_never_a_traceback(run, capsys):
    path = run / "run.sqlite"
    content = path.read_bytes()
    for place in range(0, len(content), len(content) // 25):
        hurt = bytearray(content)
        hurt[place : place + 300] = os.urandom(300)
        path.write_bytes(hurt)
        code = main(["runs", "check", str(run)])
        output = capsys.readouterr()
        assert code in (0, 1, 2)
        assert "Traceback" not in output.out + output.err
        assert "unexpected error" not in output.err
        if place == 0:
            assert code == 2
            assert "database" in output.err


@pytest.mark.parametrize("name", ["recipe.toml", "run.sqlite", "status.json"])
@pytest.mark.parametrize("content", [None, b"", b"\xff\x00 not what it was"])
def test_a_missing_or_garbled_file_is_told_in_words(run, name, content, capsys):
    (run / name).unlink()
    if content is not None:
        (run / name).write_bytes(content)
    code = main(["runs", "check", str(run)])
    output = capsys.readouterr()
    assert code in (1, 2)
    assert "Traceback" not in output.err
    assert "unexpected" not in output.err
    assert name.split(".")[0] in output.out + output.err or "run director" in output.err


def test_json_tells_what_the_lines_tell(run, capsys):
    change(run, f"DELETE FROM ledger WHERE ordinal = {OF_STEP_3}")
    assert main(["runs", "check", str(run), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["holds"] is False
    ordinals = next(f for f in told["invariants"] if f["name"] == "ordinals")
    assert (ordinals["status"], ordinals["violations"]) == ("violated", 1)


def test_a_run_is_checked_while_another_process_writes_to_it(run):
    before = {p: p.stat().st_mtime_ns for p in run.rglob("*") if p.is_file() and "sqlite" not in p.name}
    with RunStore.open(run / "run.sqlite", read_only=False) as store:
        store.add_event("rl", 6, "info", "note", "still writing")
        store.flush()
        other = sqlite3.connect(run / "run.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM ledger")
        assert violated(run) == {}
        other.execute("ROLLBACK")
        other.close()
    assert before == {p: p.stat().st_mtime_ns for p in before}


def test_a_run_from_before_the_ledger_is_not_called_proved(run):
    change(run, "DROP TABLE ledger", "PRAGMA user_version = 1")
    found = {f.name: f for f in check_run(run)}
    assert found["metrics"].holds
    assert found["ordinals"].status == "unproven"
    assert "before there was a ledger" in found["ordinals"].examples[0]


def test_dropping_long_groups_is_a_warning_and_not_a_failure(run):
    change(
        run,
        "UPDATE ledger SET tokens = ordinal + 1, state = 'dropped', reason = 'stale', trained_step = NULL, "
        "trained_version = NULL, times_trained = 0 WHERE ordinal >= 14",
        "UPDATE ledger SET tokens = ordinal + 1 WHERE ordinal < 14",
    )
    bias = next(f for f in check_run(run) if f.name == "length bias")
    assert bias.status == "warning"
    assert "chance 1.00" in bias.examples[0]
    assert bias.holds


def test_folder_that_is_no_run(tmp_path, capsys):
    assert main(["runs", "check", str(tmp_path / "nowhere")]) == 2
    assert "is not a run directory" in capsys.readouterr().err
    with pytest.raises(BurnishError):
        check_run(tmp_path)


@pytest.mark.parametrize("fault", ["rl.after_update:3:kill", "rl.after_record:5:kill"])
@pytest.mark.parametrize("staleness", [0, 2])
def test_a_killed_run_passes_before_and_after_it_is_resumed(tmp_path, staleness, fault):
    plan = recipe(staleness=staleness)
    (tmp_path / "recipe.toml").write_text(to_toml(plan))
    command = [sys.executable, "-m", "burnish", "train", str(tmp_path / "recipe.toml"), "--run-dir"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "BURNISH_FAULT": fault}
    done = subprocess.run(
        [*command, str(tmp_path / "run")], env=environment, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stdout + done.stderr
    assert violated(tmp_path / "run") == {}
    burnish.train(plan, tmp_path / "run", resume=True, console=Console(quiet=True))
    assert violated(tmp_path / "run") == {}
