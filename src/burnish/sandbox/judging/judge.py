"""Judging a program by a suite of checks.

    candidate's jail   gets the program and inputs; returns plain data or printed bytes
    this process       holds the expected values; compares by written rules
    tester's jail      runs tests that are code; sees plain data of the candidate, and never its process
    checker's jail     runs a custom checker on what was printed

Nothing that the candidate's process says about its own success is looked at: not its exit status beyond
"it ended well", not what it prints, not what it writes.
"""

from __future__ import annotations

from collections.abc import Callable

from burnish.sandbox.judging.calls import judge_calls
from burnish.sandbox.judging.checks import Engine, Judgement, Outcome, Suite
from burnish.sandbox.judging.programs import judge_programs
from burnish.sandbox.judging.runs import Fault, Runs, Terms
from burnish.sandbox.judging.tester import judge_tests
from burnish.sandbox.records import Tier


def judge(engine: Engine, code: str, suite: Suite, terms: Terms | None = None) -> Judgement:
    """What becomes of a program under a suite.

    Raises:
        SandboxError: the request is refused, for example a program with NUL bytes.
    """
    terms = terms or Terms()
    outcomes: list[Outcome] = []
    tiers: list[Tier] = []
    digest = ""
    parts: list[tuple[int, Callable[[], tuple[list[Outcome], Runs]]]] = [
        (len(suite.calls), lambda: judge_calls(engine, code, suite.calls, terms)),
        (len(suite.programs), lambda: judge_programs(engine, code, suite.programs, terms)),
        (len(suite.tests.tests) if suite.tests else 0, lambda: judge_tests(engine, code, suite.tests, terms)),
    ]
    try:
        for size, part in parts:
            done = terms.until_failure and not all(outcome.right for outcome in outcomes)
            if size and not done:
                found, runs = part()
                outcomes += found
                tiers.append(runs.tier)
                digest = runs.digest
    except Fault as fault:
        return Judgement(tuple(outcomes), fault=str(fault))
    return Judgement(tuple(outcomes), min(tiers, default=Tier.NONE), digest)
