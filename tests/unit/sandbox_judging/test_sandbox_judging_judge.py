"""Judging by calls and by programs: references pass, cheats do not, faults are nobody's wrong answer."""

import dataclasses
import json
import os
from pathlib import Path

import pytest
from cheats import CHEATS, cheat

from burnish.sandbox.judging.asserts import read_asserts
from burnish.sandbox.judging.checks import CallCheck, ProgramCheck, Suite
from burnish.sandbox.judging.judge import judge
from burnish.sandbox.judging.runs import Terms, run_cases
from burnish.sandbox.judging.values import CLOSE, PYTHON
from burnish.sandbox.records import Call, Case, CaseResult, Limits, RunRequest, RunResult, State, Tier

QUICK = Terms(Limits(cpu_seconds=2.0, wall_seconds=6.0))


def mbpp() -> list[dict]:
    folder = os.environ.get("BURNISH_DATA") or Path(__file__).parents[3].parent / "shared" / "data"
    path = Path(folder) / "mbpp_train.jsonl"
    if not path.is_file():
        pytest.skip("MBPP rows are not here; set BURNISH_DATA to the folder that holds mbpp_train.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def suite_of(row: dict) -> Suite:
    return read_asserts(row["test_list"], "\n".join(row["test_imports"]), public=1)


def test_every_reference_solution_of_mbpp_passes(engine):
    wrong = {}
    for row in mbpp():
        found = judge(engine, row["code"], suite_of(row), QUICK)
        if not found.all_passed:
            wrong[row["task_id"]] = (found.fault, [o for o in found.outcomes if not o.right])
    assert wrong == {}


@pytest.mark.parametrize("kind", CHEATS)
def test_no_cheat_passes_a_check_of_mbpp(engine, kind):
    for row in mbpp()[::20]:
        suite = suite_of(row)
        if any(check.truth or check.expected in (None, 0) for check in suite.calls):
            continue
        if not suite.calls:
            continue
        name = suite.calls[0].call.function
        found = judge(engine, cheat(kind, name), suite, QUICK)
        assert not found.fault
        assert [outcome for outcome in found.outcomes if outcome.right] == []


def test_another_rows_solution_does_not_pass(engine):
    rows = mbpp()[:40:4]
    for row, other in zip(rows, [*rows[1:], rows[0]], strict=True):
        assert not judge(engine, other["code"], suite_of(row), QUICK).all_passed


def test_the_public_test_alone_is_told_apart(engine):
    suite = read_asserts(["assert f(1) == 1", "assert f(2) == 4", "assert f(3) == 9"], public=1)
    found = judge(engine, "def f(n): return 1", suite)
    assert (found.passed, found.public_only, found.all_passed) == (1, True, False)
    assert not judge(engine, "def f(n): return n * n", suite).public_only
    assert not judge(engine, "def f(n): return 0", suite).public_only


@pytest.mark.parametrize(
    ("code", "state"),
    [
        ("def f(n): return n + 1", State.OK),
        ("def f(n): raise ValueError(n)", State.RUNTIME_ERROR),
        ("def g(n): return n", State.RUNTIME_ERROR),
        ("def f(n) return n", State.RUNTIME_ERROR),
        ("def f(n): return object()", State.BAD_TYPE),
        ("import os\ndef f(n): os._exit(0)", State.EXITED_EARLY),
        ("def f(n): return [n] * 10**6", State.BAD_TYPE),
    ],
)
def test_states_are_kept_apart(engine, code, state):
    (outcome,) = judge(engine, code, Suite((CallCheck("one", Call("f", (1,)), 2),))).outcomes
    assert outcome.state is state
    assert outcome.right is (state is State.OK)
    assert bool(outcome.reason) is not outcome.right


def test_kinds_of_the_library_that_equal_plain_data_are_plain(engine):
    code = """
from collections import Counter, OrderedDict, defaultdict, namedtuple
P = namedtuple("P", "x y")
def f(kind):
    d = defaultdict(int); d["a"] += 1
    kinds = {"counter": Counter("aab"), "default": d, "ordered": OrderedDict(a=1), "named": P(1, [P(2, 3)])}
    return kinds[kind]
"""
    wanted = {"counter": {"a": 2, "b": 1}, "default": {"a": 1}, "ordered": {"a": 1}, "named": (1, [(2, 3)])}
    checks = tuple(CallCheck(kind, Call("f", (kind,)), value) for kind, value in wanted.items())
    assert judge(engine, code, Suite(checks)).all_passed


def test_methods_keywords_and_rules(engine):
    code = """
class Solution:
    def __init__(self): self.seen = []
    def add(self, a, b=1): self.seen.append(a); return (len(self.seen), a + b)
"""
    checks = (
        CallCheck("1", Call("Solution.add", (0.1,), {"b": 0.2}), [1, 0.3], CLOSE),
        CallCheck("2", Call("Solution.add", (1,)), (1, 2), PYTHON),
    )
    assert judge(engine, code, Suite(checks)).all_passed


def test_cases_do_not_see_each_other(engine):
    code = "seen = []\ndef f(n):\n    seen.append(n)\n    return seen"
    checks = tuple(CallCheck(str(n), Call("f", (n,)), [n]) for n in range(6))
    assert judge(engine, code, Suite(checks)).all_passed


ADDER = "import sys\na, b = map(int, sys.stdin.read().split())\nprint(a + b)"


def test_programs_are_judged_by_what_they_print(engine):
    checks = tuple(ProgramCheck(f"{n}", b"%d 1\n" % n, b"%d" % (n + 1)) for n in range(4))
    assert judge(engine, ADDER, Suite(programs=checks)).all_passed
    found = judge(engine, "print(1)", Suite(programs=checks))
    assert [outcome.right for outcome in found.outcomes] == [True, False, False, False]
    late = judge(engine, f"{ADDER}\nraise SystemExit(3)", Suite(programs=checks))
    assert (late.passed, late.outcomes[0].state) == (0, State.RUNTIME_ERROR)
    flood = judge(engine, "for n in range(50): print(n)", Suite(programs=checks))
    assert flood.passed == 0


CHECKER = """
def check(stdin, output, expected):
    a, b = map(int, output.split())
    return a + b == int(stdin)
"""


def test_a_custom_checker_runs_in_a_jail_of_its_own(engine):
    (check,) = checks = (ProgramCheck("one", b"7", b"", checker=CHECKER),)
    assert judge(engine, "print(3, 4)", Suite(programs=checks)).all_passed
    assert judge(engine, "print(0, int(input()))", Suite(programs=checks)).all_passed
    for wrong in ("print(3, 5)", "print('x')", "print(True)", "pass"):
        assert not judge(engine, wrong, Suite(programs=checks)).all_passed
    broken = dataclasses.replace(check, checker="def check(*a): return 1")
    assert not judge(engine, "print(3, 4)", Suite(programs=(broken,))).all_passed


class Scripted:
    """An engine whose results are given."""

    def __init__(self, *states: State):
        self.states, self.requests = list(states), []

    def run(self, request: RunRequest) -> RunResult:
        self.requests.append(request)
        taken, self.states = self.states[: len(request.cases)], self.states[len(request.cases) :]
        return RunResult(tuple(CaseResult(state, value=("value", 1, {})) for state in taken), Tier.T2, "d")


CALLS = Suite(tuple(CallCheck(str(n), Call("f"), 1) for n in range(40)))


def test_a_hopeless_program_is_not_run_on_every_case():
    engine = Scripted(*[State.CPU_TIMEOUT] * 40)
    found = judge(engine, "", CALLS)
    assert len(engine.requests) == 1
    assert (len(found.outcomes), found.passed, found.fault) == (40, 0, "")
    assert "not run" in found.outcomes[-1].reason


def test_a_failure_of_ours_is_tried_again_and_then_a_fault():
    again = Scripted(State.INFRA_ERROR, *[State.OK] * 40)
    again.run(dataclasses.replace(RunRequest(""), cases=(Case(),)))
    assert judge(again, "", CALLS).all_passed
    first = Suite(CALLS.calls[:1])
    assert judge(Scripted(State.INFRA_ERROR, State.OK), "", first).all_passed
    found = judge(Scripted(State.INFRA_ERROR, State.INFRA_ERROR, State.OK), "", first)
    assert "failed 2 times" in found.fault
    assert not found.all_passed


def test_chunks_keep_the_order_of_cases():
    engine = Scripted(*[State.OK] * 40)
    cases = tuple(Case(stdin=b"%d" % n) for n in range(40))
    runs = run_cases(engine, RunRequest("", cases=cases))
    assert [case.stdin for request in engine.requests for case in request.cases] == [c.stdin for c in cases]
    assert len(runs.cases) == 40


@pytest.mark.parametrize(
    "forged",
    [None, 1, "pass", ("value",), ("value", 1), ("value", 1, []), ("value", 1, {"0": 2}), ("object", 1),
     ("raised", "ValueError", ""), ("raised", (1,), ""), ("ask", ()), ["value", 1, {}],
     ("value", 1, {True: 1})],
)  # fmt: skip
def test_what_is_no_answer_is_wrong(forged):
    class Forger:
        def run(self, request: RunRequest) -> RunResult:
            return RunResult((CaseResult(State.OK, value=forged),) * len(request.cases), Tier.T2, "d")

    (outcome,) = judge(Forger(), "", Suite(CALLS.calls[:1])).outcomes
    assert (outcome.right, outcome.state) == (False, State.PROTOCOL_ERROR)
    tests = read_asserts(["assert len(f()) == 1"])
    assert not judge(Forger(), "", tests).all_passed


def test_what_is_not_run_has_not_passed_and_says_why():
    engine = Scripted(State.OK, State.RUNTIME_ERROR)
    found = judge(engine, "", CALLS, Terms(until_failure=True))
    assert [outcome.right for outcome in found.outcomes] == [True] + [False] * 39
    assert {outcome.state for outcome in found.outcomes[1:]} == {State.RUNTIME_ERROR}
    empty = Suite(programs=tuple(ProgramCheck(str(n), b"", b"") for n in range(40)))
    slow = judge(Scripted(*[State.CPU_TIMEOUT, State.OK] * 20), "", empty)
    assert slow.passed == 2
    assert slow.outcomes[-1].state is State.CPU_TIMEOUT


def test_tests_are_not_run_when_calls_have_failed_already(engine):
    suite = read_asserts(["assert f(1) == 2", "assert len(str(f(1))) == 1"])
    assert len(judge(engine, "def f(x): return x", suite, Terms(until_failure=True)).outcomes) == 1
    assert len(judge(engine, "def f(x): return x", suite).outcomes) == 2
