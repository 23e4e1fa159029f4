"""Whether groups are dropped because of how long they are: a run that loses long answers learns to be short.

Mann-Whitney test of the lengths of dropped against kept groups, normal approximation with ties corrected.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST = 5
"""Groups on either side below which no test is made."""
ALPHA = 0.01
"""p-value below which a warning is given."""


@dataclass(frozen=True, slots=True)
class RankTest:
    """Result of the test."""

    superiority: float
    """Chance that a dropped group is longer than a kept one, ties counted half; 0.5 = no difference."""
    z: float
    p_value: float
    """Two-sided."""


def rank_test(dropped: Sequence[float], kept: Sequence[float]) -> RankTest | None:
    """The test, or None with too few groups on either side."""
    if min(len(dropped), len(kept)) < FEWEST:
        return None
    n, m = len(dropped), len(kept)
    ranks, ties = _ranks([*dropped, *kept])
    u = sum(ranks[:n]) - n * (n + 1) / 2
    total = n + m
    variance = n * m / 12 * (total + 1 - sum(t**3 - t for t in ties) / (total * (total - 1)))
    if variance <= 0:
        return RankTest(0.5, 0.0, 1.0)
    z = (u - n * m / 2) / math.sqrt(variance)
    return RankTest(u / (n * m), z, math.erfc(abs(z) / math.sqrt(2)))


def _ranks(values: Sequence[float]) -> tuple[list[float], list[int]]:
    """Mean rank of each value, counted from 1, and the sizes of groups of equal ones."""
    counts = Counter(values)
    rank, below = {}, 0
    for value in sorted(counts):
        rank[value] = below + (counts[value] + 1) / 2
        below += counts[value]
    return [rank[v] for v in values], list(counts.values())
