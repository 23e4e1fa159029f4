"""What every engine must do, as a table: answers, states, walls; the same programs for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from burnish.sandbox.judging.checks import Engine
from burnish.sandbox.records import Call, Case, CaseResult, Limits, RunRequest, State

SMALL = Limits(cpu_seconds=1.0, wall_seconds=4.0, memory_bytes=96 << 20, output_bytes=1 << 16)


@dataclass(frozen=True, slots=True)
class Trial:
    """A program, and what must be true of its results."""

    name: str
    code: str
    holds: Callable[[tuple[CaseResult, ...]], bool]
    cases: tuple[Case, ...] = (Case(),)
    limits: Limits = field(default_factory=lambda: SMALL)


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of a trial."""

    name: str
    held: bool
    seen: str = ""


def _states(*states: State) -> Callable[[tuple[CaseResult, ...]], bool]:
    return lambda cases: len(cases) > 0 and all(case.state in states for case in cases)


def _prints(text: str) -> Callable[[tuple[CaseResult, ...]], bool]:
    wanted = text.encode()
    return lambda cases: all(case.state is State.OK and case.stdout == wanted for case in cases)


def _values(*values: object) -> Callable[[tuple[CaseResult, ...]], bool]:
    return lambda cases: [(case.state, case.value) for case in cases] == [(State.OK, v) for v in values]


def _calls(*args: object) -> tuple[Case, ...]:
    return tuple(Case(call=Call("f", (arg,))) for arg in args)  # pyright: ignore[reportArgumentType]


def _refused(action: str) -> str:
    """A program that prints `refused` when an action raises OSError, and what came of it when not."""
    return f"import os, socket\ntry:\n    print({action})\nexcept OSError:\n    print('refused')"


_REFUSED = _prints("refused\n")
_NOTHING_LEFT = "import os\nprint(os.listdir('.'))\nopen('left', 'w').write('x')"
_FILL = """
try:
    with open('fill', 'wb') as file:
        for _ in range(64): file.write(bytes(1 << 20))
except OSError: print('refused')
else: print('filled')
"""
_PLAIN = [None, True, 1, 10**40, 1.5, "é", b"\x00", (1, [2]), {"a": {1, 2}}, 1 + 2j]

_AFRESH = "seen = []\ndef f(x):\n    seen.append(x)\n    return len(seen)"
_LIBRARY = "import math, json, re, random\nprint(math.comb(10, 5))"
_UNSHARE = "import ctypes\nprint(ctypes.CDLL(None).unshare(0x10000000))"
_SOCKET = "socket.socket(socket.AF_INET, socket.SOCK_STREAM)"
_FLOOD = "while True: print('x' * 10_000)"
_WAIT = Limits(cpu_seconds=1.0, wall_seconds=1.0)

TRIALS: tuple[Trial, ...] = (
    Trial("a program prints", "print(input() + '!')", _prints("hi!\n"), (Case(b"hi\n"),)),
    Trial("a call gives plain data", "def f(x): return x", _values(*_PLAIN), _calls(*_PLAIN)),
    Trial("each case begins afresh", _AFRESH, _values(1, 1, 1), _calls(1, 2, 3)),
    Trial("cases leave no files", _NOTHING_LEFT, _prints("[]\n"), (Case(), Case(), Case())),
    Trial("the library is there", _LIBRARY, _prints("252\n")),
    Trial("big output arrives whole", "print('x' * 60_000)", _prints("x" * 60_000 + "\n")),
    Trial("an exception", "1 / 0", _states(State.RUNTIME_ERROR)),
    Trial("a syntax error", "def f(:", _states(State.RUNTIME_ERROR), _calls(1)),
    Trial("an early exit", "import os\ndef f(x): os._exit(0)", _states(State.EXITED_EARLY), _calls(1, 2)),
    Trial("an object is no answer", "def f(x): return object()", _states(State.BAD_TYPE), _calls(1)),
    Trial("an endless loop", "while True: pass", _states(State.CPU_TIMEOUT)),
    Trial("an endless sleep", "import time\ntime.sleep(60)", _states(State.WALL_TIMEOUT), limits=_WAIT),
    Trial("too much memory", "x = bytearray(1 << 30)", _states(State.MEMORY_LIMIT)),
    Trial("a flood of output", _FLOOD, _states(State.OUTPUT_LIMIT, State.CPU_TIMEOUT)),
    Trial("a crash", "import ctypes\nctypes.string_at(0)", _states(State.SIGNAL)),
    Trial("no fork", _refused("os.fork()"), _REFUSED),
    Trial("no network", _refused(_SOCKET), _REFUSED),
    Trial("no accounts of the host", _refused("open('/etc/passwd').read()"), _REFUSED),
    Trial("no files of the host", _refused("os.listdir('/var/log')"), _REFUSED),
    Trial("nothing is written outside the scratch", _refused("open('/usr/x', 'w')"), _REFUSED),
    Trial("no other process", _refused("open('/proc/1/environ').read()"), _REFUSED),
    Trial("no environment of the host", "import os\nprint(len(os.environ) < 12)", _prints("True\n")),
    Trial("no new namespaces", _UNSHARE, _prints("-1\n")),
    Trial("the scratch has a size", _FILL, _REFUSED),
)


def conformance(engine: Engine, trials: Iterable[Trial] = TRIALS) -> list[Finding]:
    """Every trial on an engine."""
    return [_try(engine, trial) for trial in trials]


def _try(engine: Engine, trial: Trial) -> Finding:
    result = engine.run(RunRequest(trial.code, cases=trial.cases, limits=trial.limits))
    held = trial.holds(result.cases)
    seen = "" if held else "; ".join(_seen(case) for case in result.cases) + f" {result.detail}"
    return Finding(trial.name, held, seen.strip())


def _seen(case: CaseResult) -> str:
    return f"{case.state} {case.value!r:.60} {case.stdout[:60]!r} {case.stderr[-120:]!r}"
