"""Calls: the candidate's jail gives a value, and it is compared here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from burnish.sandbox.judging.checks import CallCheck, Engine, Outcome
from burnish.sandbox.judging.protocol import candidate_program, question, read_answer
from burnish.sandbox.judging.runs import SHOWN, Runs, Terms, ended_badly, run_cases
from burnish.sandbox.judging.values import same
from burnish.sandbox.records import Case, CaseResult, State


def judge_calls(
    engine: Engine, code: str, checks: Sequence[CallCheck], terms: Terms
) -> tuple[list[Outcome], Runs]:
    """Outcomes of calls; each on fresh state."""
    cases = [Case(call=question("truth" if check.truth else "call", check.call)) for check in checks]
    request = terms.request(candidate_program(code), cases)
    runs = run_cases(engine, request, until_failure=terms.until_failure)
    return [_call_outcome(check, case) for check, case in zip(checks, runs.cases, strict=True)], runs


def _call_outcome(check: CallCheck, case: CaseResult) -> Outcome:
    if case.state is not State.OK:
        return ended_badly(check.name, case, public=check.public)
    kind, answer = read_answer(case.value)
    outcome = Outcome(check.name, False, cpu_seconds=case.cpu_seconds, public=check.public)
    if kind == "value":
        right = same(answer[1], check.expected, check.rule)
        reason = "" if right else f"gave {answer[1]!r:.{SHOWN}}"
        return replace(outcome, right=right, reason=reason)
    if kind == "object":
        return replace(outcome, state=State.BAD_TYPE, reason=f"gave a {answer[1]}, which is not plain data")
    if kind == "raised":
        names = answer[1] if isinstance(answer[1], tuple) else ()
        reason = f"{next(iter(names), 'Exception')}: {answer[2]}"[:SHOWN]
        return replace(outcome, state=State.RUNTIME_ERROR, reason=reason)
    return replace(outcome, state=State.PROTOCOL_ERROR, reason="what came back is no answer")
