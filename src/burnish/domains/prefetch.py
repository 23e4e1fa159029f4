"""Tasks made ahead in worker processes and kept, so that slow generators never hold up a model.

Workers are spawned, import no framework of the trainer's, and make one task at a time; a task that cannot
be made is remembered as the reason why. Domains that cannot be pickled, or that live in the script being
run, are made in this process: workers never run that script again, so it needs no `__main__` guard.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from types import TracebackType
from typing import Self

from burnish.domains.base import Domain
from burnish.processes import end_with, script_hidden
from burnish.records import Split, Task

Place = tuple[str, Split, int, int]
"""Position of a task: domain, split, level, index."""
Made = Task | str
"""A task, or why it could not be made."""

_CHUNK = 4
"""Places in one order to a worker: few, so that a slow domain spreads over all of them."""
_KEPT = 200_000
"""Tasks kept before the memory is emptied."""
_KEPT_TRAIN = 4096
"""Of them from the training split, whose positions are asked for once: the latest."""

_domains: dict[str, Domain] = {}


def _set_up(domains: dict[str, Domain], parent: int) -> None:
    """In a worker: keep the domains, leave Ctrl-C to the parent, and end when it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(parent)
    _domains.update(domains)


def _make_chunk(places: Sequence[Place]) -> list[Made]:
    return [make(_domains[name], split, level, index) for name, split, level, index in places]


def make(domain: Domain, split: Split, level: int, index: int) -> Made:
    """One task, or why it could not be made."""
    try:
        return domain.task(split, level, index)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


class TaskPool:
    """Makes and keeps tasks; a context manager that ends its workers."""

    def __init__(self, domains: Sequence[Domain], workers: int = 1):
        """Start nothing yet.

        Args:
            domains: what places may name.
            workers: processes; 0 makes every task in this process when it is asked for.
        """
        self.domains = {domain.name: domain for domain in domains}
        self.workers = workers
        self._remote = {n: d for n, d in self.domains.items() if workers and _travels(d)}
        self._pool: ProcessPoolExecutor | None = None
        self._made: dict[Place, Made] = {}
        self._train: deque[Place] = deque()
        """Places of the training split in `_made`, oldest first."""
        self._coming: dict[Place, tuple[Future[list[Made]], int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the workers at once; tasks that are not made yet are given up."""
        if self._pool is not None:
            _end(self._pool)
            self._pool = None
        self._coming.clear()

    def prefetch(self, places: Sequence[Place], on_done: Callable[[int], None] | None = None) -> None:
        """Have these made in the background; `on_done` makes it wait and tells how many are done."""
        self._send([p for p in places if p not in self._made and p not in self._coming])
        if on_done is not None:
            for place in places:
                self._take(place)
                on_done(1)

    def get_or_failure(self, places: Sequence[Place]) -> list[Made]:
        """The task at each place, or a sentence that says why it could not be made."""
        self.prefetch(places)
        return [self._take(place) for place in places]

    def get(self, places: Sequence[Place]) -> list[Task]:
        """The tasks at these places; those that could not be made are left out."""
        return [made for made in self.get_or_failure(places) if isinstance(made, Task)]

    def last_failure(self, name: str) -> str | None:
        """Why the last task of a domain that failed could not be made."""
        failed = [made for place, made in self._made.items() if place[0] == name and isinstance(made, str)]
        return failed[-1] if failed else None

    def made(self, name: str) -> list[Task]:
        """Tasks of a domain made so far."""
        return [made for place, made in self._made.items() if place[0] == name and isinstance(made, Task)]

    def _send(self, places: Sequence[Place]) -> None:
        remote = [p for p in places if p[0] in self._remote]
        for start in range(0, len(remote), _CHUNK):
            chunk = remote[start : start + _CHUNK]
            with script_hidden():
                future = self._executor().submit(_make_chunk, chunk)
            self._coming |= {place: (future, i) for i, place in enumerate(chunk)}

    def _executor(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self.workers, get_context("spawn"), initializer=_set_up, initargs=(self._remote, os.getpid())
            )
        return self._pool

    def _take(self, place: Place) -> Made:
        if place not in self._made:
            made = self._wait(place)
            self._make_room(place)
            self._made[place] = made
        return self._made[place]

    def _make_room(self, place: Place) -> None:
        if len(self._made) >= _KEPT:
            self._made.clear()
            self._train.clear()
        if place[1] is Split.TRAIN:
            self._train.append(place)
        if len(self._train) > _KEPT_TRAIN:
            del self._made[self._train.popleft()]

    def _wait(self, place: Place) -> Made:
        name, split, level, index = place
        coming = self._coming.pop(place, None)
        if coming is None:
            return make(self.domains[name], split, level, index)
        try:
            return coming[0].result()[coming[1]]
        except BrokenProcessPool:
            self._pool = None
            self._coming.clear()
            return make(self.domains[name], split, level, index)


def _travels(domain: Domain) -> bool:
    """Whether a worker process can be given the domain; what the running script defines stays here."""
    try:
        sent = pickle.dumps(domain)
        pickle.loads(sent)  # noqa: S301 - our own object, in our own process
    except Exception:
        return False
    return b"__main__" not in sent


def _end(pool: ProcessPoolExecutor) -> None:
    """Stop an executor without waiting for what its workers are at; they hold nothing to lose."""
    workers = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for worker in workers:
        worker.terminate()
