"""Where attacks are tried: one sandbox, short ways to run a program in it, the list of attacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from burnish.sandbox import Call, Case, CaseResult, Limits, Policy, RunRequest, RunResult, Sandbox, State

QUICK = Limits(cpu_seconds=2.0, wall_seconds=8.0)


@dataclass(frozen=True)
class Attack:
    """An attack, and the code that tries it and checks the answer it gets."""

    number: int
    title: str
    attempt: Callable[[Lab], None]


ATTACKS: dict[int, Attack] = {}


def attack(number: int, title: str) -> Callable[[Callable[[Lab], None]], Callable[[Lab], None]]:
    """Put a function on the list."""

    def keep(attempt: Callable[[Lab], None]) -> Callable[[Lab], None]:
        assert number not in ATTACKS, number
        ATTACKS[number] = Attack(number, title, attempt)
        return attempt

    return keep


class Lab:
    """A sandbox of tier T2 with numpy warmed."""

    def __init__(self) -> None:
        self.box = Sandbox(Policy(profile="numpy"))

    def quick(self, **limits: float) -> Limits:
        return replace(QUICK, **limits)  # type: ignore[arg-type]

    def run(
        self, code: str, *cases: Case, files: dict[str, bytes] | None = None, **limits: float
    ) -> RunResult:
        request = RunRequest(code, cases=cases or (Case(),), limits=self.quick(**limits), files=files or {})
        return self.box.run(request)

    def program(self, code: str, stdin: bytes = b"", **limits: float) -> CaseResult:
        return self.run(code, Case(stdin), **limits).cases[0]

    def call(self, code: str, *args: object, name: str = "f", **limits: float) -> CaseResult:
        return self.run(code, Case(call=Call(name, args)), **limits).cases[0]

    def says(self, code: str, **limits: float) -> str:
        """What an honest end of a program printed."""
        result = self.program(code, **limits)
        assert result.state is State.OK, (result.state, result.stderr)
        return result.stdout.decode().strip()

    def errno(self, expression: str, **limits: float) -> str:
        """Name of the errno with which an expression fails, or `done`."""
        code = f"""
import os, errno, socket, ctypes, fcntl, mmap
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def kernel(*a):
    if libc.syscall(*[ctypes.c_long(x) for x in a]) < 0:
        raise OSError(ctypes.get_errno(), "")
try:
    {expression}
    print("done")
except OSError as e:
    print(errno.errorcode.get(e.errno, e.errno))
"""
        return self.says(code, **limits)

    def alive(self) -> None:
        """The next run is fine."""
        assert self.says("print(6 * 7)") == "42"
