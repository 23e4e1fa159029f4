"""Attacks on the one who judges: none of them is where the program is, so the program can only answer."""

from __future__ import annotations

from attacks.lab import Lab, attack
from burnish.sandbox import Call, Case, State


def early(lab: Lab, code: str) -> None:
    result = lab.call(code)
    assert result.state is State.EXITED_EARLY, result
    assert result.value is None


@attack(1, "exit before the answer")
def _(lab: Lab) -> None:
    for line in ("import sys; sys.exit(0)", "raise SystemExit", "exit()", "quit(0)"):
        early(lab, f"{line}\ndef f(): return 1")
        early(lab, f"def f():\n    {line}")


@attack(2, "os._exit at import, in the function, in a thread")
def _(lab: Lab) -> None:
    early(lab, "import os; os._exit(0)\ndef f(): return 1")
    early(lab, "import os\ndef f(): os._exit(0)")
    early(
        lab,
        "import os, threading, time\n"
        "def f():\n    threading.Thread(target=lambda: os._exit(0)).start(); time.sleep(5); return 1",
    )


@attack(3, "an exit handler that turns failure into success")
def _(lab: Lab) -> None:
    code = "import atexit, os\natexit.register(lambda: os._exit(0))\ndef f(): raise ValueError"
    assert lab.call(code).state is State.RUNTIME_ERROR
    failing = lab.program("import atexit, os\natexit.register(lambda: os._exit(0))\nraise ValueError")
    assert failing.value is None
    assert failing.stdout == b""


@attack(4, "excepthooks that exit 0")
def _(lab: Lab) -> None:
    hooks = "import sys, os, threading\nsys.excepthook = threading.excepthook = lambda *a: os._exit(0)\n"
    early(lab, f"{hooks}def f(): raise ValueError")
    early(lab, f"{hooks}raise ValueError")


@attack(5, "re-exec with -O, so that asserts vanish")
def _(lab: Lab) -> None:
    code = "import os, sys\ndef f(): os.execv(sys.executable, [sys.executable, '-O', '-c', 'pass'])"
    result = lab.call(code)
    assert result.state in (State.EXITED_EARLY, State.RUNTIME_ERROR)
    assert result.value is None


@attack(6, "an object that equals everything")
def _(lab: Lab) -> None:
    names = ("eq", "ne", "bool", "sub", "abs", "lt", "hash", "float", "iter", "index", "int", "len", "repr")
    methods = "\n".join(f"    def __{name}__(self, *a): return True" for name in names)
    for wrap in ("A()", "[A()]", "{1: A()}", "(1, (A(),))"):
        result = lab.call(f"class A:\n{methods}\ndef f(): return {wrap}")
        assert result.state is State.BAD_TYPE, (wrap, result)
        assert result.value is None


@attack(7, "subclasses of plain types with tricked methods")
def _(lab: Lab) -> None:
    for kind in ("int", "str", "list", "dict", "float", "tuple", "bytes", "set"):
        code = f"class A({kind}):\n    def __eq__(self, o): return True\n    __hash__ = None\n"
        code += "def f(): return A()"
        assert lab.call(code).state is State.BAD_TYPE, kind
    array = "import numpy\nclass A(numpy.ndarray):\n    pass\ndef f(): return numpy.zeros(2).view(A)"
    assert lab.call(array).state is State.BAD_TYPE


@attack(8, "walking frames to the expected value")
def _(lab: Lab) -> None:
    code = """
import sys, inspect
def f(secret):
    found, frame = [], sys._getframe()
    while frame:
        found += [repr(v) for v in {**frame.f_locals, **frame.f_globals}.values()]
        frame = frame.f_back
    return "".join(["EXPEC", "TED"]) in "".join(found)
"""
    assert lab.call(code, 1).value is False


@attack(9, "searching the heap for other answers")
def _(lab: Lab) -> None:
    lab.call("def f(x): return x", "MARK-OF-ANOTHER-RUN-91")
    code = """
import gc
def f():
    word = "".join(["MARK-OF-ANOTHER-", "RUN-91"])
    return any(isinstance(o, (str, tuple, list, dict)) and word in repr(o)[:10000]
               for o in gc.get_objects() if type(o) in (tuple, list, dict) and len(o) < 50)
"""
    assert lab.call(code).value is False


@attack(10, "reading its own source for appended tests")
def _(lab: Lab) -> None:
    code = "import linecache\ndef f(): return [open(__file__).read()]"
    assert lab.call(code).state is State.RUNTIME_ERROR
    assert lab.call("import inspect\ndef f(): return inspect.getsource(f)").state is State.RUNTIME_ERROR


@attack(11, "patching what a checker would use")
def _(lab: Lab) -> None:
    code = """
import builtins, unittest, math
builtins.AssertionError = type("Never", (Exception,), {})
unittest.main = lambda *a, **k: None
math.isclose = lambda *a, **k: True
builtins.print = lambda *a, **k: None
def f(): return 41
"""
    result = lab.call(code)
    assert (result.state, result.value) == (State.OK, 41)


@attack(12, "conftest.py, sitecustomize.py, .pth files")
def _(lab: Lab) -> None:
    names = ("conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.ini", "x.pth")
    code = f"for n in {names}: open(n, 'w').write('raise SystemExit(0)')\nprint(1)"
    assert lab.says(code) == "1"
    assert lab.says("import os; print(os.listdir())") == "[]"


@attack(13, "shadowing modules")
def _(lab: Lab) -> None:
    files = dict.fromkeys(("json.py", "random.py", "ctypes.py", "numpy.py"), b"X = 'shadow'")
    code = "import json, random, numpy, queue\nprint(any(hasattr(m, 'X') for m in (json, random, numpy)))"
    assert lab.run(code, files=files).cases[0].stdout == b"False\n"
    poison = """
import sys, types
sys.modules['json'] = sys.modules['os'] = types.ModuleType('x')
def f(): return 5
"""
    assert lab.call(poison).value == 5
    lab.alive()


@attack(14, "overwriting names that a harness might use")
def _(lab: Lab) -> None:
    code = (
        "run_tests = check = candidate = main = test = report = program = lambda *a: True\ndef f(): return 3"
    )
    assert lab.call(code).value == 3


@attack(15, "skipping the tests")
def _(lab: Lab) -> None:
    early(lab, "import unittest\nclass Skip(SystemExit): pass\ndef f(): raise Skip(0)")
    results = lab.run("def f(x): return x", *[Case(call=Call("f", (i,))) for i in range(4)]).cases
    assert [result.value for result in results] == [0, 1, 2, 3]


@attack(16, "printing a pass marker")
def _(lab: Lab) -> None:
    for text in ("PASSED", "1.0", '{"kind": "value", "passed": true}', "OK"):
        result = lab.call(f"def f():\n    print({text!r})\n    return 0")
        assert (result.value, result.stdout.decode().strip()) == (0, text)


@attack(17, "printing all possible answers")
def _(lab: Lab) -> None:
    result = lab.program("for i in range(10**7): print(i)", output_bytes=10_000)
    assert result.state is State.OUTPUT_LIMIT
    assert len(result.stdout) == 10_000
    assert lab.call("def f(): return list(range(10**6))", value_bytes=10_000).state is State.BAD_TYPE


@attack(18, "answering only public examples")
def _(lab: Lab) -> None:
    code = "def f(x): return {1: 1, 2: 4}.get(x)"
    results = lab.run(code, *[Case(call=Call("f", (i,))) for i in (1, 2, 3)]).cases
    assert [result.value for result in results] == [1, 4, None]


@attack(19, "state kept between cases")
def _(lab: Lab) -> None:
    code = """
import os
seen = []
def f(x):
    seen.append(x)
    files = sorted(os.listdir("."))
    open("seen", "a").write("x"); os.makedirs("d/e", exist_ok=True)
    return len(seen), files
"""
    results = lab.run(code, *[Case(call=Call("f", (i,))) for i in range(3)]).cases
    assert [result.value for result in results] == [(1, [])] * 3
    mutating = "def f(x):\n    x.append(1)\n    return len(x)"
    results = lab.run(mutating, *[Case(call=Call("f", ([],)))] * 3).cases
    assert [result.value for result in results] == [1, 1, 1]


@attack(20, "swallowing the timeout")
def _(lab: Lab) -> None:
    code = """
def f():
    while True:
        try:
            while True: pass
        except BaseException: pass
"""
    assert lab.call(code, cpu_seconds=0.3).state is State.CPU_TIMEOUT


@attack(21, "trace, profile and audit hooks")
def _(lab: Lab) -> None:
    code = """
import sys, faulthandler
names = set()
def hook(frame, event, arg):
    names.update(frame.f_locals)
    return hook
sys.settrace(hook); sys.setprofile(hook); sys.addaudithook(lambda *a: None)
def f(x): return "expected" in names or "gold" in names
"""
    assert lab.call(code, 1).value is False


@attack(22, "import hooks and codecs that rewrite later code")
def _(lab: Lab) -> None:
    code = """
import sys, codecs, builtins
class Finder:
    def find_spec(self, *a): raise SystemExit(0)
sys.meta_path.insert(0, Finder()); builtins.compile = None
codecs.register(lambda name: None)
"""
    assert lab.program(code).state is State.OK
    assert lab.says("import colorsys; print(compile('1', '', 'eval').co_name)") == "<module>"


@attack(23, "overflowing the stack")
def _(lab: Lab) -> None:
    deep = "import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()"
    result = lab.call(deep, memory_bytes=24 << 20)
    assert result.state in (State.MEMORY_LIMIT, State.SIGNAL, State.CPU_TIMEOUT, State.RUNTIME_ERROR)
    crash = lab.program("import ctypes; ctypes.string_at(0)")
    assert (crash.state, crash.signal) == (State.SIGNAL, 11)
    lab.alive()


@attack(24, "telling one sandbox from another")
def _(lab: Lab) -> None:
    code = """
import os, socket
print(socket.gethostname(), os.getuid(), os.getpid(), os.getcwd(), dict(os.environ))
"""
    first, second = lab.says(code), lab.says(code)
    assert first == second
    assert first.startswith("sandbox 1000 1 /home/box")


@attack(25, "waiting for the timeout on purpose")
def _(lab: Lab) -> None:
    result = lab.call("import time\ndef f(): time.sleep(60)", wall_seconds=0.3)
    assert (result.state, result.value) == (State.WALL_TIMEOUT, None)
