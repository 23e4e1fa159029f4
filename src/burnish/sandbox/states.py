"""How a case ended, from what the supervisor saw; pure."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

from burnish.sandbox.records import State

_KILLED = {
    "cpu": State.CPU_TIMEOUT,
    "wall": State.WALL_TIMEOUT,
    "output": State.OUTPUT_LIMIT,
    "memory": State.MEMORY_LIMIT,
    "protocol": State.PROTOCOL_ERROR,
    "infra": State.INFRA_ERROR,
}
_TICKS = 0.1
_TAIL = 4096
_WORDS_OF_TOOLS = (
    (b"std::bad_alloc", State.MEMORY_LIMIT),
    (b"JavaScript heap out of memory", State.MEMORY_LIMIT),
    (b"Array buffer allocation failed", State.MEMORY_LIMIT),
    (b": Cannot allocate memory", State.MEMORY_LIMIT),
    (b": cannot allocate ", State.MEMORY_LIMIT),
    (b": out of memory", State.MEMORY_LIMIT),
    (b"fork: Resource temporarily unavailable", State.PIDS_LIMIT),
)
"""What tools of other languages say near their end."""
_LAST_WORDS = (
    (b"MemoryError", State.MEMORY_LIMIT),
    (b"numpy.core._exceptions._ArrayMemoryError", State.MEMORY_LIMIT),
    (b"numpy._core._exceptions._ArrayMemoryError", State.MEMORY_LIMIT),
    (b"RuntimeError: can't start new thread", State.PIDS_LIMIT),
    (b"BlockingIOError: [Errno 11]", State.PIDS_LIMIT),
)
"""Starts of last lines of tracebacks that name a limit. A program can print them: it chooses how to fail."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known of a case that ended."""

    calls: bool
    """Whether an answer was asked for, rather than a program's output."""
    status: int
    """Wait status."""
    killed: str = ""
    """Which limit made us kill it; empty when it ended by itself."""
    kind: str = ""
    """What its answer frame says: `value`, `bad_type`, `error`, `exit`; empty without one."""
    stderr: bytes = b""
    cpu_seconds: float = 0.0
    cpu_limit: float = 0.0
    out_of_memory: bool = False
    """Its cgroup's memory ran out."""


def classify(ending: Ending) -> State:
    """The state of a case."""
    if ending.killed:
        return _KILLED.get(ending.killed, State.INFRA_ERROR)
    if os.WIFSIGNALED(ending.status):
        return _signalled(ending)
    if ending.calls:
        return _called(ending)
    return State.OK if os.WEXITSTATUS(ending.status) == 0 else _failed(ending)


def _signalled(ending: Ending) -> State:
    number = os.WTERMSIG(ending.status)
    if ending.out_of_memory and number == signal.SIGKILL:
        return State.MEMORY_LIMIT
    # The kernel counts in ticks: its signal at the limit comes up to a few of them before our clock is there.
    early = _TICKS if number == signal.SIGXCPU else 0.0
    timed = number in (signal.SIGKILL, signal.SIGXCPU)
    if timed and ending.cpu_seconds + early >= ending.cpu_limit:
        return State.CPU_TIMEOUT
    return _by_words_of_tools(ending, State.SIGNAL)


def _called(ending: Ending) -> State:
    if ending.kind == "value":
        return State.OK
    if ending.kind == "bad_type":
        return State.BAD_TYPE
    return _failed(ending) if ending.kind == "error" else State.EXITED_EARLY


def _failed(ending: Ending) -> State:
    if ending.out_of_memory:
        return State.MEMORY_LIMIT
    last = ending.stderr.rstrip().rsplit(b"\n", 1)[-1]
    found = next((state for words, state in _LAST_WORDS if last.startswith(words)), None)
    return found or _by_words_of_tools(ending, State.RUNTIME_ERROR)


def _by_words_of_tools(ending: Ending, otherwise: State) -> State:
    tail = ending.stderr[-_TAIL:]
    return next((state for words, state in _WORDS_OF_TOOLS if words in tail), otherwise)
