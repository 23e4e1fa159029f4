"""Whatever a completion is, it is scored: no program may choose to be a fault, which would not count."""

import pytest

from burnish.domains.code.engine import close_engines
from burnish.domains.code.grading import grade_program
from burnish.domains.settings import CodeSettings
from burnish.records import Scored
from burnish.sandbox.judging.asserts import read_asserts, read_pytest
from burnish.sandbox.judging.checks import ProgramCheck, Suite

SETTINGS = CodeSettings(reward="pass_ratio", cpu_seconds=0.5)
SUITES = {
    "calls": read_asserts(["assert f(2) == 4", "assert f(3) == 9"]),
    "tests": read_asserts(
        ["x = f(2)\nassert x == 4 and f(x) == 16", "assert sorted([f(1), f(2)]) == [1, 4]"]
    ),
    "pytest": read_pytest("from solution import f\ndef test_one(): assert f(f(2)) == 16"),
    "programs": Suite(programs=(ProgramCheck("one", b"2\n", b"4\n"), ProgramCheck("two", b"3\n", b"9\n"))),
}
PROGRAMS = {
    "empty": "",
    "nul": "def f(x):\0 return x * x",
    "lone surrogate": "def f(x): return '\ud800'",
    "too long": "def f(x): return 5\n" + "#" * (5 << 20),
    "no python": "def f(:",
    "deep source": "(" * 100_000 + ")" * 100_000,
    "deep expression": "def f(x): return " + "-" * 50_000 + "x",
    "exit": "import sys\nsys.exit(0)",
    "hard exit": "import os\ndef f(x): os._exit(0)",
    "signal": "import os\ndef f(x): os.kill(os.getpid(), 9)",
    "every signal": "import os\ndef f(x): [os.kill(0, n) for n in range(1, 65)]",
    "fork": "import os\ndef f(x):\n    while True: os.fork()",
    "output": "def f(x):\n    while True: print('x' * 1000)",
    "huge int": "def f(x): return 10 ** 10_000_000",
    "int as text": "import sys\nsys.set_int_max_str_digits(0)\ndef f(x): return int('9' * 4000)",
    "recursion": "def f(x): return f(x)",
    "no limit of recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef f(x): return f(x)",
    "nan": "def f(x): return float('nan')",
    "equals everything": "class A(int):\n    __eq__ = lambda s, o: True\n    __hash__ = int.__hash__\ndef f(x): return A(7)",  # noqa: E501
    "contains itself": "def f(x):\n    a = []; a.append(a); return a",
    "deep": "def f(x):\n    a = []\n    for _ in range(5000): a = [a]\n    return a",
    "wide": "def f(x): return list(range(3_000_000))",
    "collisions": "def f(x): return {n * (2**61 - 1) for n in range(50_000)}",
    "restless sets": "def f(x): return {89, 66, 165, 108, 77, 17, 18, 56, 25, 158}",
    "patched": "import builtins\nbuiltins.AssertionError = Exception\nbuiltins.len = lambda *a: 0\ndef f(x): return 0",  # noqa: E501
    "odd exception": "class E(Exception):\n    __str__ = lambda s: 1 / 0\nE.__name__ = 'a' * 5000\ndef f(x): raise E",  # noqa: E501
    "named exception": "E = type('burnish\\x01', (ValueError,), {})\ndef f(x): raise E('\\ud800')",
    "keyboard": "def f(x): raise KeyboardInterrupt",
    "generator exit": "def f(x): raise GeneratorExit",
    "closes everything": "import os\ndef f(x): os.closerange(0, 64)",
    "protocol": "import os\ndef f(x): os.write(3, b'x' * 1000)",
    "replaced": "def f(x): return 0\nimport sys\nsys.modules['copy'] = None",
    "memory": "def f(x): return bytearray(1 << 40)",
    "loading": "while True: pass",
    "threads": "import threading, time\n[threading.Thread(target=time.sleep, args=(1,)).start() for _ in range(20)]\ndef f(x): return 1",  # noqa: E501
}


@pytest.fixture(scope="module", autouse=True)
def _closed():
    yield
    close_engines()


@pytest.mark.parametrize("kind", SUITES)
def test_every_program_is_scored_and_none_of_these_passes(kind):
    for name, code in PROGRAMS.items():
        verdict = grade_program(code, SUITES[kind], SETTINGS, "code/test")
        assert isinstance(verdict, Scored), (name, verdict)
        assert not verdict.passed, name
        assert verdict.value == 0.0, (name, verdict)


@pytest.mark.parametrize("kind", ["calls", "tests", "pytest"])
def test_an_honest_program_passes(kind):
    verdict = grade_program("def f(x): return x * x", SUITES[kind], SETTINGS, "code/test")
    assert isinstance(verdict, Scored) and verdict.passed and verdict.value == 1.0
