"""Comparators of values: each written rule, and agreement with Python's own `==` where they should agree."""

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.sandbox.judging.values import CLOSE, EXACT, PYTHON, UNORDERED, Rule, same

numbers = st.one_of(
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.floats(allow_nan=False),
    st.sampled_from([0.0, -0.0, 1.0, 2.0, math.inf, -math.inf, 2.0**60, 2**60, 2**60 + 1, 1 + 0j, 1j]),
)
keys = st.one_of(numbers, st.text(max_size=2), st.none(), st.tuples(numbers, numbers), st.frozensets(numbers))
plain = st.recursive(
    st.one_of(keys, st.binary(max_size=2)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(keys, inner, max_size=3),
        st.sets(keys, max_size=3),
    ),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None)
@given(plain, plain)
def test_the_python_rule_is_the_equality_of_python(one, other):
    assert same(one, other, PYTHON) == (one == other)
    assert same(one, one, PYTHON)
    assert same(one, one, EXACT)


@settings(max_examples=300, deadline=None)
@given(st.lists(plain, max_size=5), st.randoms())
def test_order_does_not_count_when_unordered(members, random):
    shuffled = list(members)
    random.shuffle(shuffled)
    assert same(shuffled, members, UNORDERED)
    assert same(tuple(shuffled), tuple(members), UNORDERED)
    assert not same([*shuffled, 0], members, UNORDERED)


@settings(max_examples=300, deadline=None)
@given(st.lists(numbers, max_size=4), st.lists(numbers, max_size=4))
def test_unordered_numbers_are_equal_as_multisets(one, other):
    rule = Rule(unordered=True, bool_is_int=True)
    rest = list(other)
    for value in one:
        if value in rest:
            rest.remove(value)
    assert same(one, other, rule) == (len(one) == len(other) and not rest)


@pytest.mark.parametrize(
    ("answer", "expected", "rule", "right"),
    [
        ([1], (1,), EXACT, False),
        ([1], (1,), CLOSE, True),
        ("1", 1, PYTHON, False),
        (1, "1", PYTHON, False),
        (b"a", "a", PYTHON, False),
        (None, 0, PYTHON, False),
        (None, False, PYTHON, False),
        ("", None, PYTHON, False),
        ({1, 2}, frozenset({2, 1}), EXACT, True),
        (True, 1, EXACT, False),
        (1, True, EXACT, False),
        (True, 1, PYTHON, True),
        ({True: "x"}, {1: "x"}, EXACT, False),
        ({True: "x"}, {1: "x"}, PYTHON, True),
        ({True}, {1}, EXACT, False),
        ([True], [1], EXACT, False),
        (1, 1.0, EXACT, True),
        (2**53 + 1, float(2**53), EXACT, False),
        (10**400, 1.5, CLOSE, False),
        (10**400, math.inf, CLOSE, False),
        (math.nan, math.nan, EXACT, False),
        (math.nan, 1.0, CLOSE, False),
        (1.0, math.nan, CLOSE, False),
        (math.nan, math.nan, Rule(nan_equal=True), True),
        (1.0, math.nan, Rule(nan_equal=True), False),
        ([math.nan, 1], [1, math.nan], UNORDERED, False),
        ([math.nan, 1], [1, math.nan], Rule(nan_equal=True, unordered=True), True),
        (-0.0, 0.0, EXACT, True),
        (math.inf, math.inf, EXACT, True),
        (math.inf, -math.inf, CLOSE, False),
        (math.inf, 1e308, Rule(relative=10.0), False),
        (0.1 + 0.2, 0.3, EXACT, False),
        (0.1 + 0.2, 0.3, CLOSE, True),
        (0.3001, 0.3, CLOSE, False),
        (100, 101, Rule(absolute=5.0), False),
        (100, 101.0, Rule(absolute=5.0), True),
        ([1.0000001], [1.0], CLOSE, True),
        ({"a": 1.0000001}, {"a": 1.0}, CLOSE, True),
        (1 + 1e-9j, 1 + 0j, CLOSE, True),
        (1 + 1j, 1 + 0j, CLOSE, False),
        ("é", "e\u0301", EXACT, False),
        ("a ", "a", EXACT, False),
        ([1, 1, 2], [1, 2, 2], UNORDERED, False),
        ([[1, 2]], [[2, 1]], UNORDERED, False),
        ([[2, 1], [1, 2]], [[1, 2], [2, 1]], UNORDERED, True),
        ((1, 2), [1, 2], UNORDERED, False),
        ([1.0, 2], [2.0, 1], UNORDERED, True),
        ([True, 0], [0, 1], UNORDERED, False),
    ],
)
def test_written_rules(answer, expected, rule, right):
    assert same(answer, expected, rule) is right


def test_an_answer_cannot_make_a_comparison_expensive():
    long = list(range(200_000))
    start = time.perf_counter()
    for expected in ([1, 2], (1, 2), {1, 2}, {1: 2}, 5, "x", None):
        assert not same(long, expected, UNORDERED)
        assert not same(long, expected, CLOSE)
    assert time.perf_counter() - start < 0.5
