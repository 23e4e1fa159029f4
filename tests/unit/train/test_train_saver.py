"""Saving beside training: a consistent copy, never two writers, and a full disk that costs no run."""

import threading
import time

import pytest
import torch
from checkpoint_helpers import PLAN, state
from train_runs import Listening

from burnish import faults
from burnish.errors import RunError
from burnish.store import RunStore
from burnish.training.checkpoint import (
    newest_checkpoint,
    read_masters,
    read_optimiser,
    read_pending,
)
from burnish.training.optimiser import MasterOptimiser, masters_of
from burnish.training.retention import Retention
from burnish.training.saver import Saver

KEEP = Retention(last=9)


class Bench:
    """A saver with something to save."""

    def __init__(self, folder, policy):
        self.folder = folder / "checkpoints"
        self.policy = policy
        self.masters = masters_of(policy.trainable())
        self.optimiser = MasterOptimiser(policy.trainable(), self.masters, PLAN)
        self.store = RunStore.create(folder / "run.sqlite")
        self.console = Listening()
        self.saver = Saver(self.folder, policy, self.store, self.console)

    def save(self, version, keep=KEEP, **options):
        self.saver.save(state(version), self.masters, self.optimiser.state(), keep, **options)

    def names(self):
        return sorted(p.name for p in self.folder.iterdir())


@pytest.fixture
def bench(tmp_path, fresh_policy):
    found = Bench(tmp_path, fresh_policy)
    yield found
    faults.set_plan("")
    found.store.close()


def test_a_save_is_of_its_moment_whatever_training_does_next(bench):
    gate = threading.Event()
    then = {n: m.clone() for n, m in bench.masters.items()}
    with bench.saver:
        bench.save(1, pending=lambda: [{"waited": gate.wait(20)}])
        for tensor in (*bench.masters.values(), *bench.optimiser.state().values()):
            tensor.add_(1)
        for parameter in bench.policy.trainable().values():
            parameter.data.add_(1)
        gate.set()
    path = bench.folder / "step_000001"
    assert read_pending(path) == [{"waited": True}]
    assert all(torch.equal(t, then[n]) for n, t in read_masters(path).items())
    assert all(not read_optimiser(path)[f"first/{n}"].any() for n in then)


def test_training_does_not_wait_for_the_disk(bench):
    gate = threading.Event()
    with bench.saver:
        bench.saver.prepare(bench.masters, bench.optimiser.state())
        bench.saver.wait()
        began = time.monotonic()
        bench.save(1, pending=lambda: [gate.wait(20)])
        assert time.monotonic() - began < 1
        assert newest_checkpoint(bench.folder) is None
        gate.set()
    assert bench.names() == ["step_000001"]


def test_a_second_save_waits_for_the_first(bench):
    order = []

    def slow():
        time.sleep(0.3)
        order.append("first written")
        return []

    with bench.saver:
        bench.save(1, pending=slow)
        bench.save(2)
        order.append("second begun")
    assert order == ["first written", "second begun"]
    assert bench.names() == ["step_000001", "step_000002"]


def test_a_full_disk_costs_the_checkpoint_and_not_the_run(bench):
    with bench.saver:
        bench.save(1)
        bench.saver.wait()
        faults.set_plan("checkpoint.file:2:enospc")
        bench.save(2)
        bench.saver.wait()
        bench.save(3)
    assert bench.names() == ["step_000001", "step_000003"]
    (warning,) = bench.console.warnings
    assert "step_000002" in warning
    assert "No space left" in warning
    assert "training goes on" in warning
    errors = [e for e in bench.store.events() if e.level == "error"]
    assert [(e.step, e.kind) for e in errors] == [(2, "checkpoint")]


def test_a_save_that_is_waited_for_says_so_when_it_fails(bench):
    with bench.saver:
        bench.save(1)
        bench.saver.wait()
        faults.set_plan("checkpoint.file:1:enospc")
        with pytest.raises(RunError, match="cannot be written"):
            bench.save(2, wait=True)
    assert bench.names() == ["step_000001"]


def test_an_error_nobody_foresaw_is_not_swallowed(bench):
    faults.set_plan("checkpoint.file:1:error")
    with pytest.raises(RuntimeError, match="a fault asked for"), bench.saver:
        bench.save(1)
    assert bench.names() == []


def test_an_error_of_the_writer_never_hides_the_error_under_way(bench):
    faults.set_plan("checkpoint.file:1:error")
    with pytest.raises(ZeroDivisionError), bench.saver:
        bench.save(1)
        raise ZeroDivisionError


def test_rows_are_on_disk_before_the_checkpoint_that_counts_on_them(bench):
    seen = []

    def look():
        with RunStore.open(bench.store.path) as reader:
            seen.append(reader.metrics("rl", "reward"))
        return []

    with bench.saver:
        bench.store.add_metrics("rl", 1, {"reward": 0.5})
        bench.save(1, pending=look)
    assert seen == [[(1, 0.5)]]


def test_the_best_is_kept_by_the_figures_up_to_its_own_step(bench):
    keep = Retention(last=1, best=1, metric="reward")
    with bench.saver:
        for step, reward in ((1, 0.9), (2, 0.0), (3, 0.0)):
            bench.store.add_metrics("rl", step, {"reward": reward})
            bench.save(step, keep)
    assert bench.names() == ["step_000001", "step_000003"]
