"""Coverage of the intervals by simulation: how often they hold the truth that the data were drawn from."""

import numpy as np
import pytest

from burnish.evaluation.statistics import (
    domain_interval,
    holm,
    paired_change,
    paired_two_level_bootstrap,
    wilson,
)

TRIALS = 300


def beta(rng, mean, correlation, shape):
    """Success rates with a mean, whose samples are correlated inside a task."""
    spread = (1 - correlation) / correlation
    return rng.beta(mean * spread, (1 - mean) * spread, shape)


def share(holds) -> float:
    return sum(holds) / len(holds)


@pytest.mark.parametrize("mean", [0.05, 0.3, 0.9])
def test_wilson_covers(mean):
    passed = np.random.default_rng(0).binomial(48, mean, 2000)
    intervals = [wilson(int(c), 48) for c in passed]
    assert 0.92 <= share([i.low <= mean <= i.high for i in intervals]) <= 0.99


@pytest.mark.parametrize("mean", [0.02, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("correlation", [0.05, 0.4, 0.9])
def test_sampled_accuracy_covers_however_alike_the_samples_of_a_task(mean, correlation):
    rng = np.random.default_rng(1)
    holds = []
    for rates in beta(rng, mean, correlation, (600, 48)):
        outcomes = (rng.random((48, 4)) < rates[:, None]).astype(float)
        interval = domain_interval(outcomes)
        holds.append(interval.low <= mean <= interval.high)
    assert share(holds) >= 0.90


def test_treating_samples_as_independent_would_not_cover():
    rng = np.random.default_rng(2)
    holds = []
    for rates in beta(rng, 0.3, 0.9, (400, 48)):
        passed = int((rng.random((48, 8)) < rates[:, None]).sum())
        interval = wilson(passed, 48 * 8)
        holds.append(interval.low <= 0.3 <= interval.high)
    assert share(holds) < 0.7


def _experiment(rng, domains, gain, spread, tasks=24, samples=4):
    """Before and after on the same tasks; the gain of a domain is drawn around `gain`."""
    gains = gain + spread * rng.standard_normal(domains)
    base = 0.2 + 0.5 * rng.random((domains, tasks))
    moved = np.clip(base + gains[:, None], 0, 1)
    before, after = (
        (rng.random((domains, tasks, samples)) < p[..., None]).astype(float) for p in (base, moved)
    )
    return list(before), list(after)


@pytest.mark.parametrize(("domains", "spread", "least"), [(14, 0.0, 0.95), (14, 0.08, 0.91), (5, 0.03, 0.91)])
def test_macro_difference_covers(domains, spread, least):
    rng = np.random.default_rng(3)
    holds = []
    for trial in range(TRIALS):
        before, after = _experiment(rng, domains, 0.08, spread)
        interval = paired_two_level_bootstrap(before, after, seed=trial, resamples=400)
        holds.append(interval.low <= 0.08 <= interval.high)
    assert share(holds) >= least


def test_interval_of_a_real_macro_gain_mostly_excludes_zero():
    rng = np.random.default_rng(4)
    above = []
    for trial in range(50):
        before, after = _experiment(rng, 14, 0.08, 0.05)
        above.append(paired_two_level_bootstrap(before, after, seed=trial, resamples=400).low > 0)
    assert share(above) > 0.8


@pytest.mark.parametrize("samples", [1, 4])
def test_change_of_a_domain_covers(samples):
    rng = np.random.default_rng(5)
    holds = []
    for trial in range(TRIALS):
        (before,), (after,) = _experiment(rng, 1, 0.1, 0.0, tasks=32, samples=samples)
        if samples == 1:
            before, after = before[:, 0], after[:, 0]
        change, _ = paired_change(before, after, seed=trial, resamples=500)
        holds.append(change.low <= 0.1 <= change.high)
    assert share(holds) >= 0.91


@pytest.mark.parametrize("samples", [1, 4])
def test_p_values_without_a_change_are_rarely_small(samples):
    rng = np.random.default_rng(6)
    small = []
    for trial in range(TRIALS):
        (before,), (after,) = _experiment(rng, 1, 0.0, 0.0, samples=samples)
        if samples == 1:
            before, after = before[:, 0], after[:, 0]
        _, p_value = paired_change(before, after, seed=trial, resamples=400)
        small.append(p_value <= 0.05)
    assert share(small) <= 0.08


def test_holm_keeps_the_chance_of_any_false_alarm():
    uniform = np.random.default_rng(7).random((2000, 20))
    assert share([min(holm(row.tolist())) <= 0.05 for row in uniform]) <= 0.06
