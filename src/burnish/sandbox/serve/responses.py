"""Results in the words of SandboxFusion; `state`, `tier` and `digest` say what it has no word for.

`return_code` is null when a limit ended the run and negative for a signal. A failure of ours is the status
`SandboxError`, which its clients try again, and never `Failed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from burnish.sandbox.judging.checks import Judgement, Outcome
from burnish.sandbox.records import CaseResult, RunResult, State
from burnish.sandbox.serve.requests import SubmitRequest

_TIMEOUTS = (State.CPU_TIMEOUT, State.WALL_TIMEOUT)


def run_code_response(result: RunResult) -> dict[str, Any]:
    """The answer of /run_code."""
    (case, *_) = result.cases
    compilation = result.compilation
    compiled = compilation is None or compilation.state is State.OK
    return {
        "status": _status(case.state),
        "message": result.detail if case.state is State.INFRA_ERROR else "",
        "compile_result": _command(compilation) if compilation else None,
        "run_result": _command(case) if compiled else None,
        "executor_pod_name": None,
        "files": {},
        "state": case.state,
        "tier": result.tier.name,
        "digest": result.digest,
    }


def cells_response(cases: Sequence[CaseResult], *, finished: bool) -> dict[str, Any]:
    """The answer of /run_jupyter."""
    broken = any(case.state is State.INFRA_ERROR for case in cases)
    cells = [
        {
            "stdout": _text(case.stdout),
            "stderr": _text(case.stderr),
            "display": [],
            "error": [] if case.state is State.OK else [{"ename": case.state, "evalue": _last(case.stderr)}],
        }
        for case in cases
    ]
    state = "Finished" if finished else "TimeLimitExceeded"
    return {
        "status": "SandboxError" if broken else "Success" if finished else "Failed",
        "message": "",
        "driver": {"status": state, "execution_time": sum(c.wall_seconds for c in cases), "return_code": 0},
        "cells": cells,
        "executor_pod_name": None,
        "files": {},
    }


def submit_response(request: SubmitRequest, code: str, found: Judgement) -> dict[str, Any]:
    """The answer of /submit; expected values do not travel back."""
    return {
        "id": request.id,
        "accepted": found.all_passed,
        "extracted_code": code,
        "full_code": None,
        "test_code": None,
        "tests": [_test(outcome) for outcome in found.outcomes],
        "extra": {"tier": found.tier.name, "digest": found.digest, "public_only": found.public_only},
    }


def _test(outcome: Outcome) -> dict[str, Any]:
    status = _status(outcome.state) if outcome.right or outcome.state is not State.OK else "Failed"
    run = {
        "status": "TimeLimitExceeded" if outcome.state in _TIMEOUTS else "Finished",
        "cpu_time": outcome.cpu_seconds,
        "return_code": None if outcome.state in _TIMEOUTS else int(not outcome.right),
        "stderr": outcome.reason,
    }
    info = {"name": outcome.name, "state": outcome.state, "public": outcome.public}
    return {
        "passed": outcome.right,
        "exec_info": {"status": status, "message": outcome.reason, "run_result": run},
        "test_info": info,
    }


def _status(state: State) -> str:
    if state is State.INFRA_ERROR:
        return "SandboxError"
    return "Success" if state is State.OK else "Failed"


def _command(case: CaseResult) -> dict[str, Any]:
    status = "Error" if case.state is State.INFRA_ERROR else "Finished"
    return {
        "status": "TimeLimitExceeded" if case.state in _TIMEOUTS else status,
        "execution_time": case.wall_seconds,
        "cpu_time": case.cpu_seconds,
        "return_code": _return_code(case),
        "stdout": _text(case.stdout),
        "stderr": _text(case.stderr),
    }


def _return_code(case: CaseResult) -> int | None:
    if case.state in _TIMEOUTS or case.state is State.INFRA_ERROR:
        return None
    if case.signal:
        return -case.signal
    return case.exit_code if case.exit_code is not None else int(case.state is not State.OK)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _last(data: bytes) -> str:
    return _text(data).strip().rpartition("\n")[2][:500]
