import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from burnish.evaluation.statistics import (
    domain_interval,
    holm,
    mcnemar,
    mixed_share,
    paired_change,
    pass_at_k,
    two_level_bootstrap,
    wilson,
)

outcome = st.sampled_from([0.0, 1.0, math.nan])
table = st.tuples(st.integers(1, 8), st.integers(1, 5)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=outcome)
)


@given(st.integers(1, 60), st.data())
def test_pass_at_k_equals_its_combinatorial_form(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert pass_at_k(n, c, k) == pytest.approx(1 - math.comb(n - c, k) / math.comb(n, k), abs=1e-12)


@given(st.integers(2, 40), st.data())
def test_pass_at_k_never_falls_with_more_tries_and_mixture_is_a_share(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n - 1))
    assert pass_at_k(n, c, k) <= pass_at_k(n, c, k + 1) + 1e-12
    assert -1e-12 <= mixed_share(n, c, k) <= 1 + 1e-12


@given(st.integers(1, 500), st.data())
def test_wilson_holds_its_estimate_and_mirrors(n, data):
    c = data.draw(st.integers(0, n))
    interval, mirrored = wilson(c, n), wilson(n - c, n)
    assert 0 <= interval.low <= interval.value <= interval.high <= 1
    assert interval.low == pytest.approx(1 - mirrored.high, abs=1e-12)


@given(table)
def test_a_domain_interval_holds_its_estimate_or_is_empty(outcomes):
    interval = domain_interval(outcomes)
    if np.isnan(outcomes).all():
        assert math.isnan(interval.value)
    else:
        assert 0 <= interval.low <= interval.value <= interval.high <= 1


@settings(max_examples=40, deadline=None)
@given(st.lists(table, min_size=1, max_size=4), st.integers(0, 5))
def test_a_macro_interval_stays_inside_its_range(domains, seed):
    interval = two_level_bootstrap(domains, seed=seed, resamples=50)
    if not math.isnan(interval.value):
        assert 0 <= interval.low <= interval.high <= 1


@settings(max_examples=40, deadline=None)
@given(table, st.integers(0, 5))
def test_swapping_before_and_after_negates_the_change(outcomes, seed):
    other = 1 - outcomes[::-1]
    there, p_there = paired_change(outcomes, other, seed=seed, resamples=100)
    back, p_back = paired_change(other, outcomes, seed=seed, resamples=100)
    assert p_there == p_back
    assert there.value == pytest.approx(-back.value, nan_ok=True)


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_is_a_symmetric_probability(lost, gained):
    assert 0 < mcnemar(lost, gained) <= 1
    assert mcnemar(lost, gained) == mcnemar(gained, lost)


@given(st.lists(st.floats(0, 1), max_size=20))
def test_holm_lies_between_the_raw_value_and_bonferroni(p_values):
    for raw, adjusted in zip(p_values, holm(p_values), strict=True):
        assert raw <= adjusted <= min(1.0, raw * len(p_values)) + 1e-12
    order = np.argsort(p_values, kind="stable")
    assert np.all(np.diff(np.array(holm(p_values))[order]) >= 0)
