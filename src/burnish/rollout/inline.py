"""Drawing in the training process: the interface of a pool of workers, but each unit is drawn at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Protocol

import torch
from torch import Tensor

from burnish.records import WeightVersion
from burnish.rollout.engine import Drawn, Engine, Unit
from burnish.rollout.held import Held, Probe, held_by
from burnish.spans import span


class Rollouts(Protocol):
    """Who draws units: this process, or workers."""

    def sync(self, weights: Mapping[str, Tensor], version: WeightVersion) -> None:
        """Hand over new weights; units of that version may be submitted afterwards."""
        ...

    def submit(self, unit: Unit) -> Future[Drawn]:
        """Have a unit drawn."""
        ...

    def close(self) -> None:
        """Give up what is under way and free what is held."""
        ...


class InlineRollouts:
    """One engine, used by whoever submits."""

    def __init__(
        self,
        engine: Engine,
        verify: Callable[[Held, WeightVersion], None],
        probes: Sequence[Probe] = (),
        threads: int = 0,
    ):
        """Wrap an engine.

        Args:
            engine: stays usable for others.
            verify: raises BurnishError when what the engine holds is not what it was given.
            probes: scored after every sync.
            threads: arithmetic threads while drawing; 0 leaves them as they are.
        """
        self._engine = engine
        self._verify = verify
        self._probes = probes
        self._threads = threads

    def sync(self, weights: Mapping[str, Tensor], version: WeightVersion) -> None:
        """Load weights and prove that they have arrived.

        Raises:
            BurnishError: they have not.
        """
        self._engine.load(weights, version)
        self._verify(held_by(self._engine, self._probes), version)

    def submit(self, unit: Unit) -> Future[Drawn]:
        """Draw now; the future is done."""
        if unit.version != self._engine.version:
            raise ValueError(f"unit {unit.key} wants version {unit.version}, not {self._engine.version}")
        done: Future[Drawn] = Future()
        with span("rollout"), arithmetic_threads(self._threads):
            done.set_result(Drawn(unit.key, 1, tuple(self._engine.generate(unit.requests))))
        return done

    def close(self) -> None:
        """Nothing is held."""


@contextmanager
def arithmetic_threads(count: int) -> Iterator[None]:
    """Torch's threads for a moment; 0 leaves them as they are."""
    before = torch.get_num_threads()
    if count and count != before:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        if torch.get_num_threads() != before:
            torch.set_num_threads(before)
