import math
import time

import numpy as np
import pytest

from burnish.evaluation.statistics import (
    bootstrap_mean,
    paired_two_level_bootstrap,
    paired_values,
    two_level_bootstrap,
)

NAN = math.nan
RNG = np.random.default_rng(5)
DOMAINS = [RNG.random(size) for size in (3, 40, 17, 64)]


def test_macro_is_the_mean_of_domain_means_whatever_their_sizes():
    macro = two_level_bootstrap([np.ones(2), np.zeros(50)], resamples=50)
    assert macro.value == 0.5


def test_same_seed_same_interval_and_other_seed_another():
    assert two_level_bootstrap(DOMAINS, seed=3) == two_level_bootstrap(DOMAINS, seed=3)
    assert two_level_bootstrap(DOMAINS, seed=3) != two_level_bootstrap(DOMAINS, seed=4)


def test_resampling_agrees_with_a_plain_implementation():
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(4000):
        chosen = rng.integers(0, len(DOMAINS), len(DOMAINS))
        draws.append(np.mean([rng.choice(DOMAINS[d], len(DOMAINS[d])).mean() for d in chosen]))
    low, high = np.quantile(draws, [0.025, 0.975])
    interval = two_level_bootstrap(DOMAINS, resamples=4000)
    assert interval.low == pytest.approx(low, abs=0.01)
    assert interval.high == pytest.approx(high, abs=0.01)


def test_domains_are_resampled_too():
    # No spread inside a domain: all of the width comes from drawing domains.
    between = two_level_bootstrap([np.full(30, value) for value in (0.0, 0.2, 0.8, 1.0)])
    assert between.low < 0.2
    assert between.high > 0.8


def test_a_single_domain_is_resampled_over_its_tasks():
    values = np.array([0.0, 1.0] * 32)
    interval = two_level_bootstrap([values])
    half = 1.96 * values.std() / math.sqrt(64)
    assert interval.low == pytest.approx(0.5 - half, abs=0.02)


def test_no_outcome_is_left_out_at_every_level():
    with_gaps = [np.array([[1.0, NAN], [0.0, NAN]]), np.full((3, 2), NAN), np.array([1.0, NAN])]
    assert two_level_bootstrap(with_gaps, resamples=20).value == 0.75
    assert math.isnan(two_level_bootstrap([np.array([NAN])]).low)
    assert math.isnan(two_level_bootstrap([]).value)


def test_pairing_removes_what_both_sides_share():
    before = [RNG.random(40) for _ in range(10)]
    after = [values + 0.05 for values in before]
    paired = paired_two_level_bootstrap(before, after, resamples=500)
    assert paired.low == pytest.approx(0.05)
    assert paired.high == pytest.approx(0.05)


def test_difference_is_after_minus_before():
    assert paired_two_level_bootstrap([np.ones(4)], [np.zeros(4)], resamples=10).value == -1.0


def test_pairing_needs_the_same_tasks():
    with pytest.raises(ValueError, match="identical tasks"):
        paired_values(np.zeros(3), np.zeros(4))
    with pytest.raises(ValueError, match="argument"):
        paired_two_level_bootstrap([np.zeros(3)], [])


def test_a_task_without_outcome_on_one_side_is_not_paired():
    differences = paired_values(np.array([1.0, NAN, 0.0]), np.array([1.0, 1.0, 1.0]))
    assert differences[~np.isnan(differences)].tolist() == [0.0, 1.0]


def test_mean_of_few_tasks_is_wider_than_the_plain_percentile():
    values = np.array([0.0, 0.5, 1.0, 0.25, 0.75, 1.0, 0.0, 0.5])
    plain, expanded = two_level_bootstrap([values]), bootstrap_mean(values)
    assert expanded.low < plain.low
    assert expanded.high > plain.high
    assert math.isnan(bootstrap_mean(np.array([0.5])).low)


def test_ten_thousand_resamples_of_twenty_domains_take_under_a_second():
    domains = [RNG.random(64) for _ in range(20)]
    began = time.process_time()
    two_level_bootstrap(domains, resamples=10_000)
    assert time.process_time() - began < 1.0
