"""Comparisons of an answer with a reference."""

from __future__ import annotations

import threading
import time

import pytest

from burnish.domains.answers import choice, exact, mathematics, number


@pytest.mark.parametrize("answer", ["12", " 12 ", "12.0", "+12", "$12", "12.", "12%"])
def test_number_in_many_forms(answer: str) -> None:
    assert number(answer, "12")


@pytest.mark.parametrize("answer", ["", "-12", "121", "12 apples", "1 2", "twelve", "1,2", "nan", "9" * 400])
def test_not_that_number(answer: str) -> None:
    assert not number(answer, "12")


def test_thousands_separators() -> None:
    assert number("1,234,567.5", "1234567.5")
    assert not number("1,23,4", "1234")


@pytest.mark.parametrize("answer", ["B", "b", "(B)", "B.", "B) Paris", "B: the capital"])
def test_choice_of_that_letter(answer: str) -> None:
    assert choice(answer, "B")


@pytest.mark.parametrize("answer", ["", "A", "AB", "Because", "B or C", "A, B", "not B"])
def test_no_choice_of_that_letter(answer: str) -> None:
    assert not choice(answer, "B")


def test_exact_ignores_white_space_at_the_ends_only() -> None:
    assert exact(" a b\n", "a b")
    assert not exact("a  b", "a b")
    assert not exact("A b", "a b")


@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("1/2", "0.5"),
        (r"\frac{1}{2}", "1/2"),
        (r"$\frac{2}{4}$", r"\frac{1}{2}"),
        (r"\boxed{42}", "42"),
        ("The answer is 42.", "42"),
        ("x^2 + 2*x + 1", "x^2 + 2*x + 1"),
        ("42.00", "42"),
    ],
)
def test_equal_mathematics(answer: str, reference: str) -> None:
    assert mathematics(answer, reference) is True


@pytest.mark.parametrize(
    "answer", ["", "43", r"\frac{1}{42}", "I don't know", "42 43", "4 2", "[" * 299, "4" * 299]
)
def test_unequal_mathematics(answer: str) -> None:
    assert mathematics(answer, "42") is False


@pytest.mark.parametrize(
    "answer", ["9^{9^{9^{9}}}", "9**9**9**9", "99999999!", "2^{99999999}", "2**(99999999)", "1" * 10_000]
)
def test_explosive_mathematics_is_wrong_at_once(answer: str) -> None:
    start = time.perf_counter()
    assert mathematics(answer, "42") is False
    assert time.perf_counter() - start < 2


def test_mathematics_works_outside_the_main_thread() -> None:
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(mathematics("84/2", "42")))
    thread.start()
    thread.join(30)
    assert found == [True]
