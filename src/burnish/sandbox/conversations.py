"""The supervisor's side of sessions: one jail each, pieces of code in, what they printed out.

A session has the limits of a case for each piece, and totals over its life. It ends when a piece breaks a
limit, when a total is used up, or when its owner closes it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from burnish.sandbox import task as tasks
from burnish.sandbox import wire
from burnish.sandbox.clocks import Clocks
from burnish.sandbox.hatchery import Jail
from burnish.sandbox.outlet import Outlet
from burnish.sandbox.records import State
from burnish.sandbox.streams import Streams
from burnish.sandbox.task import Task

_STATES = {"done": State.OK, "error": State.RUNTIME_ERROR, "exit": State.EXITED_EARLY}


class Conversations:
    """Open sessions by number."""

    def __init__(self, outlet: Outlet, streams: Streams, clocks: Clocks, tier: int):
        self.jails: dict[int, Jail] = {}
        self._outlet = outlet
        self._streams = streams
        self._clocks = clocks
        self._tier = tier

    def __len__(self) -> int:
        return len(self.jails)

    def open(self, jail: Jail) -> None:
        """A jail becomes a session's."""
        self.jails[jail.task.number] = jail
        jail.deadline = 0.0
        jail.session_base = self._clocks.used(jail) or 0.0
        jail.lifetime_end = time.monotonic() + jail.task.limits["total_wall_seconds"]
        self._outlet.say({"id": jail.task.number, "opened": True})

    def timed(self) -> Iterable[Jail]:
        """Jails that work on a piece."""
        return [jail for jail in self.jails.values() if jail.deadline]

    def next_end(self) -> float:
        """When the first session has lived its time; infinity without one."""
        return min((jail.lifetime_end for jail in self.jails.values()), default=float("inf"))

    def expired(self) -> Iterator[Jail]:
        """Sessions that have lived their time."""
        now = time.monotonic()
        return (jail for jail in self.jails.values() if now >= jail.lifetime_end and not jail.killed)

    def close(self, number: int) -> None:
        """End a session that its owner needs no more."""
        jail = self.jails.get(number)
        if jail:
            jail.kill("closed")

    def execute(self, header: dict[str, Any], blob: bytes) -> None:
        """Give a session its next piece; the caller sends one at a time."""
        jail = self.jails.get(header["session"])
        if jail is None or jail.killed:
            self._outlet.say({"id": header["id"], "gone": True})
            return
        jail.waiting = header["id"]
        for data in jail.outputs.values():
            data.clear()
        jail.started = time.monotonic()
        jail.cpu_base = self._clocks.used(jail) or 0.0
        self._clocks.start(jail, _limits_of_piece(jail))
        jail.unsent = memoryview(wire.pack({}, blob))
        self._streams.push(jail)

    def answer(self, jail: Jail, header: dict[str, Any]) -> None:
        """A piece has ended; a session that says so unasked is broken."""
        kind = header.get("kind")
        if jail.waiting is None or not isinstance(kind, str) or kind not in _STATES:
            raise wire.FrameError("an answer nobody asked for")
        self._streams.drain_output(jail)
        if jail.killed:
            return
        used = (self._clocks.used(jail) or 0.0) - jail.cpu_base
        facts = tasks.facts_of(0, used, time.monotonic() - jail.started, 0)
        self._reply(jail, _STATES[kind], facts)

    def end(self, jail: Jail, ended: dict[str, Any] | None, out_of_memory: bool) -> None:
        """A session's process is gone: an open piece gets the reason."""
        self.jails.pop(jail.task.number, None)
        if jail.waiting is None:
            return
        status = ended["status"] if ended else 9
        limits = jail.task.limits
        used = (ended["cpu"] if ended else 0.0) - jail.cpu_base
        ending = tasks.Ending(True, status, jail.killed, "", b"", used, limits["cpu_seconds"], out_of_memory)
        facts = tasks.facts_of(status, used, time.monotonic() - jail.started, ended["peak"] if ended else 0)
        self._reply(jail, tasks.classify(ending), facts)

    def _reply(self, jail: Jail, state: State, facts: dict[str, Any]) -> None:
        """Send the result of a piece."""
        task: Task = jail.task
        outputs = [bytes(data[: task.limits["output_bytes"]]) for data in jail.outputs.values()]
        task.results.clear()
        task.add(state, (outputs[0], outputs[1], b""), **facts)
        head, blob = task.results.pop()
        number, jail.waiting, jail.deadline = jail.waiting, None, 0.0
        header = {"id": number, "cases": [head], "sizes": [len(blob)], "tier": self._tier}
        self._outlet.send(wire.pack(header | {"detail": ""}, blob))


def _limits_of_piece(jail: Jail) -> dict[str, Any]:
    """Limits of a case, or what is left of the totals when that is less."""
    limits = jail.task.limits
    left_cpu = limits["total_cpu_seconds"] - (jail.cpu_base - jail.session_base)
    left_wall = jail.lifetime_end - time.monotonic()
    jail.cpu_allowed = max(0.0, min(limits["cpu_seconds"], left_cpu))
    return limits | {
        "cpu_seconds": jail.cpu_allowed,
        "wall_seconds": max(0.0, min(limits["wall_seconds"], left_wall)),
    }
