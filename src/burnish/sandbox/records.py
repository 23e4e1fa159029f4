"""What goes into a sandbox and what comes out: frozen records, states as data, one error.

    SandboxError     the policy cannot be kept here, or a request is wrong; raised before any work
    +-- QueueFull    more requests wait than the policy allows; nothing was lost, ask again later

Whatever a program does is a `State` of its result, never an exception, and never a verdict: expected values
stay with whoever compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any, TypeAlias

from burnish.errors import BurnishError

Many: TypeAlias = list[Any] | tuple[Any, ...] | dict[Any, Any] | set[Any] | frozenset[Any]
Plain: TypeAlias = bool | int | float | complex | str | bytes | Many | None
"""The only values that cross the wall, nested, by exact type: an instance of a subclass does not cross."""


class SandboxError(BurnishError, ValueError):
    """A policy cannot be kept on this machine, or a request is wrong; nothing has run."""


class QueueFull(SandboxError):
    """The queue, or the caller's share of it, is full."""


class State(StrEnum):
    """How one case ended."""

    OK = "ok"
    """A program ran to its end with exit code 0, or a call gave a plain value."""
    RUNTIME_ERROR = "runtime_error"
    """An exception nobody caught, or an exit code that is not 0."""
    EXITED_EARLY = "exited_early"
    """The process ended before the call gave its value."""
    CPU_TIMEOUT = "cpu_timeout"
    WALL_TIMEOUT = "wall_timeout"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    PIDS_LIMIT = "pids_limit"
    SIGNAL = "signal"
    """The process died of a signal that we did not send, such as a segmentation fault."""
    BAD_TYPE = "bad_type"
    """The call returned something that is not plain data, or too much of it."""
    PROTOCOL_ERROR = "protocol_error"
    """What came over the value channel is not a value."""
    INFRA_ERROR = "infra_error"
    """Ours, not the program's: never cached, never a reward."""


class Tier(IntEnum):
    """How strong the wall around a run is."""

    NONE = 0
    """Resource limits only; refused unless `allow_unsafe`."""
    T1 = 1
    """seccomp, Landlock and resource limits, without namespaces."""
    T2 = 2
    """User, pid, mount, net, ipc, uts and cgroup namespaces, seccomp, Landlock, no capabilities."""
    T3 = 3
    """A kernel of its own: gVisor, a virtual machine, another host."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one case may use."""

    cpu_seconds: float = 5.0
    wall_seconds: float = 15.0
    """From the moment the program starts; waiting in the queue does not count."""
    memory_bytes: int = 256 << 20
    """Address space above what the warmed interpreter has."""
    output_bytes: int = 1 << 20
    """Of stdout and stderr, each."""
    processes: int = 0
    """Processes besides the first; 0 makes `fork` fail. Threads are always allowed, at most 32 and these."""
    scratch_bytes: int = 16 << 20
    scratch_inodes: int = 1024
    value_bytes: int = 1 << 20
    """Of a returned value as it crosses the wall."""
    value_depth: int = 64
    int_digits: int = 4300
    compile_seconds: float = 20.0
    """CPU time of the compiler, for languages that have one; it runs once for all cases."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What a sandbox promises; refused when the machine cannot keep it."""

    tier: Tier = Tier.T2
    """The weakest tier that is acceptable."""
    profile: str | tuple[str, ...] = "bare"
    """Warmed packages: `bare`, `numpy`, or import names."""
    workers: int = 2
    """Runs at the same time."""
    queue: int = 1024
    """Requests that may wait."""
    per_caller: int = 1024
    """Requests of one caller that may wait."""
    sessions: int = 64
    """Sessions that may be open; each holds a process."""
    cache_entries: int = 0
    """Results kept in memory; 0 = no cache."""
    audit_fraction: float = 0.0
    """Share of cache hits that are run again and compared."""
    engine: str = "native"
    allow_unsafe: bool = False
    """Accept tier NONE."""


@dataclass(frozen=True, slots=True)
class Call:
    """Call a function that the program defines; the value it returns is the answer."""

    function: str
    """Name in the program's namespace; `Class.method` makes an instance without arguments first."""
    args: tuple[Plain, ...] = ()
    kwargs: Mapping[str, Plain] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Case:
    """One input of a program: text on stdin, or a call."""

    stdin: bytes = b""
    call: Call | None = None


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One program and the inputs to try it on; each case starts from the same fresh state."""

    code: str | bytes
    language: str = "python"
    cases: tuple[Case, ...] = (Case(),)
    limits: Limits = field(default_factory=Limits)
    stop_at_first_failure: bool = False
    files: Mapping[str, bytes] = field(default_factory=dict, hash=False)
    """Files put into the working directory, by relative name."""
    seed: int = 0
    """Seed of `random` (and of `numpy.random` where warmed)."""
    caller: str = ""
    """Who asks; the queue is fair between callers."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What one case gave."""

    state: State
    stdout: bytes = b""
    stderr: bytes = b""
    value: Plain | None = None
    exit_code: int | None = None
    signal: int | None = None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_bytes: int = 0
    """Largest resident size of the process; shares pages with the warmed interpreter."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a request gave: one result a case, in order; fewer when it stopped at the first failure."""

    cases: tuple[CaseResult, ...]
    tier: Tier
    digest: str
    """Of everything that decides the result besides the request: runtime, packages, policy version."""
    cached: bool = False
    detail: str = ""
    """For people: what went wrong, when something did."""
    compilation: CaseResult | None = None
    """How the compiler ended, for languages that have one; when it failed, every case ends as it did."""

    @property
    def state(self) -> State:
        """The first state that is not ok, or ok."""
        return next((case.state for case in self.cases if case.state is not State.OK), State.OK)
