"""A request inside the supervisor: its job as bytes, the cases that are answered, and what is left."""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass, field
from typing import Any

from burnish.sandbox import wire
from burnish.sandbox.hatchery import Jail
from burnish.sandbox.records import State
from burnish.sandbox.states import Ending, classify

STARTED = b"S"
COMPILING = -1
"""Number of the case under which a jail reports how the compiler ended."""
_SLACK = 1 << 16
_KEPT = 1 << 28
"""Bytes that the results of one request may take together; what comes later is over its limit."""


@dataclass(slots=True)
class Task:
    """One request under way."""

    number: int
    caller: str
    mode: str
    cases: int
    stop: bool
    limits: dict[str, Any]
    job: bytes
    """The frame for the jail, passed on unread."""
    whole: bool
    """Cases run in forks of a jail that reports each, even when there is only one."""
    group_bytes: int = 0
    """Memory of all its processes together, for a control group; 0 when it needs none."""
    prelude_seconds: float = 0.0
    """What may come before the first case, such as compiling."""
    compilation: tuple[dict[str, Any], bytes] | None = None
    """How the compiler ended, as a case."""
    results: list[tuple[dict[str, Any], bytes]] = field(default_factory=list)
    kept: int = 0
    """Bytes of its results."""
    attempts: int = 0
    detail: str = ""

    @property
    def first(self) -> int:
        """The next case to run."""
        return len(self.results)

    @property
    def single(self) -> bool:
        """Whether what is left is one case, which then runs in the jail's own process."""
        return not self.whole and self.cases - self.first == 1

    @property
    def done(self) -> bool:
        """Whether nothing is left to run."""
        failed = self.stop and any(head["state"] != State.OK for head, _ in self.results)
        return failed or self.first >= self.cases

    def add(self, state: State, outputs: tuple[bytes, bytes, bytes], **facts: Any) -> None:
        """Record the next case's result."""
        self.kept += sum(map(len, outputs))
        if self.kept > _KEPT:
            state, outputs = (State.OUTPUT_LIMIT if state is State.OK else state), (b"", b"", b"")
        self.results.append(_record(state, outputs, **facts))

    def reply(self, tier: int) -> bytes:
        """The frame for the client."""
        parts = [*self.results, *([self.compilation] if self.compilation else [])]
        heads = [head for head, _ in parts]
        sizes, blob = wire.join(part for _, part in parts)
        header = {"id": self.number, "cases": heads, "sizes": sizes, "tier": tier, "detail": self.detail}
        return wire.pack(header | {"compiled": self.compilation is not None}, blob)


def read_task(header: dict[str, Any], blob: bytes) -> Task:
    """A task from the caller's request."""
    return Task(
        number=header["id"],
        caller=header["caller"],
        mode=header["mode"],
        cases=header["cases"],
        stop=header["stop"],
        limits=header["limits"],
        job=blob,
        whole=header["whole"],
        group_bytes=header["group_bytes"],
        prelude_seconds=header["prelude_seconds"],
    )


def fail_rest(task: Task) -> None:
    """What is left of a task ends as our error."""
    while not task.done:
        task.add(State.INFRA_ERROR, (b"", b"", b""), **facts_of(0, 0.0, 0.0, 0))


def _record(state: State, outputs: tuple[bytes, bytes, bytes], **facts: Any) -> tuple[dict[str, Any], bytes]:
    lengths, blob = wire.join(outputs)
    return {"state": state, "lens": lengths, **facts}, blob


def facts_of(status: int, cpu: float, wall: float, peak: int) -> dict[str, Any]:
    """The measured part of a case's result, from its wait status and the supervisor's clocks."""
    died = os.WIFSIGNALED(status)
    return {
        "exit": None if died else os.WEXITSTATUS(status),
        "signal": os.WTERMSIG(status) if died else None,
        "cpu": max(0.0, cpu),
        "wall": wall,
        "peak": peak,
    }


def read_answer(data: bytes, longest: int) -> tuple[str, bytes, bool]:
    """Kind and value of an answer channel's bytes, and whether they are one frame and nothing else."""
    if not data:
        return "", b"", True
    frames = wire.Frames(longest + _SLACK)
    try:
        found = list(frames.feed(data))
    except wire.FrameError:
        return "", b"", False
    if len(found) != 1 or frames.buffer:
        return "", b"", False
    header, blob = found[0]
    kind = header.get("kind")
    if kind not in ("value", "bad_type", "error", "exit") or (kind != "value" and blob):
        return "", b"", False
    return kind, blob, True


def finish_single(task: Task, jail: Jail, ended: dict[str, Any], out_of_memory: bool) -> None:
    """Record the result of a jail that ran one case."""
    out, err = (bytes(data[: task.limits["output_bytes"]]) for data in jail.outputs.values())
    calls = task.mode == "call"
    kind, value, sound = read_answer(bytes(jail.answer), task.limits["value_bytes"])
    killed = jail.killed or ("" if sound and (calls or not jail.answer) else "protocol")
    cpu = ended["cpu"] - jail.cpu_base
    ending = Ending(calls, ended["status"], killed, kind, err, cpu, task.limits["cpu_seconds"], out_of_memory)
    state = classify(ending)
    wall = time.monotonic() - jail.started
    facts = facts_of(ended["status"], cpu, wall, ended["peak"])
    task.add(state, (out, err, value if state is State.OK else b""), **facts)


def add_reported(task: Task, header: dict[str, Any], blob: bytes) -> None:
    """Record a case that a jail of many reported; FrameError when the report makes no sense."""
    try:
        out, err, answer = wire.split(header["lens"], blob)
        status, cpu, wall, peak = (
            int(header["status"]),
            float(header["cpu"]),
            float(header["wall"]),
            int(header["peak"]),
        )
        killed = str(header["killed"])
        compiling = task.prelude_seconds > 0 and header["case"] == COMPILING
        in_order = compiling or header["case"] == task.first
    except (KeyError, TypeError, ValueError, OverflowError):
        raise wire.FrameError("a report lacks a field") from None
    if not (math.isfinite(cpu) and math.isfinite(wall) and 0 <= peak < 1 << 63 and 0 <= status < 1 << 32):
        raise wire.FrameError("a report of no quantity")
    if not in_order or killed not in ("", "cpu", "wall", "output"):
        raise wire.FrameError("a report out of order")
    limits = task.limits
    kind, value, sound = read_answer(answer, limits["value_bytes"])
    calls = task.mode == "call"
    if not killed and (not sound or (not calls and answer)):
        killed = "protocol"
    cap = limits["output_bytes"]
    ending = Ending(calls, status & 0xFFFF, killed, kind, err[:cap], cpu, limits["cpu_seconds"])
    state = classify(ending)
    facts = facts_of(status & 0xFFFF, cpu, wall, peak)
    outputs = (out[:cap], err[:cap], value if state is State.OK else b"")
    if not compiling:
        task.add(state, outputs, **facts)
        return
    task.compilation = _record(state, outputs, **facts)
    while state is not State.OK and not task.done:
        task.add(state, outputs, **facts)


def finish_early(task: Task, jail: Jail, ended: dict[str, Any], out_of_memory: bool) -> None:
    """Record the case during which a jail of many ended; all that are left when it reported none.

    A jail that ends while it loads the program would do so again for every case.
    """
    loading = task.first == jail.task_first
    out, err = (bytes(data[: task.limits["output_bytes"]]) for data in jail.outputs.values())
    cpu = ended["cpu"] - jail.cpu_base
    ending = Ending(
        task.mode == "call",
        ended["status"],
        jail.killed,
        "",
        err,
        cpu,
        task.limits["cpu_seconds"],
        out_of_memory,
    )
    state = classify(ending)
    if state is State.OK:
        state = State.EXITED_EARLY
    facts = facts_of(ended["status"], cpu, time.monotonic() - jail.started, ended["peak"])
    for _ in range(task.cases - task.first if loading else 1):
        task.add(state, (out, err, b""), **facts)
