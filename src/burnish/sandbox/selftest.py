"""A few attempts to break out, to be run on the machine that will do the work."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.sandbox.client import Sandbox
from burnish.sandbox.records import Call, Case, Limits, Policy, RunRequest, State

_LIMITS = Limits(cpu_seconds=2.0, wall_seconds=8.0, memory_bytes=128 << 20)
_FAILS = "try:\n    {line}\n    print('done')\nexcept Exception as e: print('failed')"


@dataclass(frozen=True, slots=True)
class Check:
    """One attempt, and whether the wall held."""

    name: str
    held: bool
    found: str


_MUST_FAIL = {
    "read /etc/passwd": "open('/etc/passwd')",
    "read the home of root": "__import__('os').listdir('/root/.ssh')",
    "write to /usr": "open('/usr/x', 'w')",
    "open a network socket": "__import__('socket').socket()",
    "open a unix socket": "__import__('socket').socket(1)",
    "fork": "__import__('os').fork()",
    "start a program": "__import__('subprocess').run(['/bin/true'])",
    "make a device node": "__import__('os').mknod('x', 0o020666, 259)",
    "become root": "__import__('os').setuid(0)",
    "look at process 1": "open('/proc/1/environ')",
    "make a user namespace": (
        "c = __import__('ctypes').CDLL(None); r = c.unshare(0x10000000); assert r == 0"
    ),
    "fill the scratch": "open('x', 'wb').write(bytes(64 << 20))",
}
_MUST_END = {
    "endless loop": ("while True: pass", State.CPU_TIMEOUT),
    "endless sleep": ("import time; time.sleep(60)", State.WALL_TIMEOUT),
    "all memory": ("x = bytearray(1 << 40)", State.MEMORY_LIMIT),
    "endless output": ("while True: print('x' * 1000)", State.OUTPUT_LIMIT),
    "a crash": ("import ctypes; ctypes.string_at(0)", State.SIGNAL),
}
_MUST_NOT_ANSWER = {
    "exit 0 before the answer": ("import os\ndef f(): os._exit(0)", State.EXITED_EARLY),
    "an object that equals everything": (
        "class A:\n    def __eq__(self, o): return True\ndef f(): return A()",
        State.BAD_TYPE,
    ),
}


def run_selftest(policy: Policy | None = None) -> list[Check]:
    """Try everything on the list; SandboxError when the sandbox cannot be started at all."""
    with Sandbox(policy or Policy(workers=1)) as box:
        return [*_failures(box), *_endings(box), *_answers(box), *_honest(box)]


def _failures(box: Sandbox) -> list[Check]:
    checks = []
    for name, line in _MUST_FAIL.items():
        case = box.run(RunRequest(_FAILS.format(line=line), limits=_LIMITS)).cases[0]
        found = case.stdout.decode(errors="replace").strip() or case.state
        checks.append(Check(f"cannot {name}", found == "failed", found))
    return checks


def _endings(box: Sandbox) -> list[Check]:
    limits = Limits(cpu_seconds=0.3, wall_seconds=1.0, memory_bytes=128 << 20)
    checks = []
    for name, (code, expected) in _MUST_END.items():
        state = box.run(RunRequest(code, limits=limits)).state
        checks.append(Check(f"{name} ends as {expected}", state is expected, state))
    return checks


def _answers(box: Sandbox) -> list[Check]:
    checks = []
    for name, (code, expected) in _MUST_NOT_ANSWER.items():
        state = box.run(RunRequest(code, cases=(Case(call=Call("f")),), limits=_LIMITS)).state
        checks.append(Check(f"{name} is {expected}", state is expected, state))
    return checks


def _honest(box: Sandbox) -> list[Check]:
    code = "import sys, asyncio\nasync def f(): return 7\nprint(asyncio.run(f()), sys.stdin.read())"
    case = box.run(RunRequest(code, cases=(Case(b"\xc3\xa9"),), limits=_LIMITS)).cases[0]
    value = box.run(RunRequest("def f(x): return [x, (1.5,)]", cases=(Case(call=Call("f", ({2},))),))).cases[
        0
    ]
    return [
        Check("an honest program passes", case.stdout == b"7 \xc3\xa9\n", repr(case.stdout)),
        Check("an honest answer passes", value.value == [{2}, (1.5,)], repr(value.value)),
    ]
