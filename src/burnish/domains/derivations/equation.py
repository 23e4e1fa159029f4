"""Solve a linear equation line by line.

A line is an equation with the solution of the one asked about. It is a step when it is closer to `x =
number` than every correct line before it: no more brackets around x, operations on the sides that hold x,
or numbers, and fewer of at least one. So no true but idle line (`1 = 1`, both sides times 2, a repetition)
is worth anything, and the number of steps is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from burnish.domains.derivations.base import Derivation
from burnish.domains.derivations.linear import Linear, read_equation
from burnish.domains.derivations.terms import numeral

LEVELS = 5


@dataclass(frozen=True, slots=True)
class Equation:
    """An equation and the ones that lead to its solution."""

    text: str
    lines: tuple[str, ...]
    """The last one is `x = number`."""


@dataclass(frozen=True)
class LinearEquation(Derivation[Equation]):
    """`derivations/equation`."""

    @property
    def name(self) -> str:
        """Full name."""
        return "derivations/equation"

    @property
    def levels(self) -> int:
        """One step, two steps, x on both sides, brackets, fractions."""
        return LEVELS

    def make(self, rng: Random, level: int) -> Equation | None:
        """An equation with one solution."""
        return _MAKERS[level](rng)

    def question(self, exercise: Equation) -> str:
        """The equation."""
        return f"Solve {exercise.text}"

    def task_instruction(self) -> str:
        """How a step is written."""
        return (
            "Solve the equation line by line: on each line write a simpler equation with the same solution."
        )

    def lines(self, exercise: Equation) -> tuple[str, ...]:
        """One change a line."""
        return exercise.lines

    def marks(self, exercise: Equation, lines: Sequence[str]) -> list[float]:
        """1 for each equation with the same solution that is closer to being solved."""
        reached = read_equation(exercise.text)
        assert reached is not None  # noqa: S101 - the text is ours
        marks: list[float] = []
        for line in lines:
            found = read_equation(line)
            is_step = (
                found is not None and found.solution == reached.solution and found.is_simpler_than(reached)
            )
            marks.append(float(is_step))
            reached = found if is_step and found is not None else reached
        return marks

    def is_right(self, exercise: Equation, answer: str) -> bool:
        """Whether it is `x = number`, `number = x` or the number alone, and the right one."""
        sides = [side.strip() for side in answer.split("=")]
        if len(sides) == 2 and "x" in sides:
            sides.remove("x")
        return len(sides) == 1 and numeral(sides[0]) == numeral(exercise.lines[-1].removeprefix("x = "))


def _one_step(rng: Random) -> Equation:
    shift, root = rng.choice((1, -1)) * rng.randint(1, 9), rng.randint(0, 9)
    return Equation(f"{Linear(1, shift)} = {root + shift}", (f"x = {root}",))


def _two_steps(rng: Random) -> Equation:
    scale, root = rng.randint(2, 9), rng.randint(1, 12)
    shift = rng.choice((0, 1, -1, 1, -1)) * rng.randint(1, 20)
    start = f"{Linear(scale, shift)} = {scale * root + shift}"
    lines = _solved(Linear(scale, shift), Fraction(scale * root + shift))
    return Equation(start, lines)


def _both_sides(rng: Random) -> Equation | None:
    left, right = (Linear(rng.randint(2, 9), rng.choice((1, -1)) * rng.randint(1, 20)) for _ in range(2))
    return _from_sides(str(left), str(right), left, right)


def _brackets(rng: Random) -> Equation | None:
    times, inner = (
        rng.randint(2, 6),
        Linear(rng.choice((1, 1, 2, 3)), rng.choice((1, -1)) * rng.randint(1, 9)),
    )
    right = Linear(rng.choice((0, *range(1, 8))), rng.randint(1, 40))
    left = Linear(times * inner.scale, times * inner.shift)
    made = _from_sides(f"{times}({inner})", str(right), left, right)
    return None if made is None else Equation(made.text, (f"{left} = {right}", *made.lines))


def _fractions(rng: Random) -> Equation | None:
    times, over = rng.randint(2, 6), rng.randint(2, 5)
    inner = Linear(rng.randint(1, 4), rng.choice((1, -1)) * rng.randint(1, 9))
    added, right = rng.randint(1, 9), Linear(rng.randint(1, 7), rng.choice((1, -1)) * rng.randint(1, 20))
    left = Linear(times * inner.scale, times * inner.shift + added)
    made = _from_sides("", "", left, Linear(over * right.scale, over * right.shift), whole=False)
    if made is None:
        return None
    text = f"({times}({inner}) + {added})/{over} = {right}"
    opened = (f"({left})/{over} = {right}", f"{left} = {Linear(over * right.scale, over * right.shift)}")
    return Equation(text, (*opened, *made.lines))


_MAKERS = (_one_step, _two_steps, _both_sides, _brackets, _fractions)


def _from_sides(
    shown: str, other: str, left: Linear, right: Linear, *, whole: bool = True
) -> Equation | None:
    """An equation between two sides; None without exactly one solution, or without a tidy one."""
    scale, value = left.scale - right.scale, right.shift - left.shift
    if scale == 0 or (whole and value % scale) or abs(Fraction(value, scale)) > 40:
        return None
    gathered = Linear(scale, left.shift)
    solved = _solved(gathered, Fraction(right.shift))
    is_extra = right.scale != 0 and gathered != Linear(1, 0)
    first = (f"{gathered} = {right.shift}",) if is_extra else ()
    return Equation(f"{shown} = {other}", (*first, *solved))


def _solved(left: Linear, right: Fraction) -> tuple[str, ...]:
    """The lines from `left = right` to the solution."""
    moved = right - left.shift
    lines = [f"{Linear(left.scale, 0)} = {moved}"] if left.shift and left.scale != 1 else []
    return (*lines, f"x = {moved / left.scale}")
