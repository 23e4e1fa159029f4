import itertools
import math

import numpy as np
import pytest

from burnish.evaluation.statistics import (
    holm,
    mcnemar,
    paired_change,
    sign_flip,
    significantly_better,
    significantly_worse,
    square_and_add,
)

NAN = math.nan


def test_mcnemar_by_hand():
    # 8 changes, all gains: 2 * (1/2)^8.
    assert mcnemar(0, 8) == pytest.approx(2 / 256)
    # 1 loss and 5 gains: 2 * (1 + 6) / 64.
    assert mcnemar(1, 5) == mcnemar(5, 1) == pytest.approx(14 / 64)
    assert mcnemar(3, 3) == 1.0
    assert mcnemar(0, 0) == 1.0


def test_sign_flip_agrees_with_full_enumeration():
    moved = np.array([0.5, 0.25, -0.125, 0.75, 0.5, 0.25, 0.625])
    flips = [abs(np.dot(signs, moved)) for signs in itertools.product((-1, 1), repeat=len(moved))]
    exact = np.mean([flipped >= moved.sum() - 1e-9 for flipped in flips])
    assert sign_flip(moved, resamples=20_000) == pytest.approx(exact, abs=0.005)


def test_sign_flip_of_single_outcomes_is_mcnemar():
    moved = np.array([1.0] * 9 + [-1.0] * 2 + [0.0] * 20 + [NAN])
    assert sign_flip(moved, resamples=20_000) == pytest.approx(mcnemar(2, 9), abs=0.01)


def test_sign_flip_of_no_change_is_one():
    assert sign_flip(np.zeros(5)) == 1.0
    assert sign_flip(np.array([])) == 1.0


def test_holm_by_hand():
    # Sorted .01, .02, .03, .04 times 4, 3, 2, 1, made monotone.
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


def test_worse_and_better_are_named_after_correction_most_changed_first():
    changes = {"a": -0.1, "b": -0.4, "c": 0.5, "d": -0.2, "e": 0.0}
    p_values = {"a": 0.02, "b": 0.001, "c": 0.002, "d": 0.0001, "e": 1.0}
    # .02 is the fourth smallest of five: twice that is above .03.
    assert significantly_worse(changes, p_values, alpha=0.03) == ["b", "d"]
    assert significantly_worse(changes, p_values, alpha=0.05) == ["b", "d", "a"]
    assert significantly_better(changes, p_values, alpha=0.03) == ["c"]


def _pairs(both: int, lost: int, gained: int, neither: int) -> tuple[np.ndarray, np.ndarray]:
    cells = [(1, 1)] * both + [(1, 0)] * lost + [(0, 1)] * gained + [(0, 0)] * neither
    before, after = np.array(cells, np.float64).T
    return before, after


@pytest.mark.parametrize(
    ("table", "low", "high"),
    [
        # Newcombe 1998 (Statistics in Medicine 17:2635), table III, method 10.
        ((36, 12, 2, 0), 0.0569, 0.3404),
        ((20, 12, 2, 16), 0.0562, 0.3290),
        ((0, 0, 0, 54), -0.0664, 0.0664),
        ((54, 0, 0, 0), -0.0664, 0.0664),
        ((0, 54, 0, 0), 0.9061, 1.0),
    ],
)
def test_square_and_add_against_published_numbers(table, low, high):
    before, after = _pairs(*table)
    interval = square_and_add(after, before)  # Newcombe subtracts the second rate from the first.
    assert interval.low == pytest.approx(low, abs=6e-4)
    assert interval.high == pytest.approx(high, abs=6e-4)


def test_greedy_change_uses_the_exact_test():
    before, after = _pairs(3, 1, 9, 5)
    change, p_value = paired_change(before, after)
    assert change.value == pytest.approx(8 / 18)
    assert p_value == mcnemar(1, 9)


def test_sampled_change_that_is_the_same_everywhere_keeps_a_width():
    change, p_value = paired_change(np.zeros((16, 8)), np.zeros((16, 8)))
    assert change.value == 0
    assert change.low < 0 < change.high
    assert p_value == 1.0


def test_sampled_change_brackets_its_estimate():
    rng = np.random.default_rng(2)
    before = (rng.random((32, 8)) < 0.2).astype(float)
    after = (rng.random((32, 8)) < 0.6).astype(float)
    change, p_value = paired_change(before, after)
    assert 0 < change.low < change.value < change.high
    assert p_value < 0.001


def test_a_domain_without_any_paired_outcome_has_no_change():
    change, p_value = paired_change(np.array([NAN, 1.0]), np.array([1.0, NAN]))
    assert math.isnan(change.value)
    assert p_value == 1.0
