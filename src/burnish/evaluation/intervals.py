"""Estimates and intervals for one model.

Legend: T tasks of a domain, K samples of a task, outcomes are 1 (passed), 0 (failed) or NaN (the grader
abstained or something broke; such an outcome is left out, never counted as a failure).

Coverage at 95% by simulation (beta-binomial tasks, 16 or 64 tasks of 8 samples, success from 0.01 to
0.9, correlation inside a task from 0.02 to 0.95): 0.89 to 0.98, lowest for rare successes over 16 tasks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with the ends of its confidence interval; NaN when there was nothing to estimate from."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """The three numbers; NaN becomes None, which JSON can carry."""
        parts = {"value": self.value, "low": self.low, "high": self.high}
        return {name: None if math.isnan(x) else x for name, x in parts.items()}


NOTHING = Interval(math.nan, math.nan, math.nan)
"""The interval of no data."""


def normal_quantile(confidence: float) -> float:
    """Half-width in standard errors of a two-sided normal interval; 1.96 for 0.95."""
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def t_quantile(confidence: float, dof: int) -> float:
    """The same for Student's t, by its Cornish-Fisher expansion; within 1% from 5 degrees of freedom on."""
    z = normal_quantile(confidence)
    first = (z**3 + z) / (4 * dof)
    return z + first + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * dof**2)


def _score_interval(p: float, n: float, z: float) -> Interval:
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # The exact ends at p = 0 and p = 1 are 0 and 1; rounding must not move an end past the estimate.
    return Interval(p, max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half)))


def wilson(successes: float, n: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval for a rate of independent outcomes (Wilson, 1927)."""
    if n == 0:
        return NOTHING
    return _score_interval(successes / n, n, normal_quantile(confidence))


def task_means(outcomes: Floats) -> Floats:
    """Mean of each task over its samples that have an outcome; [T] or [T, K] to [T], NaN where none has."""
    outcomes = np.asarray(outcomes, np.float64)
    if outcomes.ndim == 1:
        return outcomes
    counts = np.sum(~np.isnan(outcomes), axis=1)
    return np.where(counts > 0, np.nansum(outcomes, axis=1) / np.maximum(counts, 1), np.nan)


def mean_interval(values: Floats, units: float, confidence: float = 0.95) -> Interval:
    """Interval for the mean of task values in [0, 1] that are not single outcomes.

    Wilson's interval at the effective number of outcomes p(1-p)/SE^2, kept between T and `units` (the
    outcomes behind the values), with Student's quantile for T-1 degrees of freedom. Where every outcome
    is the same the spread cannot be seen and T is used, as if the samples of a task were copies.

    Args:
        values: [T], NaN left out.
        units: how many outcomes the values average, at most T * K.
        confidence: of the interval.
    """
    values = values[~np.isnan(values)]
    tasks = len(values)
    if tasks == 0:
        return NOTHING
    p = float(np.clip(values.mean(), 0.0, 1.0))
    variance = float(values.var(ddof=1)) / tasks if tasks > 1 else math.inf
    effective = p * (1 - p) / variance if variance > 0 else math.inf
    if p in (0.0, 1.0):
        effective = tasks
    return _score_interval(p, min(max(effective, tasks), units), t_quantile(confidence, max(tasks - 1, 1)))


def domain_interval(outcomes: Floats, confidence: float = 0.95) -> Interval:
    """Accuracy of one domain (avg@k): mean over tasks, with its samples clustered by task.

    Args:
        outcomes: [T] for one outcome a task (Wilson's interval), or [T, K].
        confidence: of the interval.
    """
    outcomes = np.asarray(outcomes, np.float64)
    valid = outcomes[~np.isnan(outcomes)]
    if outcomes.ndim == 1 or outcomes.shape[1] == 1:
        return wilson(float(valid.sum()), len(valid), confidence)
    return mean_interval(task_means(outcomes), len(valid), confidence)


def pass_at_k(n: int, c: int, k: int) -> float:
    """Chance that at least one of k samples passes, unbiased, from c passes in n samples (2107.03374).

    Raises:
        ValueError: not 1 <= k <= n or not 0 <= c <= n.
    """
    if not (1 <= k <= n and 0 <= c <= n):
        raise ValueError(f"pass@k needs 1 <= k <= n and 0 <= c <= n, got n={n}, c={c}, k={k}")
    if n - c < k:
        return 1.0
    return 1.0 - math.prod(1.0 - k / i for i in range(n - c + 1, n + 1))


def mixed_share(n: int, c: int, group: int) -> float:
    """Chance that a group of samples has both a pass and a failure, unbiased from c passes in n >= group."""
    return pass_at_k(n, c, group) + pass_at_k(n, n - c, group) - 1.0


def avg_at_k(outcomes: Floats) -> float:
    """Mean over tasks of the mean over samples; [T, K], NaN left out and NaN when nothing is left."""
    means = task_means(outcomes)
    valid = means[~np.isnan(means)]
    return float(valid.mean()) if len(valid) else math.nan


def counts(outcomes: Floats) -> Iterable[tuple[int, int]]:
    """For each task of [T, K], how many samples have an outcome and how many of those passed."""
    valid = np.sum(~np.isnan(outcomes), axis=1)
    passed = np.nansum(outcomes, axis=1)
    return [(int(n), int(c)) for n, c in zip(valid, passed, strict=True)]


def mean_pass_at_k(outcomes: Floats, k: int) -> float:
    """pass@k of a domain: mean over the tasks of [T, K] with at least k outcomes; NaN when there is none."""
    values = [pass_at_k(n, c, k) for n, c in counts(outcomes) if n >= k]
    return sum(values) / len(values) if values else math.nan
