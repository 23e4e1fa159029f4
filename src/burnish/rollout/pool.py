"""Rollout workers: processes that draw units side by side, watched, replaced, and never waited for in vain.

One thread owns all state and takes events from a queue: units and weights from the trainer, answers from
the workers. Each worker has a thread that talks to it, so that a worker that hangs blocks nobody else. A
worker may draw a unit only once it holds exactly the version that the unit names, proven by checksums. One
that dies, or keeps an order longer than the lease, is killed and replaced; its unit goes to the next worker
under a higher attempt. Results are keyed by unit, so they do not depend on who drew what, or when.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from multiprocessing import get_context

from torch import Tensor

from burnish.errors import BurnishError, TrainingError
from burnish.processes import script_hidden
from burnish.records import WeightVersion
from burnish.rollout.channel import WeightChannel, Weights
from burnish.rollout.engine import Drawn, Unit
from burnish.rollout.held import Held
from burnish.rollout.leases import Job, Leases
from burnish.rollout.worker import Answer, Broken, Load, Order, Ready, Setup, Work, serve

MAX_ATTEMPTS = 4
"""Leases of one unit before the run gives up on it."""
START_SECONDS = 300.0
"""Longest wait for a new worker to load its model."""

Verify = Callable[[Held, WeightVersion], None]
"""Raises BurnishError when what a worker holds is not what the trainer published as that version."""
Report = Callable[[str], None]
"""Hears in words of workers that were replaced."""


class _Worker:
    """A process, and the thread that talks to it."""

    def __init__(self, number: int, setup: Setup, tell: Callable[[_Worker, Answer | None], None]):
        self.number = number
        self.version: WeightVersion | None = None
        """Version that it is proven to hold."""
        self.orders: queue.SimpleQueue[Order | None] = queue.SimpleQueue()
        self.order: Order | None = None
        """What it is at; None while idle."""
        self.ready = False
        self.deadline = time.monotonic() + START_SECONDS
        self._tell = tell
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self.process = context.Process(
            target=serve, args=(theirs, setup, os.getpid()), name=f"burnish-rollout-{number}", daemon=True
        )
        with script_hidden():
            self.process.start()
        theirs.close()
        self._talk = threading.Thread(target=self._converse, daemon=True, name=f"burnish-worker-{number}")
        self._talk.start()

    @property
    def idle(self) -> bool:
        return self.ready and self.order is None

    def give(self, order: Order, seconds: float) -> None:
        self.order = order
        self.deadline = time.monotonic() + seconds
        self.orders.put(order)

    def kill(self) -> None:
        """End it at once; also works on a stopped process."""
        self.orders.put(None)
        self.process.kill()
        self.process.join(timeout=5)

    def _converse(self) -> None:
        try:
            self._tell(self, self._connection.recv())
            while (order := self.orders.get()) is not None:
                self._connection.send(order)
                self._tell(self, self._connection.recv())
        except Exception:  # a pipe that ends, or half a message: the process is gone
            self._tell(self, None)
        finally:
            self._connection.close()


@dataclass(frozen=True, slots=True)
class _Said:
    worker: _Worker
    answer: Answer | None


_Event = _Said | Job | Weights | BurnishError | None


class RolloutPool:
    """Draws units in worker processes; see the head of this file."""

    def __init__(
        self,
        setup: Setup,
        workers: int,
        verify: Verify,
        *,
        lease_seconds: float,
        keep_versions: int,
        report: Report = lambda sentence: None,
    ):
        """Start the workers; they load their models while the caller goes on.

        Args:
            setup: how each worker begins.
            workers: processes, at least 1.
            verify: checks what a worker holds after it has loaded weights.
            lease_seconds: longest time a worker may keep one order.
            keep_versions: newest versions that units may still ask for.
            report: hears of replaced workers.
        """
        self._setup = setup
        self._verify = verify
        self._report = report
        self._lease_seconds = lease_seconds
        self._channel = WeightChannel(keep_versions)
        self._published: dict[WeightVersion, Weights] = {}
        self._keep = keep_versions
        self._events: queue.SimpleQueue[_Event] = queue.SimpleQueue()
        self._leases = Leases()
        self._losses = 0
        self._error: BurnishError | None = None
        self._closing = False
        self._spawned = 0
        self._workers = [self._spawn() for _ in range(workers)]
        self._thread = threading.Thread(target=self._run, daemon=True, name="burnish-rollout")
        self._thread.start()

    @property
    def process_ids(self) -> list[int]:
        """Process ids of the present workers."""
        return [w.process.pid for w in self._workers if w.process.pid is not None]

    @property
    def refused(self) -> int:
        """Answers that came too late or twice and were not used."""
        return self._leases.refused

    def sync(self, weights: Mapping[str, Tensor], version: WeightVersion) -> None:
        """Publish weights; workers load them when they are next idle.

        Raises:
            BurnishError: what a worker held after an earlier sync was not what was published.
        """
        if self._error is not None:
            raise self._error
        self._events.put(self._channel.publish(weights, version))

    def submit(self, unit: Unit) -> Future[Drawn]:
        """Have a unit drawn; its future gets the samples, or the error that ended the pool."""
        job = Job(unit)
        self._events.put(job)
        return job.result

    def close(self) -> None:
        """End the workers and remove the weight files; what is under way is given up."""
        self._closing = True
        self._events.put(None)
        self._thread.join()
        self._channel.close()

    # What follows runs in the pool's own thread.

    def _run(self) -> None:
        try:
            while not self._closing:
                self._take_events()
                if self._error is None:
                    self._expire()
                if self._error is None:
                    self._hand_out()
        except BaseException as error:
            self._give_up(_unforeseen(error))
            raise
        finally:
            for worker in self._workers:
                worker.kill()
            self._leases.fail(self._error or TrainingError("the rollout workers were ended"))

    def _take_events(self) -> None:
        """Wait for one event, or for the next deadline; then take all that are there."""
        at_work = [w.deadline for w in self._workers if not w.idle and self._error is None]
        patience = max(0.0, min(at_work) - time.monotonic()) if at_work else None
        try:
            self._take(self._events.get(timeout=patience))
            while True:
                self._take(self._events.get_nowait())
        except queue.Empty:
            return

    def _take(self, event: _Event) -> None:
        if isinstance(event, Job):
            self._leases.add(event)
            if self._error is not None:
                self._leases.fail(self._error)
        elif isinstance(event, Weights):
            self._published[event.version] = event
            for old in sorted(self._published)[: -self._keep]:
                del self._published[old]
        elif isinstance(event, _Said) and event.worker in self._workers:
            self._heard(event.worker, event.answer)

    def _heard(self, worker: _Worker, answer: Answer | None) -> None:
        order, worker.order = worker.order, None
        if isinstance(answer, Ready):
            worker.ready = True
        elif isinstance(answer, Held) and isinstance(order, Load):
            self._admit(worker, answer, order.weights.version)
        elif isinstance(answer, Drawn):
            self._losses = 0
            job = self._leases.accept(answer.key, answer.attempt)
            if job is not None:
                job.result.set_result(answer)
        elif isinstance(answer, Broken):
            self._give_up(answer.error or _cannot(answer.what))
        else:
            worker.process.join(timeout=1)
            self._replace(worker, f"ended ({_ending(worker.process.exitcode)})")

    def _admit(self, worker: _Worker, held: Held, version: WeightVersion) -> None:
        """Let a worker draw once it is proven to hold the version that it was told to load."""
        try:
            self._verify(held, version)
        except BurnishError as error:
            self._give_up(error)
        else:
            worker.version = version

    def _expire(self) -> None:
        if not self._events.empty():
            return  # an answer may have come in time while this process could not look
        now = time.monotonic()
        for worker in [w for w in self._workers if not w.idle and w.deadline < now]:
            what = "did not start" if not worker.ready else f"gave no answer for {self._lease_seconds:g} s"
            self._replace(worker, what)

    def _replace(self, worker: _Worker, why: str) -> None:
        worker.kill()
        self._workers.remove(worker)
        if self._error is not None:
            return
        job = self._leases.take_back(worker.number)
        self._losses += 1
        sentence = f"rollout worker {worker.number} {why}"
        if self._losses > MAX_ATTEMPTS + len(self._workers) or (job and job.attempt > MAX_ATTEMPTS):
            self._give_up(_keep_ending(sentence, self._losses))
            return
        self._workers.append(self._spawn())
        moved = f"; its unit {job.unit.number} of step {job.unit.step} is drawn again" if job else ""
        self._report(f"{sentence} and was replaced{moved}")

    def _spawn(self) -> _Worker:
        self._spawned += 1
        return _Worker(self._spawned, self._setup, lambda w, answer: self._events.put(_Said(w, answer)))

    def _hand_out(self) -> None:
        """Give every idle worker the unit needed first, or the weights that it needs before."""
        newest = max(self._published, default=None)
        for worker in [w for w in self._workers if w.idle]:
            job = self._leases.waiting()
            wanted = newest if job is None else job.unit.version
            if wanted is None or (job is None and worker.version == wanted):
                continue
            if worker.version != wanted:
                worker.version = None
                worker.give(Load(self._weights(wanted)), self._lease_seconds)
            elif job is not None:
                job.worker = worker.number
                worker.give(Work(job.unit, job.attempt), self._lease_seconds)

    def _weights(self, version: WeightVersion) -> Weights:
        found = self._published.get(version)
        if found is None:
            raise KeyError(f"version {version} is asked for; published are {sorted(self._published)}")
        return found

    def _give_up(self, error: BurnishError) -> None:
        self._error = self._error or error
        self._leases.fail(self._error)


def _ending(code: int | None) -> str:
    return "the connection broke" if code is None else f"exit code {code}"


def _cannot(what: str) -> TrainingError:
    return TrainingError(
        "a rollout worker cannot do its work",
        got=what,
        expected="completions",
        next_step="try rollout.workers = 0, which draws in the training process",
    )


def _keep_ending(sentence: str, losses: int) -> TrainingError:
    return TrainingError(
        "rollout workers keep ending before they deliver anything",
        got=f"{losses} in a row; the last: {sentence}",
        expected="a unit drawn within rollout.lease_seconds",
        next_step="free memory, use fewer rollout.workers, or raise rollout.lease_seconds; then resume",
    )


def _unforeseen(error: BaseException) -> TrainingError:
    return TrainingError("the rollout pool failed", got=f"{type(error).__name__}: {error}")
