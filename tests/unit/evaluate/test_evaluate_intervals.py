import math

import numpy as np
import pytest

from burnish.evaluation.statistics import (
    Interval,
    avg_at_k,
    domain_interval,
    mean_pass_at_k,
    mixed_share,
    pass_at_k,
    task_means,
    wilson,
)

NAN = math.nan


def test_wilson_against_published_numbers():
    # Newcombe 1998 (Statistics in Medicine 17:857), table I, method 3.
    assert wilson(81, 263).low == pytest.approx(0.2553, abs=5e-5)
    assert wilson(81, 263).high == pytest.approx(0.3662, abs=5e-5)
    assert wilson(15, 148).low == pytest.approx(0.0624, abs=5e-5)
    assert wilson(15, 148).high == pytest.approx(0.1605, abs=5e-5)
    assert wilson(0, 20).low == 0.0
    assert wilson(0, 20).high == pytest.approx(0.1611, abs=5e-5)
    assert wilson(29, 29).low == pytest.approx(0.8830, abs=5e-5)
    assert wilson(29, 29).high == 1.0


def test_wilson_widens_with_confidence():
    assert wilson(5, 20, 0.99).low < wilson(5, 20, 0.9).low


def test_no_outcomes_give_no_interval():
    assert math.isnan(wilson(0, 0).value)
    assert wilson(0, 0).to_dict() == {"value": None, "low": None, "high": None}


def test_pass_at_k_by_counting_subsets():
    # 4 samples of which 1 passes: 3 of the 6 pairs hold it.
    assert pass_at_k(4, 1, 2) == pytest.approx(0.5)
    # 5 samples of which 2 pass: 1 of the 10 triples holds neither.
    assert pass_at_k(5, 2, 3) == pytest.approx(0.9)
    assert pass_at_k(8, 0, 8) == 0.0
    assert pass_at_k(8, 3, 1) == pytest.approx(3 / 8)
    assert pass_at_k(8, 6, 3) == 1.0


def test_pass_at_k_is_stable_for_many_samples():
    n, c, k = 10_000, 3, 5_000
    exact = 1 - math.comb(n - c, k) / math.comb(n, k)
    assert pass_at_k(n, c, k) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(("n", "c", "k"), [(4, 1, 5), (4, 5, 1), (4, 1, 0), (4, -1, 1)])
def test_pass_at_k_rejects_impossible_counts(n, c, k):
    with pytest.raises(ValueError, match="pass@k needs"):
        pass_at_k(n, c, k)


def test_mixed_share_by_counting_subsets():
    assert mixed_share(8, 0, 8) == 0.0
    assert mixed_share(8, 8, 8) == 0.0
    assert mixed_share(8, 1, 8) == 1.0
    # 4 samples, 2 pass: of the 6 pairs 4 are mixed.
    assert mixed_share(4, 2, 2) == pytest.approx(4 / 6)


def test_outcomes_that_do_not_exist_are_left_out_and_never_zero():
    outcomes = np.array([[1, NAN, NAN], [0, 1, NAN], [NAN, NAN, NAN]])
    assert task_means(outcomes)[:2].tolist() == [1.0, 0.5]
    assert math.isnan(task_means(outcomes)[2])
    assert avg_at_k(outcomes) == 0.75
    assert domain_interval(outcomes).value == 0.75
    assert domain_interval(np.array([1, 0, NAN])).value == 0.5


def test_mean_pass_at_k_skips_tasks_with_too_few_outcomes():
    outcomes = np.array([[1.0, 0.0], [1.0, NAN], [0.0, 0.0]])
    assert mean_pass_at_k(outcomes, 2) == 0.5
    assert mean_pass_at_k(outcomes, 1) == pytest.approx((0.5 + 1 + 0) / 3)
    assert math.isnan(mean_pass_at_k(outcomes[1:2], 2))


def test_samples_of_one_task_count_less_than_samples_of_many():
    alike = np.repeat(np.array([[0.0], [1.0]] * 8), 8, axis=1)
    apart = np.tile(np.array([[0.0, 1.0] * 4]), (16, 1))
    width = {
        name: domain_interval(x).high - domain_interval(x).low for name, x in [("a", alike), ("b", apart)]
    }
    assert width["a"] > 2 * width["b"]


def test_tasks_that_all_agree_still_have_a_width():
    assert domain_interval(np.zeros((16, 8))) == Interval(0.0, 0.0, pytest.approx(0.22, abs=0.01))


def test_an_interval_holds_its_estimate_at_the_ends():
    for outcomes in (np.ones((3, 2)), np.zeros((1, 4)), np.ones(1), np.array([[1, 0], [1, 1]])):
        interval = domain_interval(outcomes)
        assert 0 <= interval.low <= interval.value <= interval.high <= 1
