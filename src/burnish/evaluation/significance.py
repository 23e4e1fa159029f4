"""Paired tests and intervals for one domain, and the correction for looking at many domains.

Test of a difference, by kind of outcome:
- one greedy outcome a task: McNemar's exact test, the closed form of the sign-flip test for 0/1 outcomes;
- several samples a task: the sign-flip test on the differences of task means.
Interval of a difference:
- greedy: the square-and-add interval of Newcombe (1998, method 10), which keeps a width where no task
  changed, and where the bootstrap of a 0/1 outcome covers as little as 62% with 16 tasks;
- sampled: expanded percentile bootstrap over tasks; square-and-add where every task moved alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from burnish.evaluation.bootstrap import bootstrap_mean, paired_values
from burnish.evaluation.intervals import NOTHING, Floats, Interval, domain_interval, task_means
from burnish.randomness import stream_key, uniforms

_FLIPS_AT_ONCE = 1 << 18


def mcnemar(lost: int, gained: int) -> float:
    """Exact two-sided p-value for tasks that changed: `lost` from pass to fail, `gained` the other way."""
    changed = lost + gained
    if changed == 0:
        return 1.0
    tail = sum(math.comb(changed, i) for i in range(min(lost, gained) + 1))
    return min(1.0, 2 * tail / 2**changed)


def sign_flip(differences: Floats, *, seed: int = 0, resamples: int = 10_000) -> float:
    """Two-sided p-value that the mean of paired differences [T] is 0, by random sign flips.

    Valid for any number of tasks when before and after are exchangeable (no change); the smallest
    value is 1 / (resamples + 1). NaN is left out, and so are tasks that did not change.
    """
    moved = differences[~np.isnan(differences)]
    moved = moved[moved != 0]
    if len(moved) == 0:
        return 1.0
    # A flipped sum that equals the observed one up to rounding counts as equal.
    observed = abs(float(moved.sum())) - 1e-9
    stream = np.full(1, stream_key(seed, "sign-flip"), np.uint64)
    rows = max(1, _FLIPS_AT_ONCE // len(moved))
    extreme = 0
    for start in range(0, resamples, rows):
        stop = min(start + rows, resamples)
        positions = np.arange(start * len(moved), stop * len(moved), dtype=np.uint64)
        signs = np.where(uniforms(stream, positions) < 0.5, -1.0, 1.0).reshape(stop - start, -1)
        extreme += int(np.count_nonzero(np.abs(signs @ moved) >= observed))
    return (extreme + 1) / (resamples + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given; rejecting those <= alpha keeps the family-wise error."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = running
    return adjusted


def significantly_worse(
    changes: Mapping[str, float], p_values: Mapping[str, float], alpha: float = 0.05
) -> list[str]:
    """Names whose change is negative and significant after Holm's correction, worst first.

    Args:
        changes: difference of each domain, after minus before.
        p_values: two-sided and uncorrected, for the same names; all of them form the family.
        alpha: family-wise error.
    """
    names = list(changes)
    adjusted = dict(zip(names, holm([p_values[name] for name in names]), strict=True))
    found = [name for name in names if changes[name] < 0 and adjusted[name] <= alpha]
    return sorted(found, key=lambda name: changes[name])


def significantly_better(
    changes: Mapping[str, float], p_values: Mapping[str, float], alpha: float = 0.05
) -> list[str]:
    """The same for positive changes, best first."""
    return significantly_worse({name: -change for name, change in changes.items()}, p_values, alpha)


def square_and_add(before: Floats, after: Floats, confidence: float = 0.95) -> Interval:
    """Interval of a paired difference from the interval of each side and their correlation over tasks.

    Newcombe, "Improved confidence intervals for the difference between binomial proportions based on
    paired data", 1998, method 10; for several samples a task the sides' intervals are those of
    `domain_interval` (Zou & Donner, 2008).
    """
    kept = ~np.isnan(paired_values(before, after))
    if not kept.any():
        return NOTHING
    x, y = domain_interval(before[kept], confidence), domain_interval(after[kept], confidence)
    r = _correlation(task_means(before[kept]), task_means(after[kept]))
    down = _added(y.value - y.low, x.high - x.value, r)
    up = _added(y.high - y.value, x.value - x.low, r)
    change = y.value - x.value
    return Interval(change, max(-1.0, change - down), min(1.0, change + up))


def _added(a: float, b: float, r: float) -> float:
    return math.sqrt(max(0.0, a * a + b * b - 2 * r * a * b))


def _correlation(x: Floats, y: Floats) -> float:
    x, y = x - x.mean(), y - y.mean()
    scale = math.sqrt(float(x @ x) * float(y @ y))
    shared = float(x @ y)
    if shared > 0:
        shared = max(0.0, shared - 0.5)  # Newcombe's continuity correction, ad - bc - n/2, divided by n
    return shared / scale if scale > 0 else 0.0


def paired_change(
    before: Floats,
    after: Floats,
    *,
    seed: int = 0,
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> tuple[Interval, float]:
    """Difference of one domain on identical tasks with its interval, and its uncorrected p-value.

    Args:
        before: outcomes [T] (greedy) or [T, K] (sampled).
        after: the same tasks in the same order.
        seed: of bootstrap and sign flips.
        resamples: of both.
        confidence: of the interval.
    """
    differences = paired_values(before, after)
    valid = differences[~np.isnan(differences)]
    if len(valid) == 0:
        return NOTHING, 1.0
    if before.ndim == 1:
        lost, gained = int((valid < 0).sum()), int((valid > 0).sum())
        return square_and_add(before, after, confidence), mcnemar(lost, gained)
    p_value = sign_flip(valid, seed=seed, resamples=resamples)
    if np.ptp(valid) == 0:
        return square_and_add(before, after, confidence), p_value
    return bootstrap_mean(valid, seed=seed, resamples=resamples, confidence=confidence), p_value
