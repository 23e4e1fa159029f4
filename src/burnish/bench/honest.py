"""Honest programs with the output each must give: what too tight a wall, or a busy machine, would break.

The corpus runs with processes beside it that never rest. A false failure is a program that did not end well
or printed something else.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from burnish.sandbox.client import Sandbox
from burnish.sandbox.records import Call, Case, Policy, RunRequest, State

_BATCH = 200


@dataclass(frozen=True, slots=True)
class Honest:
    """A program, its input, and what it must print or give."""

    name: str
    code: str
    expected: object
    case: Case


def _program(name: str, code: str, printed: str, stdin: bytes = b"") -> Honest:
    return Honest(name, code, printed.encode(), Case(stdin))


def _call(name: str, code: str, value: Any, *args: Any) -> Honest:
    return Honest(name, code, value, Case(call=Call("f", args)))


_ASYNCIO = """
import asyncio
async def work(n):
    await asyncio.sleep(0.001)
    return n * n
async def main():
    lock = asyncio.Lock()
    async with lock:
        return sum(await asyncio.gather(*(work(n) for n in range(20))))
print(asyncio.run(main()))
"""
_THREADS = """
import threading, queue
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool: print(sum(pool.map(lambda n: n * n, range(50))))
box = queue.Queue()
thread = threading.Thread(target=lambda: box.put(7)); thread.start(); thread.join(); print(box.get())
"""
_MULTIPROCESSING = """
import multiprocessing
def work(n): return n
try:
    with multiprocessing.Pool(2) as pool: pool.map(work, range(3))
except OSError as error: print("refused", type(error).__name__)
"""
_NUMPY = """
import numpy as np
rng = np.random.default_rng(0)
a = rng.standard_normal((60, 60))
q, r = np.linalg.qr(a)
print(np.allclose(q @ r, a), int(np.arange(1000).sum()), np.fft.fft(np.ones(8)).real[0])
"""
_FILES = """
import json, tempfile, os, sqlite3
with tempfile.TemporaryDirectory() as home:
    with open(os.path.join(home, "a.json"), "w") as file: json.dump({"a": [1, 2]}, file)
    with open(os.path.join(home, "a.json")) as file: print(json.load(file))
base = sqlite3.connect("t.db")
base.execute("create table t(x)"); base.executemany("insert into t values (?)", [(n,) for n in range(9)])
print(base.execute("select sum(x) from t").fetchone()[0])
"""
_CLASSES = """
import dataclasses, enum, functools, heapq, collections, decimal, fractions, datetime, re
@dataclasses.dataclass(order=True)
class P:
    x: int
class E(enum.Enum): A = 1
@functools.lru_cache(None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(min(P(2), P(1)), E(1), fib(80), heapq.nsmallest(2, [3, 1, 2]), decimal.Decimal("0.1") * 3)
print(fractions.Fraction(1, 3) * 3, datetime.date(2024, 2, 29), re.findall("a+", "caabaaa"))
"""
_CLASSES_PRINT = "P(x=1) E.A 23416728348467685 [1, 2] 0.3\n1 2024-02-29 ['aa', 'aaa']\n"
_TIME = "import time\nt = time.monotonic(); time.sleep(0.002); print(time.monotonic() > t)"
_DEEP = "import sys\nsys.setrecursionlimit(20_000)\ndef g(n): return n and 1 + g(n - 1)\nprint(g(9_000))"
_CATCHES = "def g(): return g()\ntry: g()\nexcept RecursionError: print('caught')"
_EXITS = "import atexit, sys\natexit.register(print, 'bye')\nprint('hi')\nsys.exit()"
_BIG_INT = "import sys\nsys.set_int_max_str_digits(0)\nprint(len(str(7 ** 20_000)))"

CORPUS = (
    _program("print", "print(6 * 7)", "42\n"),
    _program("stdin", "import sys\nprint(int(input()) + sum(map(int, sys.stdin)))", "10\n", b"1\r\n2\n3\n4"),
    _program("prompt", "print(input('n? '))", "n? 5\n", b"5"),
    _program("end of input", "try: input()\nexcept EOFError: print('end')", "end\n"),
    _program("unicode", "print('é漢🙂\\u0301', input().upper())", "é漢🙂\u0301 ÄÖ\n", "äö".encode()),
    _program("big output", "print('x' * 1_000_000)", "x" * 1_000_000 + "\n"),
    _program("many lines", "for n in range(20_000): print(n)", "".join(f"{n}\n" for n in range(20_000))),
    _program("big input", "print(len(input()))", "1000000\n", b"y" * 1_000_000),
    _program("asyncio", _ASYNCIO, "2470\n"),
    _program("threads", _THREADS, "40425\n7\n"),
    _program("multiprocessing is refused", _MULTIPROCESSING, "refused BlockingIOError\n"),
    _program("numpy", _NUMPY, "True 499500 8.0\n"),
    _program("files", _FILES, "{'a': [1, 2]}\n36\n"),
    _program("library", _CLASSES, _CLASSES_PRINT),
    _program("deep recursion", _DEEP, "9000\n"),
    _program("endless recursion, caught", _CATCHES, "caught\n"),
    _program("exit handlers", _EXITS, "hi\nbye\n"),
    _program("big integers", _BIG_INT, "16902\n"),
    _program("memory", "x = bytearray(100 << 20); print(len(x) >> 20)", "100\n"),
    _program("time", _TIME, "True\n"),
    _program("seeded", "import random\nrandom.seed(1); print(random.randrange(1000))", "137\n"),
    _call("call", "def f(x): return x * x", 49, 7),
    _call(
        "nested data",
        "def f(x): return {'a': [x, (1.5, None)], 'b': {x}}",
        {"a": [3, (1.5, None)], "b": {3}},
        3,
    ),
    _call("text", "def f(s): return s[::-1]", "🙂é", "é🙂"),
    _call("method", "class f:\n    def __new__(cls, x): return x + 1", 8, 7),
    _call(
        "sorting", "def f(n): return sorted(range(n), key=lambda v: -v)[:3]", [49_999, 49_998, 49_997], 50_000
    ),
)


@contextmanager
def hogs(number: int) -> Iterator[None]:
    """Processes that never rest."""
    found = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for hog in found:
            hog.kill()
            hog.wait()


def run_corpus(runs: int) -> dict[str, Any]:
    """False failures in so many runs of the corpus, eight at a time, beside a process for each core."""
    cores = len(os.sched_getaffinity(0))
    wrong: Counter[str] = Counter()
    began = time.monotonic()
    with hogs(cores), Sandbox(Policy(profile="numpy", workers=8)) as sandbox:
        for start in range(0, runs, _BATCH):
            programs = [CORPUS[n % len(CORPUS)] for n in range(start, min(start + _BATCH, runs))]
            results = sandbox.run_many([RunRequest(p.code, cases=(p.case,)) for p in programs])
            for program, result in zip(programs, results, strict=True):
                case = result.cases[0]
                given = case.value if program.case.call else case.stdout
                if case.state is not State.OK or given != program.expected:
                    wrong[f"{program.name}: {case.state}"] += 1
    return {
        "runs": runs,
        "programs": len(CORPUS),
        "hogs": cores,
        "false_failures": wrong.total(),
        "which": dict(wrong),
        "seconds": time.monotonic() - began,
    }
