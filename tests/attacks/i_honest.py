"""False accusations: honest code passes, whatever the machine is busy with."""

from __future__ import annotations

import asyncio
import multiprocessing
import subprocess
import sys

from attacks.lab import Lab, attack
from burnish.sandbox import Call, Case, CaseResult, RunRequest, State


@attack(96, "a memory limit below what the interpreter has already mapped")
def _(lab: Lab) -> None:
    code = "import numpy\nx = numpy.ones(100_000)\nprint(int(x.sum()))"
    assert lab.says(code, memory_bytes=32 << 20) == "100000"


def _burn(seconds: float) -> None:
    import time

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


@attack(97, "timeouts that come from other people's load")
def _(lab: Lab) -> None:
    hogs = [multiprocessing.get_context("fork").Process(target=_burn, args=(3,)) for _ in range(3)]
    for hog in hogs:
        hog.start()
    try:
        code = """
import time
end = time.process_time() + 0.2
while time.process_time() < end: pass
print('done')
"""
        requests = [RunRequest(code, limits=lab.quick(cpu_seconds=1.0, wall_seconds=10)) for _ in range(6)]
        assert [result.state for result in lab.box.run_many(requests)] == [State.OK] * 6
    finally:
        for hog in hogs:
            hog.kill()
            hog.join()


@attack(98, "our own failures counted as wrong answers")
def _(lab: Lab) -> None:
    import os
    import signal

    future = lab.box.submit(RunRequest("import time; time.sleep(0.5); print('kept')", limits=lab.quick()))
    os.kill(lab.box.stats()["pid"], signal.SIGKILL)
    result = future.result(timeout=30)
    assert (result.state, result.cases[0].stdout) == (State.OK, b"kept\n")
    assert CaseResult(State.INFRA_ERROR).value is None


@attack(99, "one bad sample in a batch")
def _(lab: Lab) -> None:
    codes = ["print(1)", "1/0", "print(1)", "import os; os._exit(3)", "while True: pass", "print(1)"]
    requests = [RunRequest(code, limits=lab.quick(cpu_seconds=0.3)) for code in codes]
    states = [result.state for result in lab.box.run_many(requests)]
    bad = [State.RUNTIME_ERROR, State.RUNTIME_ERROR, State.CPU_TIMEOUT]
    assert states == [State.OK, bad[0], State.OK, bad[1], bad[2], State.OK]
    cases = [Case(call=Call("f", (i,))) for i in range(5)]
    code = """
import os
def f(i):
    if i == 1: os.kill(os.getpid(), 11)
    if i == 3:
        while True: pass
    return i
"""
    results = lab.run(code, *cases, cpu_seconds=0.3).cases
    assert [result.value for result in results] == [0, None, 2, None, 4]
    assert [result.state for result in results][1::2] == [State.SIGNAL, State.CPU_TIMEOUT]
    loop = asyncio.run(lab.box.arun(RunRequest("print(1)", limits=lab.quick())))
    assert loop.state is State.OK


@attack(100, "stdin without newline, CRLF, early end, prompts")
def _(lab: Lab) -> None:
    for code, stdin in (
        ("print(repr(input('? ')))", b"abc"),
        ("import sys; print(repr(sys.stdin.buffer.read()))", b"a\r\nb"),
        ("print([input(), input()])", b"a\r\nb\n"),
        ("import sys; print(list(sys.stdin))", b"a\r\nb\rc"),
    ):
        plain = subprocess.run(
            [sys.executable, "-X", "utf8", "-c", code], input=stdin, capture_output=True, check=True
        )
        assert lab.program(code, stdin).stdout == plain.stdout, code
    early = lab.program("input(); input()", b"one\n")
    assert early.state is State.RUNTIME_ERROR
    assert early.stderr.rstrip().endswith(b"EOFError: EOF when reading a line")
    big = b"x" * (3 << 20)
    assert lab.program("import sys; print(len(sys.stdin.read()))", big).stdout == b"%d\n" % len(big)
    many = lab.run("import sys; print(len(sys.stdin.read()))", Case(big), Case(b""), Case(b"\xc3\xa9"))
    assert [case.stdout for case in many.cases] == [b"%d\n" % len(big), b"0\n", b"1\n"]
    half = lab.program("print('no newline', end='')")
    assert half.stdout == b"no newline"
