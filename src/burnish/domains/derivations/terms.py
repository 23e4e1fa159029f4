"""Exact arithmetic on what a policy wrote: expressions as nested sums and products, and their reductions.

A sum is its terms with signs and a product its factors with exponents 1 and -1, both flattened, so the order
of evaluation and redundant brackets make no difference. Only formulas that pass the gate of
`rewards/expressions.py` are read; powers, names and lines of more than `MAX_LENGTH` characters are not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import gcd, prod
from typing import Literal

from burnish.rewards.expressions import is_safe_expression

MAX_LENGTH = 200
"""Longer lines are wrong unread."""

_SIGNS = str.maketrans({"−": "-", "×": "*", "·": "*", "÷": "/"})
_NUMERAL = re.compile(r"([+-]?\s*\d{1,30}(?:\.\d{1,30})?)(?:\s*/\s*(\d{1,30}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Compound:
    """A sum, whose parts carry signs, or a product, whose parts carry exponents."""

    kind: Literal["sum", "product"]
    parts: tuple[Part, ...]


Node = Fraction | Compound
Part = tuple[int, Node]
"""(1 or -1, node); a number in a sum has its sign within."""


def plain(text: str) -> str:
    """A formula with ASCII operators."""
    return text.translate(_SIGNS).strip()


def numeral(text: str) -> Fraction | None:
    """A number that is written out: an integer, a decimal, or a fraction in lowest terms; else None."""
    found = _NUMERAL.fullmatch(plain(text)) if len(text) <= MAX_LENGTH else None
    if found is None:
        return None
    above = Fraction(found[1].replace(" ", ""))
    if found[2] is None:
        return above
    below = int(found[2])
    is_lowest = above.denominator == 1 and below > 1 and gcd(above.numerator, below) == 1
    return above / below if is_lowest else None


def parse(text: str) -> Node | None:
    """A formula over numbers with + - * / and brackets; None when it is something else."""
    text = plain(text)
    if "\n" in text or "\r" in text or "**" in text or not is_safe_expression(text, max_length=MAX_LENGTH):
        return None
    return _node(ast.parse(text, mode="eval").body)


def value(node: Node) -> Fraction | None:
    """The exact value; None when it divides by zero."""
    try:
        return _value(node)
    except ZeroDivisionError:
        return None


def leaves(node: Node) -> int:
    """How many numbers are written; one more than there are operations."""
    return 1 if isinstance(node, Fraction) else sum(leaves(part) for _, part in node.parts)


def reduces(old: Node, new: Node) -> bool:
    """Whether `new` is `old` with some of its parts, or none, worked out.

    Terms and factors may be regrouped and reordered; terms of 0 and factors of 1 may be left out.
    """
    total = value(old)
    if total is None or total != value(new):
        return False
    if isinstance(new, Fraction):
        return True
    if isinstance(old, Fraction):
        return False
    parts = new.parts if new.kind == old.kind else ((1, new),)
    return len(parts) <= len(old.parts) and _covers(old.kind, old.parts, parts)


def replace_part(node: Node, part: Node, number: Fraction) -> Node | None:
    """`node` with `part`, which stands in it, replaced by a number; None when it does not stand in it."""
    if isinstance(node, Fraction) or isinstance(part, Fraction):
        return None
    group = part.parts if part.kind == node.kind else ((1, part),)
    for sign in (1, -1):
        rest = _without(node.parts, [_signed(node.kind, sign * s, p) for s, p in group])
        if rest is not None:
            return _compound(node.kind, [*rest, (sign, number)])
    for at, (sign, inner) in enumerate(node.parts):
        replaced = replace_part(inner, part, number)
        if replaced is not None:
            return _compound(node.kind, [*node.parts[:at], (sign, replaced), *node.parts[at + 1 :]])
    return None


def _node(tree: ast.expr) -> Node:
    match tree:
        case ast.Constant(value=int() | float() as number):
            return Fraction(str(number))
        case ast.UnaryOp(op=op, operand=operand):
            return _compound("sum", [(-1 if isinstance(op, ast.USub) else 1, _node(operand))])
        case ast.BinOp(left=left, op=op, right=right):
            kind = "sum" if isinstance(op, ast.Add | ast.Sub) else "product"
            second = -1 if isinstance(op, ast.Sub | ast.Div) else 1
            return _compound(kind, [(1, _node(left)), (second, _node(right))])
        case _:
            raise ValueError(f"not plain arithmetic: {ast.dump(tree)}")


def _compound(kind: Literal["sum", "product"], parts: Sequence[Part]) -> Node:
    """Parts of the same kind flattened; a single part is no compound."""
    flat = tuple(chain.from_iterable(_flat(kind, sign, part) for sign, part in parts))
    if len(flat) == 1 and flat[0][0] == 1:
        return flat[0][1]
    return Compound(kind, flat)


def _flat(kind: str, sign: int, part: Node) -> list[Part]:
    if isinstance(part, Compound) and part.kind == kind:
        return [_signed(kind, sign * inner, node) for inner, node in part.parts]
    return [_signed(kind, sign, part)]


def _signed(kind: str, sign: int, part: Node) -> Part:
    return (1, sign * part) if kind == "sum" and isinstance(part, Fraction) else (sign, part)


def _value(node: Node) -> Fraction:
    return node if isinstance(node, Fraction) else _combined(node.kind, node.parts)


def _combined(kind: str, parts: Sequence[Part]) -> Fraction:
    if kind == "sum":
        return sum((sign * _value(part) for sign, part in parts), Fraction(0))
    return prod((_value(part) ** sign for sign, part in parts), start=Fraction(1))


def _covers(kind: str, old: Sequence[Part], new: Sequence[Part]) -> bool:
    """Whether each new part is a group of old parts worked out; left-over parts change nothing."""
    if not new:
        return _combined(kind, old) == (0 if kind == "sum" else 1)
    at_most = 1 if isinstance(new[0][1], Compound) else len(old)
    for size in range(1, at_most + 1):
        for chosen in combinations(range(len(old)), size):
            group = [old[at] for at in chosen]
            rest = [part for at, part in enumerate(old) if at not in chosen]
            if _becomes(kind, group, new[0]) and _covers(kind, rest, new[1:]):
                return True
    return False


def _becomes(kind: str, group: Sequence[Part], new: Part) -> bool:
    sign, node = new
    if isinstance(node, Fraction):
        return _combined(kind, group) == _combined(kind, [new])
    return group[0][0] == sign and reduces(group[0][1], node)


def _without(parts: Sequence[Part], group: Sequence[Part]) -> list[Part] | None:
    """Parts without a group of them; None when one is missing."""
    rest = list(parts)
    for part in group:
        if part not in rest:
            return None
        rest.remove(part)
    return rest
