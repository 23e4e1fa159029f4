"""The loop with a staleness bound: same seed, same bits, however the work is done."""

import random
import time
from contextlib import suppress

import pytest
from train_runs import Listening, Parity, metric, rows, train, weights

from burnish import faults
from burnish.training import rl
from burnish.training.collect import within_bound
from burnish.training.source import Source


@pytest.fixture
def crash():
    yield faults.set_plan
    faults.set_plan("")


@pytest.mark.parametrize("staleness", [0, 1, 3, 8])
def test_a_rerun_gives_the_same_bits(tmp_path, staleness):
    first, second = (train(tmp_path / name, rollout={"staleness": staleness}) for name in "ab")
    assert weights(first) == weights(second)
    assert metric(first, "reward") == metric(second, "reward")


def test_staleness_is_what_the_recipe_says_and_matters(tmp_path):
    now = train(tmp_path / "now")
    late = train(tmp_path / "late", rollout={"staleness": 2})
    assert metric(now, "staleness") == [0.0] * 6
    assert metric(late, "staleness") == [0.0, 1.0, 2.0, 2.0, 2.0, 2.0]
    assert weights(now) != weights(late)
    assert min(metric(late, "ess")[2:]) < 0.999 < min(metric(now, "ess"))


def test_grading_by_many_threads_in_any_order_gives_the_same_bits(tmp_path):
    def dawdle(task, sample):
        time.sleep(random.random() * 0.01)

    alone = train(tmp_path / "alone", rollout={"staleness": 1})
    many = train(tmp_path / "many", Parity(grade=dawdle), rollout={"staleness": 1, "grading_workers": 8})
    assert weights(alone) == weights(many)
    assert rows(alone, "select * from ledger") == rows(many, "select * from ledger")


def test_parts_of_a_completion_carry_the_versions_that_drew_them(tmp_path):
    folder = train(tmp_path / "run", rollout={"staleness": 2, "partial": True})
    again = train(tmp_path / "again", rollout={"staleness": 2, "partial": True})
    assert weights(folder) == weights(again)
    spans = rows(folder, "select step, min(version_first), max(version_last) from ledger group by step")
    assert spans == [(k + 1, max(0, k - 2), k) for k in range(6)]


def test_never_more_than_the_bound_and_one_batches_are_under_way(tmp_path, monkeypatch):
    seen = []
    submit = Source.submit

    def counted(self, step, groups):
        submit(self, step, groups)
        seen.append(self.under_way)

    monkeypatch.setattr(Source, "submit", counted)
    train(tmp_path / "run", rollout={"staleness": 3})
    assert max(seen) == 4


@pytest.mark.parametrize("rollout", [{"staleness": 2}, {"staleness": 2, "partial": True}])
def test_a_run_that_breaks_off_resumes_to_the_same_bits(tmp_path, crash, rollout):
    tables = {"rollout": rollout, "rl": {"steps": 9, "checkpoint_every": 2}}
    whole = train(tmp_path / "whole", **tables)
    crash("rl.after_record:5:error")
    with suppress(RuntimeError):
        train(tmp_path / "run", **tables)
    crash("")
    resumed = train(tmp_path / "run", resume=True, **tables)
    assert weights(resumed) == weights(whole)
    for query in ("select * from ledger", "select step, name, value from metrics where name = 'reward'"):
        assert rows(resumed, query) == rows(whole, query)


def test_completions_over_the_bound_are_dropped_and_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(rl, "within_bound", lambda groups, version, bound: within_bound(groups, version, 0))
    folder = train(tmp_path / "run", rollout={"staleness": 1})
    assert metric(folder, "dropped_stale") == [0.0] + [16.0] * 5
    assert rows(folder, "select step, reason from ledger where step > 1 group by 1, 2") == [
        (k, "stale") for k in range(2, 7)
    ]
    assert len(metric(folder, "grad_norm")) == 1


def test_a_grader_that_hangs_is_a_fault_and_never_a_zero(tmp_path):
    def hang(task, sample):
        if task.split == "train" and task.index == 1:
            while True:
                pass

    folder = train(
        tmp_path / "run", Parity(grade=hang), rollout={"grading_seconds": 0.3}, rl={"steps": 2},
    )  # fmt: skip
    states = rows(folder, "select task_index, reason from ledger where task_index < 4")
    assert (1, "no verdict") in states
    kinds = rows(
        folder, "select count(*) from verdicts where kind = 'faulted' and error like '%within 0.3 s%'"
    )
    assert kinds == [(4,)]


def test_an_odd_distance_between_sampler_and_trainer_is_told_once(tmp_path):
    console = Listening()
    train(tmp_path / "run", console=console, rollout={"staleness": 2}, rl={"lr": 0.1})
    assert sum("nats a token" in w for w in console.warnings) == 1
    assert rows(tmp_path / "run", "select count(*) from events where kind = 'mismatch'") == [(1,)]
