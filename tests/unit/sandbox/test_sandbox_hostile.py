"""What a hostile program says on its channels only hurts itself; what is too big is refused or cut."""

import random
from dataclasses import replace

import pytest

from burnish.sandbox import Call, Case, Limits, Policy, RunRequest, Sandbox, SandboxError, State
from burnish.sandbox import task as tasks

CALLS = tuple(Case(call=Call("f", (number,))) for number in range(3))
QUICK = Limits(cpu_seconds=1.0, wall_seconds=2.0, memory_bytes=64 << 20)


@pytest.fixture(scope="module")
def box():
    with Sandbox(Policy()) as box:
        yield box


FRAME = """
import os, json, struct
def frame(header, blob=b"", lie=0):
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<II", len(head) + len(blob) + 4 + lie, len(head)) + head + blob
"""
GOOD = {"case": 0, "status": 0, "killed": "", "cpu": 0.1, "wall": 0.1, "peak": 1, "lens": [0, 0, 0]}
ODD = (
    None, True, -1, 2**70, 1.5, "x", [], [1], {}, {"a": 1}, [[[]]], "nan", "1e999", [-1, 0, 1], [2**40] * 3
)  # fmt: skip


def hostile_frames(seed):
    """Lines that write frames, of which most make no sense."""
    rng = random.Random(seed)
    for _ in range(4):
        header = dict(GOOD)
        for name in rng.sample(sorted(header), rng.randrange(4)):
            header[name] = rng.choice(ODD)
        if rng.random() < 0.3:
            header.pop(rng.choice(sorted(header)))
        if rng.random() < 0.5:
            header["kind"] = rng.choice([*ODD, "value", "done", "exit"])
        lie = rng.choice([0, 0, 0, 1, -1, 1 << 20])
        yield f"os.write(3, frame({header!r}, {rng.randbytes(rng.randrange(9))!r}, {lie}))"
    raw = rng.choice(
        [b"NaN", b'{"case": NaN, "cpu": Infinity}', b"[" * 5000, b'{"case": 1' + b"0" * 5000 + b"}"]
    )
    yield f"os.write(3, frame({raw!r}))"


@pytest.mark.parametrize("mode", ["many", "one", "session"])
def test_frames_of_a_hostile_program_never_reach_anybody_else(box, mode):
    pid, zygote = box.stats()["pid"], box.stats()["zygote"]
    for seed in range(6 if mode == "session" else 25):
        attack = FRAME + "\n".join(hostile_frames(seed))
        if mode == "session":
            with box.session(replace(QUICK, wall_seconds=0.5)) as session:
                assert session.execute(attack).state is not State.INFRA_ERROR
            continue
        cases = CALLS if mode == "many" else CALLS[:1]
        result = box.run(RunRequest(attack + "\ndef f(x): return 'forged'", cases=cases, limits=QUICK))
        assert len(result.cases) == len(cases)
        for case in result.cases:
            assert case.state is not State.INFRA_ERROR, (seed, result.detail)
            assert case.value in (None, "forged")
            assert 0 <= case.cpu_seconds < float("inf")
    assert (box.stats()["pid"], box.stats()["zygote"]) == (pid, zygote)
    assert box.run(RunRequest("print(6 * 7)")).cases[0].stdout == b"42\n"


def test_no_program_makes_its_run_our_fault(box):
    """A sample that ends in `infra_error` would not be counted, so none may choose to."""
    tricks = (
        "import os; os.kill(1, 2)",
        "import os, signal; os.kill(1, signal.SIGTERM); os.kill(0, 9); os.kill(-1, 9)",
        "import os; os.close(3); os.close(1); os.close(2)",
        "import os; os.closerange(0, 64)",
        "import os; os.dup2(1, 3)",
        "import sys, os; sys._current_frames = None; os.fork = None; os.pipe = None",
        "import builtins, os; builtins.len = None; builtins.dict = None",
        "import os; os._exit(71)",
        "import gc, sys; [setattr(m, '__dict__', 0) for m in ()]; sys.modules.clear()",
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))",
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))",
        "import select, os; select.poll = None; os.read = lambda *a: b'x'",
        "import burnish.sandbox.cases as c; c._watch = c._report = lambda *a: 1 / 0",
        "import burnish.sandbox.wire as w; w.pack = lambda *a: b'S' * 1000",
        "import signal; signal.setitimer(signal.ITIMER_REAL, 0.01)",
        "raise KeyboardInterrupt",
    )
    for trick in tricks:
        for cases in (CALLS, CALLS[:1], (Case(), Case())):
            result = box.run(RunRequest(f"{trick}\ndef f(x): return x", cases=cases, limits=QUICK))
            assert len(result.cases) == len(cases), trick
            states = {case.state for case in result.cases}
            assert State.INFRA_ERROR not in states, (trick, result.detail)
    assert box.run(RunRequest("print(6 * 7)")).cases[0].stdout == b"42\n"


def test_too_big_a_request_is_refused_and_the_others_go_on(box):
    other = box.submit(RunRequest("import time; time.sleep(0.2); print('kept')"))
    pid = box.stats()["pid"]
    big = tuple(Case(bytes(60 << 20)) for _ in range(5))
    with pytest.raises(SandboxError, match="too big"):
        box.run(RunRequest("pass", cases=big))
    assert other.result().cases[0].stdout == b"kept\n"
    assert box.stats()["pid"] == pid


def test_results_of_one_request_have_a_bound_together(monkeypatch):
    monkeypatch.setattr(tasks, "_KEPT", 10)
    task = tasks.Task(0, "", "program", 4, False, {}, b"", True)
    for _ in range(4):
        task.add(State.OK, (b"1234", b"", b""))
    assert [head["state"] for head, _ in task.results] == ["ok", "ok", "output_limit", "output_limit"]
    assert [blob for _, blob in task.results] == [b"1234", b"1234", b"", b""]
    task.add(State.SIGNAL, (b"1", b"", b""))
    assert task.results[-1][0]["state"] == "signal"


def test_tools_get_no_descriptor_of_ours(box):
    code = """
#include <stdio.h>
#include <fcntl.h>
int main(void) { for (int i = 0; i < 64; i++) if (fcntl(i, F_GETFD) >= 0) printf("%d ", i); }
"""
    assert box.run(RunRequest(code, language="c")).cases[0].stdout == b"0 1 2 "
    endless = 'asm(".incbin \\"/dev/zero\\"");\nint main(void) { return 0; }'
    result = box.run(RunRequest(endless, language="c", limits=Limits(compile_seconds=2.0)))
    assert result.state not in (State.OK, State.INFRA_ERROR)
    files = ".open /srv/x\n.read /etc/passwd\nattach '/etc/passwd' as p; select * from p.sqlite_master;"
    case = box.run(RunRequest(files, language="sql")).cases[0]
    assert case.state is State.RUNTIME_ERROR
    assert b"root:" not in case.stdout + case.stderr
    spawn = "try { require('child_process').execSync('id') } catch (e) { console.log('refused') }"
    assert box.run(RunRequest(spawn, language="javascript")).cases[0].stdout == b"refused\n"
