"""Evaluate an expression line by line.

A line is the expression with something more worked out, as a whole (`19 * 3 - 5`), as a chain (`(12 + 7) *
3 - 5 = 19 * 3 - 5 = 57 - 5`), or as the part that is worked out (`12 + 7 = 19`). It is a step when it is
true of what the correct lines before it have left of the expression, and leaves less of it; so there are
never more steps than operations, and true but idle lines such as `1 = 1` or a repetition are worth nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from random import Random

from burnish.domains.derivations.base import Derivation
from burnish.domains.derivations.terms import Node, leaves, numeral, parse, reduces, replace_part

Tree = int | tuple[str, "Tree", "Tree"]
"""A number, or an operator with its operands."""

_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}


@dataclass(frozen=True, slots=True)
class Shape:
    """What expressions of a level look like."""

    operations: tuple[int, int]
    """Fewest and most."""
    operators: str
    numbers: int
    """Largest number."""
    largest: int
    """Largest value on the way."""
    negative: bool = False
    """Whether a value may be below zero."""


SHAPES = (
    Shape((1, 1), "+-", 9, 18),
    Shape((2, 2), "++-", 9, 27),
    Shape((2, 2), "+-*", 12, 150),
    Shape((3, 4), "+-**/", 20, 400),
    Shape((5, 6), "+-**/", 50, 2000, negative=True),
)


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression and what is left of it after each operation."""

    text: str
    lines: tuple[str, ...]
    """The last one is the value."""


@dataclass(frozen=True)
class Arithmetic(Derivation[Expression]):
    """`derivations/arithmetic`."""

    @property
    def name(self) -> str:
        """Full name."""
        return "derivations/arithmetic"

    @property
    def levels(self) -> int:
        """From one operation on digits to six with brackets."""
        return len(SHAPES)

    def make(self, rng: Random, level: int) -> Expression | None:
        """An expression whose values on the way are integers within bounds."""
        shape = SHAPES[level]
        tree = draw_tree(rng, shape, rng.randint(*shape.operations))
        lines: list[str] = []
        rest = tree
        while not isinstance(rest, int):
            worked = work_out_first(rest, shape)
            if worked is None:
                return None
            rest = worked
            lines.append(render(rest))
        return Expression(render(tree), tuple(lines))

    def question(self, exercise: Expression) -> str:
        """The expression."""
        return f"Evaluate {exercise.text}"

    def task_instruction(self) -> str:
        """How a step is written."""
        return (
            "Evaluate the expression line by line: "
            "on each line work out one operation and write what is left."
        )

    def lines(self, exercise: Expression) -> tuple[str, ...]:
        """One operation a line."""
        return exercise.lines

    def marks(self, exercise: Expression, lines: Sequence[str]) -> list[float]:
        """1 for each line that is true and leaves less of the expression."""
        rest = parse(exercise.text)
        assert rest is not None  # noqa: S101 - the text is ours
        marks: list[float] = []
        for line in lines:
            left = after_line(rest, line)
            marks.append(float(left is not None))
            rest = rest if left is None else left
        return marks

    def is_right(self, exercise: Expression, answer: str) -> bool:
        """Whether what stands behind the last equals sign is the value, written as a number."""
        return numeral(answer.rpartition("=")[2]) == numeral(exercise.lines[-1])


def after_line(rest: Node, line: str) -> Node | None:
    """What a line leaves of an expression; None when it is wrong or leaves as much as before."""
    sides = [parse(side) for side in line.removeprefix("=").split("=")]
    first, last = sides[0], sides[-1]
    if first is None or last is None:
        return None
    # Nothing longer than what is left can follow from it, and matching costs exponentially in the length.
    if any(side is not None and leaves(side) > leaves(rest) for side in sides):
        return None
    if not all(a is not None and b is not None and reduces(a, b) for a, b in pairwise(sides)):
        return None
    if reduces(rest, first):
        left = last
    else:
        left = replace_part(rest, first, last) if isinstance(last, Fraction) else None
    return left if left is not None and leaves(left) < leaves(rest) else None


def draw_tree(rng: Random, shape: Shape, operations: int) -> Tree:
    """An expression with a number of operations, of any form."""
    if operations == 0:
        return rng.randint(0 if shape.numbers < 10 else 1, shape.numbers)
    left = rng.randint(0, operations - 1) if len(set(shape.operators)) > 2 else operations - 1
    operator = rng.choice(shape.operators)
    return (operator, draw_tree(rng, shape, left), draw_tree(rng, shape, operations - 1 - left))


def work_out_first(tree: Tree, shape: Shape) -> Tree | None:
    """The expression after its first operation whose operands are numbers; None when out of bounds."""
    if isinstance(tree, int):
        return tree
    operator, left, right = tree
    if isinstance(left, int) and isinstance(right, int):
        return _result(operator, left, right, shape)
    if isinstance(left, int):
        worked = work_out_first(right, shape)
        return None if worked is None else (operator, left, worked)
    worked = work_out_first(left, shape)
    return None if worked is None else (operator, worked, right)


def _result(operator: str, left: int, right: int, shape: Shape) -> int | None:
    if operator == "/":
        if right < 2 or left % right:
            return None
        return left // right
    result = {"+": left + right, "-": left - right, "*": left * right}[operator]
    return result if abs(result) <= shape.largest and (shape.negative or result >= 0) else None


def render(tree: Tree) -> str:
    """The expression with the brackets that it needs."""
    if isinstance(tree, int):
        return str(tree)
    operator, left, right = tree
    binds = _PRECEDENCE[operator]
    first = _bracketed(left, is_open=not isinstance(left, int) and _PRECEDENCE[left[0]] < binds)
    closes = operator in "-/" and not isinstance(right, int) and _PRECEDENCE[right[0]] == binds
    is_looser = not isinstance(right, int) and _PRECEDENCE[right[0]] < binds
    is_negative = isinstance(right, int) and right < 0
    return f"{first} {operator} {_bracketed(right, is_open=closes or is_looser or is_negative)}"


def _bracketed(tree: Tree, *, is_open: bool) -> str:
    return f"({render(tree)})" if is_open else render(tree)
