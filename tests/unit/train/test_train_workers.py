"""Rollout in processes of its own: the bits are those of a run without, whatever happens to the workers."""

import os
import signal
from contextlib import suppress
from multiprocessing import active_children

import pytest
from train_runs import Listening, Parity, rows, train, weights

from burnish import faults

ROLLOUT = {"staleness": 1, "unit_prompts": 1}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return train(tmp_path_factory.mktemp("alone") / "run", rollout=ROLLOUT)


def workers():
    return [p for p in active_children() if p.name.startswith("burnish-rollout")]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_any_number_of_workers_gives_the_same_bits(tmp_path, alone, count):
    folder = train(tmp_path / "run", rollout={**ROLLOUT, "workers": count})
    assert weights(folder) == weights(alone)
    assert rows(folder, "select * from ledger") == rows(alone, "select * from ledger")
    assert not workers()


def test_killed_workers_change_nothing_but_the_attempts(tmp_path, alone):
    killed = []

    def strike(task, sample):
        if task.split == "train" and task.index == 5 and not killed:
            killed.append(task.index)
            for worker in workers():
                os.kill(worker.pid, signal.SIGKILL)

    console = Listening()
    folder = train(
        tmp_path / "run", Parity(grade=strike), console=console, rollout={**ROLLOUT, "workers": 2}
    )  # fmt: skip
    assert killed
    assert any("was replaced" in w for w in console.warnings)
    assert weights(folder) == weights(alone)
    settled = "select ordinal, state, reason, version_first, trained_step from ledger"
    assert rows(folder, settled) == rows(alone, settled)


def test_a_run_that_breaks_off_resumes_with_another_number_of_workers(tmp_path, alone):
    tables = {"rl": {"checkpoint_every": 2}}
    faults.set_plan("rl.after_record:5:error")
    with suppress(RuntimeError):
        train(tmp_path / "run", rollout={**ROLLOUT, "workers": 1}, **tables)
    faults.set_plan("")
    folder = train(tmp_path / "run", resume=True, rollout={**ROLLOUT, "workers": 0}, **tables)
    assert weights(folder) == weights(alone)
