"""What is let through to a parser that evaluates, and what is not."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest

from burnish.rewards.expressions import exact_value, is_safe_expression

NAMES, FUNCTIONS = {"x", "C", "E"}, {"sin", "exp"}


@pytest.mark.parametrize(
    "text",
    [
        "1",
        "-3*x**2 + C",
        "sin(2*x)/4",
        "exp(-x)*(x - 1)",
        "x**(1/2)",
        "x**(-3)",
        "2**10",
        "E**x",
        "(x+1)**12",
        "x**(2*x)",
    ],
)
def test_formulas_pass(text: str) -> None:
    assert is_safe_expression(text, NAMES, FUNCTIONS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "y",
        "x.real",
        "Integral(x, x)",
        "open('f')",
        "().__class__",
        "[x]",
        "(x, x)",
        "x if x else x",
        "lambda: x",
        "f'{x}'",
        "'x'",
        "True",
        "x == x",
        "x @ x",
        "x // 2",
        "sin(x, x)",
        "sin(*x)",
        "sin(x=x)",
        "x := 2",
        "1; 2",
        "x +",
        "9**9**9",
        "9**9999",
        "((9**100)**100)**100",
        "9**(x-x+99999999)",
        "x**(9**9**9)",
        "(1+x)**x",
        "1" * 31,
        "x+" * 300 + "x",
        "1e999",
        "x!",
    ],
)
def test_anything_else_does_not(text: str) -> None:
    start = time.perf_counter()
    assert not is_safe_expression(text, NAMES, FUNCTIONS)
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    ("text", "value"),
    [("(1 + 2) * 3", 9), ("7/2", Fraction(7, 2)), ("-(4 - 6)", 2), ("8/(3-8/3)", 24), ("1.5*2", 3)],
)
def test_arithmetic_is_exact(text: str, value: Fraction) -> None:
    assert exact_value(text) == value


@pytest.mark.parametrize("text", ["1/0", "x", "2**3", "1+", "", "max(1)", "1,2", "10//3", "9" * 40])
def test_no_value(text: str) -> None:
    assert exact_value(text) is None
