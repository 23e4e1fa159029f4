"""Where data sets of code keep problem, tests and solution: MBPP, HumanEval, APPS and LiveCodeBench.

mbpp           prompt or text, code, test_list, test_imports or test_setup_code
humaneval      prompt (the beginning of a function), canonical_solution, test with check(candidate),
               entry_point
apps           question, solutions, input_output, starter_code, difficulty
livecodebench  question_content, starter_code, public_test_cases, private_test_cases, metadata, difficulty

Columns that hold JSON as text are parsed; private tests that are pickled are refused, never unpickled.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from burnish.domains.code.example import CodeExample
from burnish.domains.row_files import Row, column
from burnish.domains.settings import CodeConvention
from burnish.errors import DomainError
from burnish.sandbox.judging.asserts import read_asserts, read_check
from burnish.sandbox.judging.checks import CallCheck, ProgramCheck, Suite
from burnish.sandbox.judging.values import CLOSE
from burnish.sandbox.records import Call, SandboxError

DIFFICULTIES = {"introductory": 0, "interview": 1, "competition": 2, "easy": 0, "medium": 1, "hard": 2}
_DEFINES = re.compile(r"^(?:def|class)[ ]+(\w+)", re.MULTILINE)
_PROGRAM = "Write a Python program that reads from standard input and prints to standard output."
_FUNCTION = "Write Python code that contains:"


def read_code(adapter: CodeConvention, row: Row, where: str, show_tests: int = 1) -> CodeExample:
    """The problem of a row.

    Args:
        adapter: which columns it has.
        row: the row.
        where: file and number of the row, for messages.
        show_tests: how many tests the prompt shows.

    Raises:
        DomainError: a column is missing or holds something else than it should; names row and column.
    """
    try:
        return _READERS[adapter](row, where, show_tests)
    except SandboxError as error:
        raise DomainError(
            f"{where}: {error.what}", got=error.got, expected=error.expected, next_step=error.next_step
        ) from None


def _mbpp(row: Row, where: str, show_tests: int) -> CodeExample:
    tests = _texts(row, ("test_list",), where)
    imports = _first(row, ("test_imports", "test_setup_code"), where, default="")
    setup = imports if isinstance(imports, str) else "\n".join(map(str, imports))
    gold = _tidied(_text(row, ("code",), where, default=None))
    defined = frozenset(_DEFINES.findall(gold or ""))
    return CodeExample(
        prompt=_text(row, ("prompt", "text"), where),
        suite=read_asserts(tests, setup, show_tests, defined),
        shown=tuple(tests[:show_tests]),
        gold=gold,
        row=row,
    )


def _tidied(code: str | None) -> str | None:
    """A reference with plain line ends and no semicolon at its end: behind one, anything could follow."""
    return None if code is None else code.replace("\r\n", "\n").rstrip().rstrip(";").rstrip()


def _humaneval(row: Row, where: str, _show_tests: int) -> CodeExample:
    stub, entry_point = _text(row, ("prompt",), where), _text(row, ("entry_point",), where)
    solution = _text(row, ("canonical_solution",), where, default=None)
    return CodeExample(
        prompt=f"Complete this Python function.\n\n{stub}",
        suite=read_check(_text(row, ("test",), where), entry_point),
        gold=None if solution is None else f"{stub}{solution}".rstrip(),
        stub=stub,
        entry_point=entry_point,
        row=row,
    )


def _apps(row: Row, where: str, show_tests: int) -> CodeExample:
    table = _json(row, ("input_output",), where)
    if not isinstance(table, Mapping) or not {"inputs", "outputs"} <= table.keys():
        raise _wrong(where, "input_output", table, '{"inputs": [...], "outputs": [...]}')
    inputs, outputs, name = table["inputs"], table["outputs"], table.get("fn_name")
    if not inputs or len(inputs) != len(outputs):
        raise _wrong(where, "input_output", f"{len(inputs)} inputs, {len(outputs)} outputs", "as many, not 0")
    suite = (
        _calls(name, inputs, _unwrapped(outputs), where)
        if name
        else _programs(zip(inputs, outputs, strict=True))
    )
    solutions = _json(row, ("solutions",), where, default=None)
    return CodeExample(
        prompt=_with_starter(_text(row, ("question",), where), row, name, where),
        suite=_public(suite, show_tests),
        shown=_shown(suite, show_tests),
        gold=solutions[0] if isinstance(solutions, Sequence) and solutions else None,
        level=_level(row, where),
        row=row,
    )


def _livecodebench(row: Row, where: str, show_tests: int) -> CodeExample:
    public = _test_cases(row, "public_test_cases", where)
    private = _test_cases(row, "private_test_cases", where)
    metadata = _json(row, ("metadata",), where, default={})
    name = metadata.get("func_name") if isinstance(metadata, Mapping) else None
    tests = [*public, *private]
    if not tests:
        raise _wrong(where, "public_test_cases", "no test", "at least one")
    if name:
        inputs = [[_json_line(line, where) for line in str(t["input"]).split("\n") if line] for t in tests]
        outputs = [_json_line(str(test["output"]), where) for test in tests]
        suite = _calls(f"Solution.{name}", inputs, outputs, where)
    else:
        suite = _programs((test["input"], test["output"]) for test in tests)
    shown = min(show_tests, len(public))
    return CodeExample(
        prompt=_with_starter(_text(row, ("question_content",), where), row, name, where),
        suite=_public(suite, shown),
        shown=_shown(suite, shown),
        level=_level(row, where),
        row=row,
    )


def _with_starter(question: str, row: Row, name: object, where: str) -> str:
    starter = _text(row, ("starter_code",), where, default="") or ""
    if starter.strip():
        return f"{question.rstrip()}\n\n{_FUNCTION}\n\n{starter.strip()}"
    return f"{question.rstrip()}\n\n{f'{_FUNCTION} {name}' if name else _PROGRAM}"


def _calls(name: str, inputs: Sequence[Any], outputs: Sequence[Any], where: str) -> Suite:
    """Calls with arguments by position."""
    if not all(isinstance(args, list) for args in inputs):
        raise _wrong(where, "input_output", "an input that is no list", "a list of arguments for each call")
    return Suite(
        calls=tuple(
            CallCheck(f"test {n}", Call(name, tuple(args)), value, CLOSE)
            for n, (args, value) in enumerate(zip(inputs, outputs, strict=True), start=1)
        )
    )


def _unwrapped(outputs: Sequence[Any]) -> Sequence[Any]:
    """The values of calls; APPS puts each into a list of one."""
    wrapped = all(isinstance(output, list) and len(output) == 1 for output in outputs)
    return [output[0] for output in outputs] if wrapped else outputs


def _programs(pairs: Any) -> Suite:
    checks = (
        ProgramCheck(f"test {n}", _joined(stdin).encode(), _joined(output).encode(), "numbers")
        for n, (stdin, output) in enumerate(pairs, start=1)
    )
    return Suite(programs=tuple(checks))


def _joined(text: Any) -> str:
    """Text, or lines of text."""
    return "\n".join(map(str, text)) if isinstance(text, list) else str(text)


def _public(suite: Suite, count: int) -> Suite:
    return Suite(
        tuple(replace(check, public=n < count) for n, check in enumerate(suite.calls)),
        tuple(replace(check, public=n < count) for n, check in enumerate(suite.programs)),
    )


def _shown(suite: Suite, count: int) -> tuple[str, ...]:
    """Tests as a prompt shows them."""
    calls = (
        f"{c.call.function.rpartition('.')[2]}({', '.join(map(repr, c.call.args))}) == {c.expected!r}"
        for c in suite.calls[:count]
    )
    programs = (
        f"Input:\n{p.stdin.decode().rstrip()}\nOutput:\n{p.expected.decode().rstrip()}"
        for p in suite.programs[:count]
    )
    return (*calls, *programs)


def _test_cases(row: Row, name: str, where: str) -> list[Mapping[str, Any]]:
    """Tests of LiveCodeBench; packed ones are pickled, so they are refused."""
    found = _json(row, (name,), where, default=[])
    if not isinstance(found, list) or not all(
        isinstance(test, Mapping) and {"input", "output"} <= test.keys() for test in found
    ):
        raise _wrong(where, name, found, "a list of {input, output, testtype}")
    return found


def _level(row: Row, where: str) -> float:
    found = _first(row, ("difficulty",), where, default=0)
    if isinstance(found, str):
        if found.lower() not in DIFFICULTIES:
            raise _wrong(where, "difficulty", found, f"one of {', '.join(DIFFICULTIES)}, or a number")
        return DIFFICULTIES[found.lower()]
    return float(found)


_REQUIRED = object()


def _first(row: Row, names: Sequence[str], where: str, default: Any = _REQUIRED) -> Any:
    """The first column of several that a row has, and that is not null."""
    for name in names:
        try:
            value = column(row, name)
        except KeyError:
            continue
        if value is not None:
            return value
    if default is not _REQUIRED:
        return default
    raise DomainError(
        f"{where} has no column {' or '.join(map(repr, names))}",
        got=f"columns {', '.join(map(str, row)) or 'none'}",
        expected="every column of the convention that `adapter` names",
        next_step="set another adapter in [[domains.rows]], or correct the row",
    )


def _text(row: Row, names: Sequence[str], where: str, default: Any = _REQUIRED) -> Any:
    found = _first(row, names, where, default)
    if found is not default and (not isinstance(found, str) or not found.strip()) and default is _REQUIRED:
        raise _wrong(where, names[0], found, "a text that is not empty")
    return found


def _texts(row: Row, names: Sequence[str], where: str) -> list[str]:
    found = _first(row, names, where)
    if not isinstance(found, list) or not found or not all(isinstance(text, str) for text in found):
        raise _wrong(where, names[0], found, "a list of texts that is not empty")
    return found


def _json(row: Row, names: Sequence[str], where: str, default: Any = _REQUIRED) -> Any:
    """A column that holds a table, or the table as JSON text."""
    found = _first(row, names, where, default)
    if not isinstance(found, str):
        return found
    if not found.strip() and default is not _REQUIRED:
        return default
    try:
        return json.loads(found)
    except (json.JSONDecodeError, RecursionError):
        raise _wrong(where, names[0], found, "JSON; unpack what is compressed or pickled first") from None


def _json_line(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise _wrong(where, "test cases", text, "arguments as JSON, one a line") from None


def _wrong(where: str, name: str, got: object, expected: str) -> DomainError:
    return DomainError(f"{where}: column {name!r} cannot be used", got=f"{got!r:.80}", expected=expected)


_READERS: dict[CodeConvention, Callable[[Row, str, int], CodeExample]] = {
    "mbpp": _mbpp,
    "humaneval": _humaneval,
    "apps": _apps,
    "livecodebench": _livecodebench,
}
