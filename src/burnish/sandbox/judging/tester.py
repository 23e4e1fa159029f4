"""Tests that are code: they run in a jail of their own and call the candidate's jail through plain data.

The two never share a process, a file or a descriptor. In each round every open test runs with the answers
known so far and either ends or asks for one more; the questions go to the candidate's jail, which does all
steps of a test in order on fresh state. A test that makes k calls takes k + 1 rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from burnish.sandbox.judging.checks import Engine, Outcome, TestProgram
from burnish.sandbox.judging.protocol import candidate_program, inside, read_answer
from burnish.sandbox.judging.runs import Fault, Runs, Terms, ended_badly, run_cases
from burnish.sandbox.records import Call, Case, CaseResult, Limits, Plain, State, Tier

ROUNDS = 200
"""Calls of one test after which it has not passed."""
ANSWERS, OF_ALL = 8 << 20, 64 << 20
"""Characters that the questions and answers of one test, and of all together, may take: they are sent again
in each round, and what does not fit into a request would be our fault instead of the program's."""
TESTER_LIMITS = Limits(cpu_seconds=5.0, value_bytes=4 << 20)


@dataclass(slots=True)
class _Open:
    """A test under way."""

    number: int
    answers: list[tuple[Plain, Plain]] = field(default_factory=list)
    step: Plain = None
    said: int = 0
    """Characters of its questions and answers."""
    cpu_seconds: float = 0.0
    outcome: Outcome | None = None


def judge_tests(
    engine: Engine, code: str, program: TestProgram | None, terms: Terms
) -> tuple[list[Outcome], Runs]:
    """Outcomes of tests.

    Raises:
        Fault: the sandbox failed, or a test does not do the same each time.
    """
    if program is None:
        return [], Runs(())
    tests = [_Open(number) for number in range(len(program.tests))]
    tester, candidate = tester_program(program), candidate_program(code)
    runs = Runs((), Tier.T3)
    for _ in range(ROUNDS):
        under_way = [test for test in tests if test.outcome is None]
        asking = _ask_tester(engine, tester, under_way, program, terms)
        if not asking:
            break
        runs = _ask_candidate(engine, candidate, asking, program, terms)
    outcomes = [test.outcome or _too_long(test, program) for test in tests]
    return outcomes, runs


def tester_program(program: TestProgram) -> str:
    """The source of a tester: its end of the protocol, and the tests as constants."""
    constants = {
        "TESTS": program.tests,
        "NAMES": dict(program.names),
        "SETUP": program.setup,
        "MODULES": program.modules,
        "MODULE": program.module,
    }
    lines = (f"{name} = {value!r}" for name, value in constants.items())
    return f"{inside('tester')}\n" + "\n".join(lines) + "\n"


def _ask_tester(
    engine: Engine, tester: str, tests: Sequence[_Open], program: TestProgram, terms: Terms
) -> list[_Open]:
    """Run the open tests one round further; those that ask for a call."""
    if not tests:
        return []
    cases = [Case(call=Call("burnish_test", (test.number, test.answers))) for test in tests]
    runs = run_cases(engine, terms.request(tester, cases, TESTER_LIMITS), trusted=True)
    for test, case in zip(tests, runs.cases, strict=True):
        _take_report(test, case, program)
    return [test for test in tests if test.outcome is None]


def _take_report(test: _Open, case: CaseResult, program: TestProgram) -> None:
    name, public = program.label(test.number), test.number in program.public
    if case.state is not State.OK:
        state = f"the test did not end: {case.state}"
        test.outcome = Outcome(name, False, State.OK, state, test.cpu_seconds, public)
        return
    match case.value:
        case ("pass", _):
            test.outcome = Outcome(name, True, State.OK, "", test.cpu_seconds, public)
        case ("fail", str() as reason):
            test.outcome = Outcome(name, False, State.OK, reason, test.cpu_seconds, public)
        case ("ask", step):
            test.step = step
        case other:
            raise Fault(f"{name} does not do the same each time: {other!r:.200}")


def _ask_candidate(
    engine: Engine, candidate: str, tests: Sequence[_Open], program: TestProgram, terms: Terms
) -> Runs:
    """Put the questions to the candidate; a run without an answer ends its test."""
    cases = [Case(call=Call("burnish_answer", ([*(s for s, _ in t.answers), t.step],))) for t in tests]
    runs = run_cases(engine, terms.request(candidate, cases))
    for test, case in zip(tests, runs.cases, strict=True):
        test.cpu_seconds += case.cpu_seconds
        if case.state is not State.OK:
            test.outcome = ended_badly(program.label(test.number), case, public=test.number in program.public)
            continue
        _take_answer(test, case.value, program)
    return runs


def _take_answer(test: _Open, value: Plain, program: TestProgram) -> None:
    kind, answer = read_answer(value)
    test.said += len(repr(test.step)) + len(repr(answer))
    label, public = program.label(test.number), test.number in program.public
    if not kind:
        test.outcome = Outcome(label, False, State.PROTOCOL_ERROR, "no answer", test.cpu_seconds, public)
    elif test.said > min(ANSWERS, OF_ALL // len(program.tests)):
        test.outcome = Outcome(label, False, State.BAD_TYPE, "answers too big", test.cpu_seconds, public)
    else:
        test.answers.append((test.step, answer))


def _too_long(test: _Open, program: TestProgram) -> Outcome:
    return Outcome(program.label(test.number), False, State.OK, f"more than {ROUNDS} calls", test.cpu_seconds)
