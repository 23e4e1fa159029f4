from concurrent.futures import Future

import pytest
from rollout_fakes import unit

from burnish.rollout.leases import Job, Leases


def leased(worker=1):
    leases = Leases()
    job = Job(unit(0))
    leases.add(job)
    job.worker = worker
    return leases, job


def test_the_answer_of_an_attempt_that_was_taken_back_is_refused():
    leases, job = leased()
    assert leases.take_back(1) is job
    assert leases.accept(job.unit.key, 1) is None
    assert leases.accept(job.unit.key, 2) is job
    assert leases.accept(job.unit.key, 2) is None
    assert leases.refused == 2


def test_the_unit_needed_first_waits_in_front():
    leases = Leases()
    for step, number in [(3, 0), (1, 1), (1, 0), (2, 0)]:
        leases.add(Job(unit(step, number)))
    order = []
    while (job := leases.waiting()) is not None:
        job.worker = 1
        order.append(job.unit.key)
        leases.accept(job.unit.key, 1)
    assert order == [(1, 0, 0), (1, 0, 1), (2, 0, 0), (3, 0, 0)]


def test_an_error_reaches_everybody_who_waits():
    leases, job = leased()
    assert isinstance(job.result, Future)
    leases.fail(ValueError("gone"))
    with pytest.raises(ValueError, match="gone"):
        job.result.result(timeout=1)
    assert len(leases) == 0
