"""Attacks on resources: each has a cap, a state of its own, and no effect on the neighbours."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from attacks.lab import Lab, attack
from burnish.sandbox import Call, Case, Policy, QueueFull, RunRequest, Sandbox, State


@attack(71, "allocating all memory")
def _(lab: Lab) -> None:
    hungry = "x = []\nwhile True: x.append(bytearray(10 << 20))"
    with ThreadPoolExecutor(2) as pool:
        greedy = pool.submit(lab.program, hungry, memory_bytes=128 << 20)
        neighbours = [lab.program("print(sum(range(1000)))").state for _ in range(5)]
        assert greedy.result().state is State.MEMORY_LIMIT
    assert neighbours == [State.OK] * 5
    assert lab.call("def f(): return len(bytearray(1 << 40))").state is State.MEMORY_LIMIT
    assert lab.program("import numpy; numpy.ones(1 << 30)").state is State.MEMORY_LIMIT
    honest = lab.program("x = bytearray(150 << 20); print(len(x))", memory_bytes=256 << 20)
    assert honest.state is State.OK


@attack(72, "many processes, each under its own limit")
def _(lab: Lab) -> None:
    code = """
import os, time
r, w = os.pipe()
for _ in range(4):
    if os.fork() == 0:
        n = 0
        x = []
        try:
            while True: x.append(b"x" * (1 << 20)); n += 1
        except MemoryError: x.pop(); os.write(w, b"%4d" % n)
        time.sleep(60)
time.sleep(1.5)
os.set_blocking(r, False)
print(sum(map(int, os.read(r, 100).decode().split())))
"""
    result = lab.program(code, processes=4, memory_bytes=100 << 20)
    if result.state is State.OK:
        assert int(result.stdout) <= 110
    else:
        assert result.state is State.MEMORY_LIMIT
    lab.alive()


@attack(73, "memory outside the address space: memfd, tmpfs, SysV, pipes")
def _(lab: Lab) -> None:
    assert lab.errno("os.memfd_create('x')") == "EPERM"
    assert lab.errno("kernel(29, 0, 1 << 20, 0o1600)") == "EPERM"
    assert lab.errno("kernel(68, 0, 0o1600)") == "EPERM"
    assert lab.errno("mmap.mmap(-1, 1 << 30)", memory_bytes=64 << 20) == "ENOMEM"
    code = "import os\nn = 0\ntry:\n    while True: os.pipe(); n += 1\nexcept OSError as e: print(e.errno, n)"
    errno, count = lab.says(code).split()
    assert errno == "24"
    assert int(count) < 32


@attack(74, "locked memory, huge pages")
def _(lab: Lab) -> None:
    assert lab.errno("kernel(149, id(0), 1 << 20)") in ("EPERM", "ENOMEM")
    assert lab.errno("mmap.mmap(-1, 2 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000)") in (
        "ENOMEM",
        "EPERM",
        "EINVAL",
        "done",
    )


@attack(75, "spinning: processor time decides, not the wall clock")
def _(lab: Lab) -> None:
    spin = lab.program("while True: pass", cpu_seconds=0.3)
    assert spin.state is State.CPU_TIMEOUT
    assert 0.25 < spin.cpu_seconds < 1.5
    threads = (
        "import threading\nfor _ in range(4): threading.Thread(target=lambda: sum(iter(int, 1))).start()"
    )
    assert lab.program(threads, cpu_seconds=0.3).state is State.CPU_TIMEOUT
    forks = "import os\nos.fork(); os.fork()\nwhile True: pass"
    assert lab.program(forks, cpu_seconds=0.3, wall_seconds=2, processes=4).state is not State.OK


@attack(76, "a flood of output")
def _(lab: Lab) -> None:
    before = memory(lab)
    for stream in ("stdout", "stderr"):
        code = f"import sys\nwhile True: sys.{stream}.write('x' * 100000)"
        result = lab.program(code)
        assert result.state is State.OUTPUT_LIMIT
        assert len(result.stdout + result.stderr) == 1 << 20
    assert memory(lab) - before < 30 << 20


def memory(lab: Lab) -> int:
    import psutil

    return psutil.Process(lab.box.stats()["pid"]).memory_info().rss


@attack(77, "one endless line, bytes that are no text")
def _(lab: Lab) -> None:
    assert lab.program("print('x' * (1 << 26))").state is State.OUTPUT_LIMIT
    raw = lab.program("import os; os.write(1, bytes(range(256)))")
    assert (raw.state, raw.stdout) == (State.OK, bytes(range(256)))


@attack(78, "leaving while output is still unread")
def _(lab: Lab) -> None:
    for size in (1 << 16, 150_000, 1 << 20):
        result = lab.program(f"import os\nprint('x' * {size - 1}, flush=True)\nos._exit(0)")
        assert (result.state, len(result.stdout)) == (State.OK, size)


@attack(79, "numbers, patterns and archives that take for ever")
def _(lab: Lab) -> None:
    for line in (
        "10 ** 10 ** 8", "__import__('re').match('(a+)+$', 'a' * 40 + 'b')",
        "__import__('zlib').decompress(__import__('zlib').compress(bytes(1 << 29)))",
    ):  # fmt: skip
        result = lab.program(line, cpu_seconds=0.5, memory_bytes=64 << 20)
        assert result.state in (State.CPU_TIMEOUT, State.MEMORY_LIMIT), line
    assert lab.program("int('9' * 10 ** 7)").state is State.RUNTIME_ERROR


@attack(80, "descriptors, watches, timers, keyrings, queues")
def _(lab: Lab) -> None:
    code = """
import os
n = 0
try:
    while True: os.open('/dev/null', 0); n += 1
except OSError as e: print(e.errno, n)
"""
    assert lab.says(code).split()[0] == "24"
    for call in (
        "kernel(250, 0, -3, 0)",
        "kernel(248, 0, 0, 0, 0, 0)",
        "kernel(294, 0)",
        "kernel(253)",
        "kernel(240, 0, 0)",
    ):
        assert lab.errno(call) == "EPERM", call
    timers = """
import ctypes
l = ctypes.CDLL(None)
t = ctypes.c_void_p()
n = 0
while n < 10000 and l.timer_create(1, None, ctypes.byref(t)) == 0: n += 1
print(n)
"""
    assert int(lab.says(timers)) <= 64


@attack(81, "starving the queue")
def _(lab: Lab) -> None:
    with Sandbox(Policy(workers=1, queue=40, per_caller=20)) as box:
        slow = RunRequest("import time; time.sleep(0.05)", caller="greedy", limits=lab.quick())
        futures = [box.submit(slow) for _ in range(20)]
        try:
            box.submit(slow)
            raise AssertionError("the queue has no bound")
        except QueueFull as error:
            assert "greedy" in str(error)
        began = time.monotonic()
        assert box.run(RunRequest("print(1)", caller="modest", limits=lab.quick())).state is State.OK
        assert time.monotonic() - began < 1.0
        assert all(future.result().state is State.OK for future in futures)


@attack(82, "sources that are hard to compile")
def _(lab: Lab) -> None:
    for code in (
        "(" * 10**5 + ")" * 10**5,
        "-" * 10**6 + "1",
        "x = [" + "[]," * 10**6 + "]",
        "1 if 1 else " * 10**4 + "1",
    ):
        result = lab.program(code, cpu_seconds=1.0, memory_bytes=128 << 20)
        assert result.state is not State.INFRA_ERROR
    nested = "eval('(' * 10**6)"
    assert lab.program(nested, cpu_seconds=1.0).state is not State.OK
    many = lab.run("x = 1 +", *[Case(call=Call("f"))] * 3)
    assert [case.state for case in many.cases] == [State.RUNTIME_ERROR] * 3
    lab.alive()
