"""All statistics of an evaluation in one place: intervals, bootstrap, paired tests.

Everything is numpy on float64; outcomes are 1, 0 or NaN (no outcome).
"""

from burnish.evaluation.bootstrap import (
    bootstrap_mean,
    paired_two_level_bootstrap,
    paired_values,
    two_level_bootstrap,
)
from burnish.evaluation.intervals import (
    NOTHING,
    Interval,
    avg_at_k,
    domain_interval,
    mean_interval,
    mean_pass_at_k,
    mixed_share,
    pass_at_k,
    task_means,
    wilson,
)
from burnish.evaluation.significance import (
    holm,
    mcnemar,
    paired_change,
    sign_flip,
    significantly_better,
    significantly_worse,
    square_and_add,
)

__all__ = [
    "NOTHING",
    "Interval",
    "avg_at_k",
    "bootstrap_mean",
    "domain_interval",
    "holm",
    "mcnemar",
    "mean_interval",
    "mean_pass_at_k",
    "mixed_share",
    "paired_change",
    "paired_two_level_bootstrap",
    "paired_values",
    "pass_at_k",
    "sign_flip",
    "significantly_better",
    "significantly_worse",
    "square_and_add",
    "task_means",
    "two_level_bootstrap",
    "wilson",
]
