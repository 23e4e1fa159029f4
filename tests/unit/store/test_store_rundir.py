from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.errors import RunError
from burnish.store import (
    RunDir,
    collect_environment,
    effective_state,
    list_runs,
    read_json,
    write_json_atomic,
    write_text_atomic,
)


def test_create_accepts_a_new_nested_or_an_empty_folder(tmp_path: Path) -> None:
    assert RunDir.create(tmp_path / "a" / "b").checkpoints.is_dir()
    (tmp_path / "empty").mkdir()
    assert RunDir.create(tmp_path / "empty").read_status().state == "running"


def test_create_refuses_a_folder_with_files_and_leaves_them(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RunError, match="exists already") as caught:
        RunDir.create(tmp_path)
    assert "--run-dir" in caught.value.next_step
    assert sorted(p.name for p in tmp_path.iterdir()) == ["notes.txt"]


def test_create_offers_to_resume_an_existing_run(tmp_path: Path) -> None:
    RunDir.create(tmp_path / "run")
    with pytest.raises(RunError) as caught:
        RunDir.create(tmp_path / "run")
    assert f"--resume {tmp_path / 'run'}" in caught.value.next_step


def test_create_refuses_a_file(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("mine")
    with pytest.raises(RunError, match="exists already"):
        RunDir.create(tmp_path / "run")


def test_create_below_a_file_is_a_run_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot write"):
        RunDir.create(tmp_path / "file" / "run")


def test_create_in_an_unwritable_folder_is_a_run_error(open_folder: Path, unprivileged) -> None:
    open_folder.chmod(0o555)
    answer = unprivileged(lambda: repr(RunDir.create(open_folder / "run")))
    assert answer.startswith("RunError: cannot write")
    assert "--run-dir" in answer


def test_create_without_enough_space_is_a_run_error(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="too little free space"):
        RunDir.create(tmp_path / "run", need_bytes=10**18)


def test_open_wants_a_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run directory"):
        RunDir.open(tmp_path)
    RunDir.create(tmp_path / "run")
    assert RunDir.open(tmp_path / "run").path == tmp_path / "run"


def test_checkpoints_are_in_order_of_step_and_half_written_ones_left_out(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path / "run")
    for step in (1_000_000, 20, 3):
        run.checkpoint(step).mkdir()
    (run.checkpoints / "step_000099.aside").mkdir()
    assert [p.name for p in run.checkpoint_paths()] == ["step_000003", "step_000020", "step_1000000"]


def test_status_keeps_when_the_run_started(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path / "run")
    started = run.read_status().started
    run.write_status("running", "rl", 7)
    status = RunDir.open(tmp_path / "run").read_status()
    assert (status.state, status.stage, status.step, status.pid) == ("running", "rl", 7, os.getpid())
    assert status.started == started <= status.updated


@pytest.mark.parametrize("text", ["", "{", "[]", '{"state": "running"}'])
def test_a_damaged_status_is_a_run_error_that_names_the_file(tmp_path: Path, text: str) -> None:
    run = RunDir.create(tmp_path / "run")
    (run.path / "status.json").write_text(text)
    with pytest.raises(RunError, match=r"status\.json"):
        run.read_status()


def test_one_process_a_run(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path / "run")
    code = "import sys; from burnish.store import RunDir; RunDir.open(sys.argv[1]).lock(); print('got it')"

    def other() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, str(run.path)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    with run.lock():
        refused = other()
    assert f"process {os.getpid()} trains in it" in refused.stderr
    assert other().stdout == "got it\n"


def test_a_lock_excludes_its_own_process_and_can_be_taken_again(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path / "run")
    with run.lock():
        with pytest.raises(RunError, match="in use"):
            run.lock()
        with pytest.raises(RunError, match="in use"):  # the refusal must not have dropped the lock
            run.lock()
    run.lock().release()


def test_json_is_written_with_null_for_nan(tmp_path: Path) -> None:
    write_json_atomic(tmp_path / "a.json", {"a": [math.nan, 1.5, math.inf], "b": ("x", None), "c": tmp_path})
    assert read_json(tmp_path / "a.json") == {"a": [None, 1.5, None], "b": ["x", None], "c": str(tmp_path)}


def test_a_failed_write_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "a.json"
    write_json_atomic(path, {"a": 1})

    def no_space(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(RunError, match="No space left"):
        write_json_atomic(path, {"a": 2})
    assert json.loads(path.read_text()) == {"a": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_runs_are_listed_newest_first_with_state_and_accuracy(tmp_path: Path) -> None:
    for n, name in enumerate(("old", "new")):
        run = RunDir.create(tmp_path / name)
        run.write_status("finished", "rl", 24)
        fields = read_json(run.path / "status.json")
        write_json_atomic(run.path / "status.json", {**fields, "started": 100.0 + n})
    write_json_atomic(run.summary, {"evaluations": [{"name": "rl", "sampled": {"macro": {"value": 0.25}}}]})
    (tmp_path / "not-a-run").mkdir()
    assert [(r.name, r.state, r.step, r.macro) for r in list_runs(tmp_path)] == [
        ("new", "finished", 24, 0.25),
        ("old", "finished", 24, None),
    ]
    assert [r.name for r in list_runs(tmp_path / "new")] == ["new"]
    assert list_runs(tmp_path / "nowhere") == []


def test_a_run_whose_process_is_gone_has_stopped(tmp_path: Path) -> None:
    status = RunDir.create(tmp_path / "run").read_status()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert effective_state(status) == "running"
    assert effective_state(replace(status, pid=gone.pid)) == "stopped"
    assert (
        effective_state(replace(status, pid=os.getppid(), started=0.0)) == "stopped"
    )  # the pid was used again
    assert effective_state(replace(status, pid=gone.pid, host="elsewhere")) == "running"
    assert effective_state(replace(status, pid=gone.pid, state="finished")) == "finished"


def test_a_damaged_run_is_listed_as_such(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path / "run")
    (run.path / "status.json").write_text("{")
    assert [r.state for r in list_runs(tmp_path)] == ["damaged"]


def test_text_is_written_whatever_it_holds(tmp_path: Path) -> None:
    write_text_atomic(tmp_path / "a.txt", "lone \ud800 é")
    assert (tmp_path / "a.txt").read_bytes() == b"lone ? \xc3\xa9"


def test_environment_names_versions_and_machine(tmp_path: Path) -> None:
    found = collect_environment(tmp_path, threads=2)
    json.dumps(found)
    assert found["python"].count(".") == 2
    assert found["packages"]["numpy"]
    assert (found["cpu"]["cores"] > 0, found["memory_bytes"] > 0, found["threads"]) == (True, True, 2)
    assert found["git"] is None


def test_environment_names_the_commit_of_the_recipe(tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    assert len(collect_environment(tmp_path)["git"]["commit"]) == 40
    assert collect_environment(tmp_path)["git"]["modified"] is False
    (tmp_path / "recipe.toml").write_text("")
    assert collect_environment(tmp_path)["git"]["modified"] is True
