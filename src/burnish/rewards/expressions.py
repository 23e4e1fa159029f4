"""A gate for formulas written by a model: only arithmetic that is cheap to evaluate gets through.

Parsers of computer algebra systems evaluate Python, so what a policy writes must never reach one unread.
The gate reads the syntax tree and knows numbers, the given names, + - * / **, signs, and calls of the
given one-argument functions. Covered: attribute access, imports, any other call, huge literals, and
towers of powers such as 9**9**9. Not covered: formulas that are harmless but slow to simplify; a time
limit is for those.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Set
from fractions import Fraction

MAX_POWER = 1000
"""Largest product of nested exponents."""
MAX_DIGITS = 30
"""Most characters of one number, unless the caller allows more."""

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_SIGNS = (ast.UAdd, ast.USub)


def is_safe_expression(
    text: str,
    names: Set[str] = frozenset(),
    functions: Set[str] = frozenset(),
    *,
    max_length: int = 500,
    max_digits: int = MAX_DIGITS,
) -> bool:
    """Whether `text` is one formula over `names` and `functions` that is cheap to evaluate."""
    if len(text) > max_length or re.search(rf"[\d.]{{{max_digits + 1}}}", text):
        return False
    tree = _parse(text)
    return tree is not None and _is_safe(tree, names, functions, MAX_POWER)


def exact_value(text: str, max_length: int = 200) -> Fraction | None:
    """The exact value of plain arithmetic without powers; None when it is something else or undefined."""
    if not is_safe_expression(text, max_length=max_length):
        return None
    tree = _parse(text)
    if tree is None or any(isinstance(node, ast.Pow) for node in ast.walk(tree)):
        return None
    try:
        return _value(tree)
    except ZeroDivisionError:
        return None


def _parse(text: str) -> ast.expr | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_safe(node: ast.expr, names: Set[str], functions: Set[str], power: int) -> bool:  # noqa: PLR0911
    """Whether a subtree is safe where nested exponents may still multiply to `power`."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return not isinstance(number, bool) and not math.isinf(number)
        case ast.Name(id=name):
            return name in names
        case ast.UnaryOp(op=op, operand=operand):
            return isinstance(op, _SIGNS) and _is_safe(operand, names, functions, power)
        case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
            return _is_safe_power(base, exponent, names, functions, power)
        case ast.BinOp(left=left, op=op, right=right):
            parts_are_safe = all(_is_safe(side, names, functions, power) for side in (left, right))
            return isinstance(op, _OPERATORS) and parts_are_safe
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
            return name in functions and _is_safe(argument, names, functions, power)
        case _:
            return False


def _is_safe_power(
    base: ast.expr, exponent: ast.expr, names: Set[str], functions: Set[str], power: int
) -> bool:
    """A power is safe over a bare name, or when its exponent is a small number."""
    if not _is_safe(exponent, names, functions, power):
        return False
    if isinstance(base, ast.Name):
        return base.id in names
    size = exact_value(ast.unparse(exponent))
    if size is None or abs(size) > power:
        return False
    return _is_safe(base, names, functions, int(power / max(1, abs(size))))


def _value(node: ast.expr) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as number):
            return Fraction(str(number))
        case ast.UnaryOp(op=op, operand=operand):
            return -_value(operand) if isinstance(op, ast.USub) else _value(operand)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _value(left), _value(right)
            if isinstance(op, ast.Add):
                return a + b
            if isinstance(op, ast.Sub):
                return a - b
            return a * b if isinstance(op, ast.Mult) else a / b
        case _:
            raise ValueError(f"not plain arithmetic: {ast.dump(node)}")
