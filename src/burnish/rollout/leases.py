"""Which unit is with which worker, until when, and which attempt counts.

A unit is leased to one worker at a time. Taking it back raises its attempt, so whatever the earlier worker
still delivers is recognised and refused. Times are those of a monotonic clock: a changed system time moves
no deadline.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field

from burnish.rollout.engine import Drawn, Unit

Key = tuple[int, int, int]


@dataclass
class Job:
    """A unit that somebody waits for."""

    unit: Unit
    result: Future[Drawn] = field(default_factory=Future)
    attempt: int = 1
    """Counts up from 1 with every lease that was taken back."""
    worker: int | None = None
    """Who has it, None while it waits."""


class Leases:
    """The table of jobs; no processes and no clock of its own."""

    def __init__(self) -> None:
        self._jobs: dict[Key, Job] = {}
        self.refused = 0
        """Answers that came too late or twice."""

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, job: Job) -> None:
        """Take in a unit; it waits."""
        self._jobs[job.unit.key] = job

    def waiting(self) -> Job | None:
        """The unit needed first of those that nobody has."""
        free = [job for job in self._jobs.values() if job.worker is None]
        return min(free, key=lambda job: job.unit.key, default=None)

    def held_by(self, worker: int) -> Job | None:
        """The unit that a worker has."""
        return next((job for job in self._jobs.values() if job.worker == worker), None)

    def accept(self, key: Key, attempt: int) -> Job | None:
        """Close a job whose answer has come; None when that attempt no longer counts."""
        job = self._jobs.get(key)
        if job is None or job.attempt != attempt:
            self.refused += 1
            return None
        return self._jobs.pop(key)

    def take_back(self, worker: int) -> Job | None:
        """End the lease of a worker, so that its unit waits again under a new attempt."""
        job = self.held_by(worker)
        if job is not None:
            job.worker = None
            job.attempt += 1
        return job

    def fail(self, error: BaseException) -> None:
        """Give everybody who waits the error."""
        jobs, self._jobs = list(self._jobs.values()), {}
        for job in jobs:
            job.result.set_exception(error)
