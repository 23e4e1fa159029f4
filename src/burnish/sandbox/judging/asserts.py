"""Reading tests that are written as code: assert statements, `check(candidate)`, and pytest modules.

`assert f(1, 2) == 3`, `assert f(x)` and `assert not f(x)` with literal arguments become calls whose answers
are compared outside any jail. Everything else becomes a test for a jail of its own, in which the candidate's
functions are stand-ins. Nothing of a test is ever run here.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from burnish.sandbox.judging.checks import CallCheck, Suite, TestProgram
from burnish.sandbox.judging.values import EXACT, PYTHON, Rule
from burnish.sandbox.records import Call, Plain, SandboxError

Use = Literal["call", "value"]
_BUILTINS = frozenset(vars(builtins))
_SINGLE = {"None": None, "True": True, "False": False}
_TABLES = {"set": set, "frozenset": frozenset, "list": list, "tuple": tuple}


class _NotPlain(ValueError):
    """An expression that is not a literal."""


def read_asserts(
    statements: Sequence[str], setup: str = "", public: int = 0, own: frozenset[str] = frozenset()
) -> Suite:
    """The checks of assert statements.

    Args:
        statements: one or more statements each.
        setup: imports and helpers that the statements need; never from the candidate.
        public: how many of the first statements the prompt shows.
        own: names that belong to the candidate although Python has them too, such as a function `sum`.

    Raises:
        SandboxError: a statement, or the setup, is not Python; or there is none.
    """
    if not statements:
        raise SandboxError("there are no tests", expected="at least one assert statement")
    parsed = [_parsed(text, f"test {number}") for number, text in enumerate(statements, start=1)]
    bound = _bound(_parsed(setup, "the setup of the tests")) | (_BUILTINS - own)
    calls: list[CallCheck] = []
    rest: list[int] = []
    for number, tree in enumerate(parsed):
        check = _simple(tree.body, f"test {number + 1}", bound, public=number < public)
        if check is None:
            rest.append(number)
        else:
            calls.append(check)
    trees = [parsed[number] for number in rest]
    tests = TestProgram(
        tests=tuple(statements[number] for number in rest),
        names=_names(trees, bound),
        setup=setup,
        modules=_modules(trees, bound),
        labels=tuple(f"test {number + 1}" for number in rest),
        public=frozenset(place for place, number in enumerate(rest) if number < public),
    )
    return Suite(calls=tuple(calls), tests=tests if rest else None)


def read_check(source: str, entry_point: str) -> Suite:
    """The checks of a module that defines `check(candidate)`, as HumanEval has it.

    Raises:
        SandboxError: not Python, or no function `check`.
    """
    tree = _parsed(source, "the test")
    check = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "check"), None)
    if check is None or len(check.args.args) != 1:
        raise SandboxError(
            "the test defines no check(candidate)", got=source[:80], expected="def check(candidate):"
        )
    simple = _simple_check(check, entry_point)
    if simple:
        return Suite(calls=tuple(simple))
    tests = TestProgram((f"check({entry_point})",), {entry_point: "call"}, setup=source, labels=("check",))
    return Suite(tests=tests)


def read_pytest(source: str, module: str = "solution") -> Suite:
    """The tests of a pytest or unittest module that imports the candidate as `module`.

    Raises:
        SandboxError: not Python, or no test.
    """
    tree = _parsed(source, "the test module")
    names = dict(_imported(tree, module))
    paths = list(_test_paths(tree))
    if not paths or not names:
        raise SandboxError(
            "the test module has no tests" if names else f"the test module imports nothing from {module!r}",
            expected=f"`from {module} import ...` and functions called test_...",
        )
    statements = tuple(f"burnish_run({path!r})" for path in paths)
    return Suite(tests=TestProgram(statements, names, source, (), module, tuple(paths)))


def _parsed(source: str, what: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SandboxError(
            f"{what} is not Python: {error}", got=f"{source!r:.80}", next_step="correct or remove the row"
        ) from None


def _simple(body: list[ast.stmt], name: str, bound: frozenset[str], *, public: bool) -> CallCheck | None:
    """The check that a single assert statement makes, when it is of a simple form."""
    if len(body) != 1 or not isinstance(body[0], ast.Assert):
        return None
    test = body[0].test
    try:
        if isinstance(test, ast.Compare):
            call, expected, rule = _compared(test, bound)
            return CallCheck(name, call, expected, rule, public=public)
        negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        call = _call(test.operand if negated and isinstance(test, ast.UnaryOp) else test, bound)
        return CallCheck(name, call, not negated, EXACT, truth=True, public=public)
    except _NotPlain:
        return None


def _simple_check(check: ast.FunctionDef, entry_point: str) -> list[CallCheck]:
    """The checks in the body of `check(candidate)`; none when one of them is not simple."""
    candidate, found = check.args.args[0].arg, []
    for statement in check.body:
        if _says_nothing(statement):
            continue
        one = _simple([statement], f"assert {len(found) + 1}", _BUILTINS, public=False)
        if one is None or one.call.function != candidate:
            return []
        call = Call(entry_point, one.call.args, one.call.kwargs)
        found.append(CallCheck(one.name, call, one.expected, one.rule, one.truth))
    return found


def _says_nothing(statement: ast.stmt) -> bool:
    """A docstring, `pass`, or `assert True`."""
    if isinstance(statement, ast.Assert):
        return isinstance(statement.test, ast.Constant) and statement.test.value is True
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _compared(test: ast.Compare, bound: frozenset[str]) -> tuple[Call, Plain, Rule]:
    """`f(x) == value` either way round, and `f(x) is None`, `True` or `False`."""
    if len(test.ops) != 1:
        raise _NotPlain
    left, right, operator = test.left, test.comparators[0], test.ops[0]
    if isinstance(operator, ast.Is) and isinstance(right, ast.Constant) and str(right.value) in _SINGLE:
        return _call(left, bound), _SINGLE[str(right.value)], EXACT
    if not isinstance(operator, ast.Eq):
        raise _NotPlain
    try:
        return _call(left, bound), _plain(right), PYTHON
    except _NotPlain:
        return _call(right, bound), _plain(left), PYTHON


def _call(node: ast.expr, bound: frozenset[str]) -> Call:
    """A call of a function of the candidate with literal arguments."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise _NotPlain
    name = node.func.id
    if name in bound or any(keyword.arg is None for keyword in node.keywords):
        raise _NotPlain
    args = tuple(_plain(arg) for arg in node.args)
    return Call(name, args, {str(keyword.arg): _plain(keyword.value) for keyword in node.keywords})


def _plain(node: ast.expr) -> Plain:
    """The value of a literal; also of `set(...)` and its like, and of `float("inf")`."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        pass
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords:
        raise _NotPlain
    values = [_plain(arg) for arg in node.args]
    try:
        if node.func.id == "float" and values in (["inf"], ["-inf"]):
            return float(str(values[0]))
        return _TABLES[node.func.id](*values)
    except (KeyError, TypeError):
        raise _NotPlain from None


def _bound(tree: ast.AST) -> frozenset[str]:
    """Names that code defines: assigned, imported, or given to a function, class or parameter."""
    return frozenset(_bindings(tree))


def _bindings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def _free(trees: Iterable[ast.AST], bound: frozenset[str]) -> Iterator[tuple[str, Use]]:
    """Names that code uses and does not define, with each use."""
    for tree in trees:
        own = bound | _bound(tree)
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own:
                yield node.id, "call" if id(node) in called else "value"


def _names(trees: Sequence[ast.AST], bound: frozenset[str]) -> dict[str, Use]:
    """What belongs to the candidate: free names, unless one is a module of the library and not called."""
    names: dict[str, Use] = {}
    for name, use in _free(trees, bound):
        names[name] = "value" if "value" in (use, names.get(name)) else "call"
    return {name: use for name, use in names.items() if use == "call" or name not in sys.stdlib_module_names}


def _modules(trees: Sequence[ast.AST], bound: frozenset[str]) -> tuple[str, ...]:
    """Modules of the library used without an import; the candidate's word for them is not taken."""
    used = {name for name, use in _free(trees, bound) if use == "value"}
    return tuple(sorted(used & sys.stdlib_module_names))


def _imported(tree: ast.Module, module: str) -> Iterator[tuple[str, Use]]:
    """What a test module takes from the candidate, and whether it is only ever called or passed on."""
    local = _names([ast.Module([n for n in tree.body if not _imports(n, module)], [])], _BUILTINS)
    aliases: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == module:
            for alias in node.names:
                yield alias.name, local.get(alias.asname or alias.name, "call")
        elif isinstance(node, ast.Import):
            aliases |= {alias.asname or alias.name for alias in node.names if alias.name == module}
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            yield node.attr, "call" if id(node) in called else "value"


def _imports(node: ast.stmt, module: str) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == module


def _test_paths(tree: ast.Module) -> Iterator[str]:
    """`test_x` and `TestX::test_y`, in the order of the file."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            methods = (part for part in node.body if isinstance(part, ast.FunctionDef))
            yield from (f"{node.name}::{m.name}" for m in methods if m.name.startswith("test"))
