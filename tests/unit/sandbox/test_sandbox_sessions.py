"""Sessions: a process that keeps its variables, limits of a piece and in all, attacks on the channel."""

import asyncio
import time
from contextlib import suppress

import psutil
import pytest

from burnish.sandbox import Limits, Policy, QueueFull, Sandbox, SandboxError, State

QUICK = Limits(cpu_seconds=1.0, wall_seconds=3.0, memory_bytes=64 << 20, output_bytes=1 << 16)


@pytest.fixture(scope="module")
def box():
    with Sandbox(Policy(sessions=8)) as box:
        yield box


@pytest.fixture
def session(box):
    with box.session(QUICK) as session:
        yield session


def said(session, code):
    case = session.execute(code)
    assert case.state is State.OK, (case.state, case.stderr)
    return case.stdout.decode()


def test_variables_functions_and_files_stay(session):
    said(session, "import math\na = 20\ndef f(x): return x + a\nopen('kept', 'w').write('text')")
    assert said(session, "f(1)") == "21\n"
    assert said(session, "a = 30\nf(1)") == "31\n"
    assert said(session, "print(open('kept').read()); math.comb(5, 2)") == "text\n10\n"
    assert said(session, "x = None\nx") == ""


def test_an_error_ends_a_piece_and_not_the_session(session):
    said(session, "a = 1")
    failed = session.execute("b = 2\n1 / 0")
    assert failed.state is State.RUNTIME_ERROR
    assert failed.stderr.decode().endswith("ZeroDivisionError: division by zero\n")
    assert "burnish" not in failed.stderr.decode()
    assert session.execute("def f(:").state is State.RUNTIME_ERROR
    assert session.execute("raise SystemExit(3)").state is State.EXITED_EARLY
    assert said(session, "a + b") == "3\n"


def test_pieces_do_not_get_the_output_of_others(session):
    assert said(session, "print('x' * 60_000)") == "x" * 60_000 + "\n"
    assert said(session, "print('y')") == "y\n"
    assert session.execute("import sys; print('e', file=sys.stderr)").stderr == b"e\n"
    assert session.execute("2").stderr == b""


@pytest.mark.parametrize(
    ("code", "state"),
    [
        ("while True: pass", State.CPU_TIMEOUT),
        ("import time; time.sleep(60)", State.WALL_TIMEOUT),
        ("while True: print('x' * 1000)", State.OUTPUT_LIMIT),
        ("import os; os._exit(0)", State.EXITED_EARLY),
        ("import os, signal; os.kill(os.getpid(), 9)", State.OK),
        ("import ctypes; ctypes.string_at(0)", State.SIGNAL),
    ],
)
def test_a_piece_that_breaks_a_limit_ends_the_session(box, code, state):
    session = box.session(Limits(cpu_seconds=0.3, wall_seconds=1.0, output_bytes=1 << 16))
    assert session.execute(code).state is state
    if state is State.OK:
        # Process 1 of a namespace cannot be killed from within it.
        session.close()
        return
    with pytest.raises(SandboxError, match="this session has ended"):
        session.execute("1")
    assert box._sessions == 0


def test_too_much_memory_is_an_error_of_the_piece(session):
    assert session.execute("x = bytearray(1 << 30)").state in (State.MEMORY_LIMIT, State.RUNTIME_ERROR)
    assert said(session, "1 + 1") == "2\n"


def test_time_between_pieces_counts_only_for_the_life(box):
    with box.session(Limits(cpu_seconds=0.5, wall_seconds=0.5)) as session:
        said(session, "a = 1")
        time.sleep(0.8)
        assert said(session, "a") == "1\n"


def test_totals_end_a_session(box):
    burn = "import time\nend = time.process_time() + 0.25\nwhile time.process_time() < end: pass"
    with box.session(QUICK, total_cpu_seconds=0.4) as session:
        assert [session.execute(burn).state for _ in range(2)] == [State.OK, State.CPU_TIMEOUT]
        with pytest.raises(SandboxError, match="used up a total"):
            session.execute("1")
    with box.session(QUICK, total_wall_seconds=0.4) as session:
        assert said(session, "1") == "1\n"
        time.sleep(0.6)
        with pytest.raises(SandboxError, match="used up a total"):
            session.execute("1")
    with box.session(QUICK, total_wall_seconds=0.4) as session:
        assert session.execute("import time; time.sleep(5)").state is State.WALL_TIMEOUT


def test_sessions_are_apart(box):
    with box.session(QUICK) as one, box.session(QUICK) as other:
        said(one, "secret = 7\nopen('f', 'w').write('x')")
        assert other.execute("secret").state is State.RUNTIME_ERROR
        assert said(other, "import os; os.listdir('.')") == "[]\n"


def test_forged_answers_only_hurt_the_session_itself(box):
    forge = (
        "import os, json, struct\n"
        "def frame(h):\n"
        "    b = json.dumps(h).encode(); return struct.pack('<II', len(b) + 4, len(b)) + b\n"
    )
    for payload in (
        "os.write(3, frame({'kind': 'done'}) * 3)",
        "os.write(3, b'\\xff' * 100)",
        "os.write(3, frame({'kind': ['done']}))",
        "os.write(3, frame({'kind': 'done', 'code': 1e999}) * 2)",
        "os.write(3, struct.pack('<II', 2**31, 4))",
        "os.close(3)",
    ):
        session = box.session(QUICK)
        assert session.execute(forge + payload).state in (State.OK, State.PROTOCOL_ERROR, State.EXITED_EARLY)
        with suppress(SandboxError):
            session.execute("print('still here')")
        session.close()
    with box.session(QUICK) as fine:
        assert said(fine, "6 * 7") == "42\n"


def test_pieces_that_are_no_text_are_refused_and_the_session_goes_on(session):
    for code in ("a\0b", "\ud800", 7, "x" * (5 << 20)):
        with pytest.raises(SandboxError, match=r"code"):
            session.execute(code)
    assert said(session, "1") == "1\n"


def test_there_is_a_bound_on_open_sessions(box):
    with pytest.raises(SandboxError, match="total_cpu_seconds"):
        box.session(total_cpu_seconds=float("nan"))
    sessions = [box.session(QUICK) for _ in range(8)]
    with pytest.raises(QueueFull, match=r"Policy\.sessions"):
        box.session(QUICK)
    for session in sessions:
        session.close()
        session.close()
    box.session(QUICK).close()


def test_closing_frees_the_process(box):
    supervisor = psutil.Process(box.stats()["pid"])
    before = len(supervisor.children(recursive=True))
    sessions = [box.session(QUICK) for _ in range(4)]
    for session in sessions:
        session.close()
    deadline = time.monotonic() + 5
    while (box.stats()["sessions"], len(supervisor.children(recursive=True))) > (0, before):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_runs_go_on_beside_sessions(box):
    from burnish.sandbox import RunRequest

    async def both():
        with box.session(QUICK) as session:
            piece = asyncio.create_task(session.aexecute("import time; time.sleep(0.3); print('late')"))
            results = await box.arun_many([RunRequest(f"print({n})") for n in range(10)])
            return results, await piece

    results, piece = asyncio.run(both())
    assert [result.cases[0].stdout for result in results] == [b"%d\n" % n for n in range(10)]
    assert piece.stdout == b"late\n"
