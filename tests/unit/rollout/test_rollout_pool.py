"""Worker processes: whoever draws, and whatever happens to them, the same comes out."""

import os
import signal
import time
from functools import partial

import pytest
from rollout_fakes import FakeEngine, ForgetfulEngine, unit, weights

from burnish.errors import TrainingError
from burnish.models.checksums import checksums
from burnish.rollout.inline import InlineRollouts
from burnish.rollout.pool import RolloutPool
from burnish.rollout.worker import Setup

PATIENCE = 60


@pytest.fixture
def pool_of():
    pools = []

    def make(workers, engine=FakeEngine, lease=30.0, verify=lambda held, version: None, **options):
        said = []
        setup = Setup(partial(engine, **options), threads=1, probes=())
        pool = RolloutPool(setup, workers, verify, lease_seconds=lease, keep_versions=3, report=said.append)
        pools.append(pool)
        return pool, said

    yield make
    for pool in pools:
        pool.close()


def expected(units, value=1.0):
    inline = InlineRollouts(FakeEngine(), lambda held, version: None)
    inline.sync(weights(value), 0)
    return [inline.submit(u).result().samples for u in units]


def drawn(futures):
    return [f.result(timeout=PATIENCE).samples for f in futures]


def wait_for_line(diary, number=1):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        lines = diary.read_text().split() if diary.exists() else []
        if len(lines) >= number:
            return int(lines[number - 1])
        time.sleep(0.02)
    raise AssertionError("no unit was begun")


@pytest.mark.parametrize("workers", [1, 2])
def test_any_number_of_workers_draws_what_this_process_draws(pool_of, workers):
    pool, _ = pool_of(workers)
    pool.sync(weights(1.0), 0)
    units = [unit(step, number) for step in range(3) for number in range(2)]
    assert drawn([pool.submit(u) for u in units]) == expected(units)


def test_a_killed_worker_is_replaced_and_its_unit_drawn_again(pool_of, tmp_path):
    diary = tmp_path / "diary"
    pool, said = pool_of(1, seconds=1.0, diary=diary)
    pool.sync(weights(1.0), 0)
    futures = [pool.submit(unit(0, 0)), pool.submit(unit(0, 1))]
    os.kill(wait_for_line(diary), signal.SIGKILL)
    assert drawn(futures) == expected([unit(0, 0), unit(0, 1)])
    assert [f.result().attempt for f in futures] == [2, 1]
    assert "exit code -9" in said[0]


def test_a_stopped_worker_loses_its_lease(pool_of, tmp_path):
    diary = tmp_path / "diary"
    pool, said = pool_of(2, seconds=0.5, diary=diary, lease=2.0)
    pool.sync(weights(1.0), 0)
    future = pool.submit(unit(0, 0))
    os.kill(wait_for_line(diary), signal.SIGSTOP)
    assert drawn([future]) == expected([unit(0, 0)])
    assert future.result().attempt == 2
    assert "gave no answer for 2 s" in said[0]


def test_the_pool_is_rebuilt_when_all_workers_die(pool_of):
    pool, _ = pool_of(2)
    pool.sync(weights(1.0), 0)
    assert drawn([pool.submit(unit(0))]) == expected([unit(0)])
    before = set(pool.process_ids)
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    assert drawn([pool.submit(unit(1))]) == expected([unit(1)])
    assert not before & set(pool.process_ids)


def test_workers_that_keep_dying_end_in_an_error_and_not_in_a_wait(pool_of):
    pool, _ = pool_of(1, dies=True)
    pool.sync(weights(1.0), 0)
    with pytest.raises(TrainingError, match="keep ending"):
        pool.submit(unit(0)).result(timeout=4 * PATIENCE)
    with pytest.raises(TrainingError, match="keep ending"):
        pool.submit(unit(1)).result(timeout=PATIENCE)


def test_units_are_drawn_with_the_version_they_name(pool_of):
    pool, _ = pool_of(1)
    pool.sync(weights(1.0), 0)
    pool.sync(weights(2.0), 1)
    old, new = drawn([pool.submit(unit(0, version=0)), pool.submit(unit(0, 1, version=1))])
    assert old == expected([unit(0)])[0]
    assert {v for group in new for s in group for v in s.versions} == {1}
    assert [s.token_ids for g in new for s in g] == [
        s.token_ids for g in expected([unit(0, 1)], 2.0)[0] for s in g
    ]


def test_a_worker_that_holds_other_weights_is_given_no_unit(pool_of):
    published = {0: checksums(weights(1.0)), 1: checksums(weights(2.0))}

    def verify(held, version):
        if held.checksums != published[version]:
            raise TrainingError("weights differ")

    pool, _ = pool_of(1, engine=ForgetfulEngine, verify=verify)
    pool.sync(weights(1.0), 0)
    assert drawn([pool.submit(unit(0))])
    pool.sync(weights(2.0), 1)
    with pytest.raises(TrainingError, match="weights differ"):
        pool.submit(unit(1, version=1)).result(timeout=PATIENCE)


def test_closing_leaves_no_process_and_no_file(pool_of):
    from burnish.rollout import channel

    pool, _ = pool_of(1)
    pool.sync(weights(1.0), 0)
    drawn([pool.submit(unit(0))])
    pids = pool.process_ids
    (folder,) = {w.path.parent for w in pool._published.values()}
    pool.close()
    assert not folder.exists()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert channel._parent(1 << 60) != channel._MEMORY
