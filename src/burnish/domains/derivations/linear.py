"""Linear equations in x, as a policy may write them: their solution, and how far they are from solved."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from fractions import Fraction

from burnish.domains.derivations.terms import MAX_LENGTH, plain
from burnish.rewards.expressions import is_safe_expression

_IMPLIED = re.compile(r"([\d)])\s*(?=[x(])")
"""Where a sign of multiplication is left out: `3x`, `2(x + 1)`."""


@dataclass(frozen=True, slots=True)
class Linear:
    """`scale * x + shift`, integers."""

    scale: int
    shift: int

    def __str__(self) -> str:
        if self.scale == 0:
            return str(self.shift)
        times = {1: "", -1: "-"}.get(self.scale, str(self.scale))
        rest = f" {'+' if self.shift > 0 else '-'} {abs(self.shift)}" if self.shift else ""
        return f"{times}x{rest}"


@dataclass(frozen=True, slots=True)
class EquationFacts:
    """What counts of an equation."""

    solution: Fraction
    brackets: int
    """Products and quotients of a sum that holds x."""
    operations: int
    """Operations and signs on the sides that hold x."""
    numbers: int
    """Numbers and x written."""

    def is_simpler_than(self, other: EquationFacts) -> bool:
        """Whether nothing has grown and something has become less."""
        mine = (self.brackets, self.operations, self.numbers)
        theirs = (other.brackets, other.operations, other.numbers)
        return mine != theirs and all(a <= b for a, b in zip(mine, theirs, strict=True))


def read_equation(text: str) -> EquationFacts | None:
    """What an equation says; None when it is none, is not linear in x, or has not exactly one solution."""
    if len(text) > MAX_LENGTH:
        return None
    read = [_side(side) for side in text.split("=")]
    sides = [side for side in read if side is not None]
    if len(read) != 2 or len(sides) != 2:
        return None
    try:
        (a, b), (c, d) = map(_form, sides)
    except (ValueError, ZeroDivisionError):
        return None
    if a == c:
        return None
    return EquationFacts(
        solution=(d - b) / (a - c),
        brackets=sum(map(_brackets, sides)),
        operations=sum(_operations(side) for side in sides if _holds_x(side)),
        numbers=sum(isinstance(node, ast.Constant | ast.Name) for s in sides for node in ast.walk(s)),
    )


def _side(text: str) -> ast.expr | None:
    text = _IMPLIED.sub(r"\1*", plain(text))
    unreadable = "\n" in text or "\r" in text or "**" in text
    if unreadable or not is_safe_expression(text, frozenset("x"), max_length=2 * MAX_LENGTH):
        return None
    return ast.parse(text, mode="eval").body


def _form(node: ast.expr) -> tuple[Fraction, Fraction]:
    """(a, b) of a * x + b.

    Raises:
        ValueError: not linear.
        ZeroDivisionError: a division by zero.
    """
    match node:
        case ast.Constant(value=int() | float() as number):
            return Fraction(0), Fraction(str(number))
        case ast.Name():
            return Fraction(1), Fraction(0)
        case ast.UnaryOp(op=op, operand=operand):
            a, b = _form(operand)
            return (-a, -b) if isinstance(op, ast.USub) else (a, b)
        case ast.BinOp(left=left, op=op, right=right):
            return _combined(op, _form(left), _form(right))
        case _:
            raise ValueError(f"not linear: {ast.dump(node)}")


def _combined(
    op: ast.operator, left: tuple[Fraction, Fraction], right: tuple[Fraction, Fraction]
) -> tuple[Fraction, Fraction]:
    (a, b), (c, d) = left, right
    match op:
        case ast.Add():
            return a + c, b + d
        case ast.Sub():
            return a - c, b - d
        case ast.Mult() if a == 0 or c == 0:
            return a * d + c * b, b * d
        case ast.Div() if c == 0:
            return a / d, b / d
        case _:
            raise ValueError("not linear")


def _holds_x(node: ast.expr) -> bool:
    return any(isinstance(inner, ast.Name) for inner in ast.walk(node))


def _operations(node: ast.expr) -> int:
    return sum(isinstance(inner, ast.BinOp | ast.UnaryOp) for inner in ast.walk(node))


def _brackets(node: ast.expr) -> int:
    """How many products and quotients have an operand that holds x and is a sum."""
    scaled = [n for n in ast.walk(node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult | ast.Div)]
    operands = [operand for n in scaled for operand in (n.left, n.right) if _holds_x(operand)]
    return sum(any(_is_sum(inner) for inner in ast.walk(operand)) for operand in operands)


def _is_sum(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)
