"""Programs: the candidate's jail gives what was printed, compared here or by a checker in its jail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from burnish.sandbox.judging.checks import Engine, Outcome, ProgramCheck
from burnish.sandbox.judging.runs import SHOWN, Runs, Terms, ended_badly, run_cases
from burnish.sandbox.judging.text import same_text
from burnish.sandbox.records import Call, Case, CaseResult, Limits, State


def judge_programs(
    engine: Engine, code: str, checks: Sequence[ProgramCheck], terms: Terms
) -> tuple[list[Outcome], Runs]:
    """Outcomes of programs that read stdin and print."""
    request = replace(terms.request(code, [Case(stdin=c.stdin) for c in checks]), language=terms.language)
    runs = run_cases(engine, request, until_failure=terms.until_failure)
    return [
        _program_outcome(engine, check, case, terms) for check, case in zip(checks, runs.cases, strict=True)
    ], runs


def _program_outcome(engine: Engine, check: ProgramCheck, case: CaseResult, terms: Terms) -> Outcome:
    if case.state is not State.OK:
        return ended_badly(check.name, case, public=check.public)
    if check.checker:
        right = _checked(engine, check, case.stdout, terms)
    else:
        right = same_text(case.stdout, check.expected, check.rule)
    reason = "" if right else f"printed {case.stdout[:SHOWN]!r}"
    return Outcome(check.name, right, reason=reason, cpu_seconds=case.cpu_seconds, public=check.public)


def _checked(engine: Engine, check: ProgramCheck, output: bytes, terms: Terms) -> bool:
    """What a custom checker says; one that breaks over an output does not accept it."""
    texts = tuple(part.decode("utf-8", "replace") for part in (check.stdin, output, check.expected))
    request = terms.request(check.checker, [Case(call=Call("check", texts))], Limits())
    case = run_cases(engine, request).cases[0]
    return case.state is State.OK and case.value is True
