"""One rollout worker: a process with an engine of its own that answers one order after another.

Orders arrive on a pipe and each gets exactly one answer. A worker keeps no state but its weights, so it can
be killed at any moment; it ends by itself when the trainer is gone.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection

from burnish.errors import BurnishError
from burnish.rollout.channel import Weights
from burnish.rollout.engine import Drawn, Engine, Unit
from burnish.rollout.held import Held, Probe, held_by

_WATCH_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker needs to begin; travels to its process once."""

    build: Callable[[], Engine]
    """Makes the engine; a function of a module, possibly with its arguments bound."""
    threads: int
    """Arithmetic threads of the process."""
    probes: tuple[Probe, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """Order: take over these weights and tell what is held then. Answer: `Held`."""

    weights: Weights


@dataclass(frozen=True, slots=True)
class Work:
    """Order: draw this unit. Answer: `Drawn`."""

    unit: Unit
    attempt: int


@dataclass(frozen=True, slots=True)
class Ready:
    """Answer to being started: the engine stands."""


@dataclass(frozen=True, slots=True)
class Broken:
    """Answer in place of any other: this went wrong, and would go wrong again."""

    what: str
    error: BurnishError | None
    """The error, where it was raised on purpose."""


Order = Load | Work
Answer = Ready | Held | Drawn | Broken


def serve(connection: Connection, setup: Setup, parent: int) -> None:
    """Run until the connection closes: the main function of the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the trainer's to handle; it ends the workers
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    import torch  # noqa: PLC0415 - after the watch, since it takes a while

    torch.set_num_threads(setup.threads)
    try:
        engine = setup.build()
    except Exception as error:
        connection.send(_broken(error))
        return
    connection.send(Ready())
    while True:
        try:
            order: Order = connection.recv()
        except EOFError:
            return
        connection.send(_answer(engine, setup, order))


def _answer(engine: Engine, setup: Setup, order: Order) -> Answer:
    try:
        if isinstance(order, Load):
            engine.load(order.weights.read(), order.weights.version)
            return held_by(engine, setup.probes)
        samples = engine.generate(order.unit.requests)
        return Drawn(order.unit.key, order.attempt, tuple(samples))
    except Exception as error:
        return _broken(error)


def _broken(error: Exception) -> Broken:
    own = error if isinstance(error, BurnishError) else None
    return Broken(f"{type(error).__name__}: {error}", own)


def _end_with(parent: int) -> None:
    """End the process when its trainer has ended, even in the middle of a unit."""
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)
