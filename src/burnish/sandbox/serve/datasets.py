"""Rows that come with /submit, in the columns of SandboxFusion, as suites of checks.

MBPPDataset       test_list, and labels.test_setup_code or test_imports
HumanEvalDataset  test with check(candidate), entry_point (or labels.entry_point), content or prompt
CommonOJDataset   test: [{"input": {"stdin": ...}, "output": {"stdout": ...}}]
PytestDataset     test: a pytest or unittest module that imports from `solution`

Columns may hold JSON as text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from burnish.sandbox.judging.asserts import read_asserts, read_check, read_pytest
from burnish.sandbox.judging.checks import ProgramCheck, Suite
from burnish.sandbox.judging.extract import continued, last_block
from burnish.sandbox.serve.errors import Refused, bad
from burnish.sandbox.serve.requests import SubmitRequest, Table


def suite_of(request: SubmitRequest) -> Suite:
    """The checks of a submission.

    Raises:
        Refused: an unknown kind of data set, or a column that cannot be used.
        SandboxError: tests that are not Python.
    """
    reader = _READERS.get(request.dataset)
    if reader is None:
        raise bad("config.dataset_type", "is not served", request.dataset, f"one of {', '.join(_READERS)}")
    return reader(request.row)


def code_of(request: SubmitRequest) -> str:
    """The program of a completion: its last fenced block, or all of it, behind what it continues."""
    block = last_block(request.completion)
    code = (request.completion if block is None else block).strip("\n").rstrip()
    stub = request.row.get("content") or request.row.get("prompt")
    if request.dataset == "HumanEvalDataset" and isinstance(stub, str) and code:
        return continued(stub, code, _entry_point(request.row))
    return code


def _mbpp(row: Table) -> Suite:
    tests = _json(row.get("test_list"))
    if not isinstance(tests, list) or not tests or not all(isinstance(test, str) for test in tests):
        raise _column("test_list", tests, "a list of assert statements")
    imports = row.get("test_imports") or []
    setup = _labels(row).get("test_setup_code") or ("\n".join(map(str, imports)))
    return read_asserts(tests, str(setup))


def _humaneval(row: Table) -> Suite:
    return read_check(_source(row), _entry_point(row))


def _pytest(row: Table) -> Suite:
    return read_pytest(_source(row))


def _common_oj(row: Table) -> Suite:
    tests = _json(row.get("test"))
    if not isinstance(tests, list) or not tests:
        raise _column("test", tests, "a list of {input: {stdin}, output: {stdout}}")
    return Suite(programs=tuple(_program(number, test) for number, test in enumerate(tests, start=1)))


def _program(number: int, test: Any) -> ProgramCheck:
    try:
        stdin, stdout = test["input"].get("stdin", ""), test["output"]["stdout"]
        return ProgramCheck(f"test {number}", stdin.encode(), stdout.encode(), "numbers")
    except (TypeError, KeyError, AttributeError, UnicodeEncodeError):
        raise _column(
            f"test[{number - 1}]", test, '{"input": {"stdin": text}, "output": {"stdout": text}}'
        ) from None


def _source(row: Table) -> str:
    test = row.get("test")
    if not isinstance(test, str) or not test.strip():
        raise _column("test", test, "Python code")
    return test


def _entry_point(row: Table) -> str:
    name = row.get("entry_point") or _labels(row).get("entry_point")
    if not isinstance(name, str) or not name.isidentifier():
        raise _column("entry_point", name, "the name of a function")
    return name


def _labels(row: Table) -> Mapping[str, Any]:
    labels = _json(row.get("labels"))
    return labels if isinstance(labels, dict) else {}


def _json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _column(name: str, got: object, expected: str) -> Refused:
    return bad(f"config.provided_data.{name}", "cannot be used", got, expected)


_READERS: dict[str, Callable[[Table], Suite]] = {
    "MBPPDataset": _mbpp,
    "HumanEvalDataset": _humaneval,
    "CommonOJDataset": _common_oj,
    "PytestDataset": _pytest,
}
