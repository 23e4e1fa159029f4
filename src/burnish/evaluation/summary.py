"""The numbers of a run: every evaluation and every difference, as plain values for `summary.json`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from burnish.evaluation.bootstrap import two_level_bootstrap
from burnish.evaluation.compare import MODES, compare
from burnish.evaluation.evaluation import DomainOutcome, Evaluation
from burnish.evaluation.intervals import domain_interval, mean_pass_at_k
from burnish.evaluation.plan import EvaluationPlan


def summarise(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """`evaluations` in order, and `differences` of neighbours and of the first to the last.

    A macro average is over the trained domains, `macro_held_out` over the others; a number that there
    are no outcomes for is None.

    Raises:
        RunError: two evaluations do not have the same tasks.
    """
    last = len(evaluations) - 1
    steps = [(i, i + 1) for i in range(last)] + ([(0, last)] if last > 1 else [])
    return {
        "evaluations": [_evaluation(evaluation) for evaluation in evaluations],
        "differences": [compare(evaluations[i], evaluations[j]) for i, j in steps],
    }


def _evaluation(evaluation: Evaluation) -> dict[str, Any]:
    modes = {mode: _mode(evaluation, mode) for mode in MODES}
    facts = {name: getattr(evaluation, name) for name in ("seconds", "tokens", "faults")}
    return {"name": evaluation.name, **modes, **facts}


def _mode(evaluation: Evaluation, mode: str) -> dict[str, Any]:
    trained = [domain.outcomes(mode) for domain in evaluation.domains if not domain.held_out]
    held_out = [domain.outcomes(mode) for domain in evaluation.domains if domain.held_out]
    plan = evaluation.plan
    settings = {"seed": plan.seed, "resamples": plan.resamples, "confidence": plan.confidence}
    return {
        "macro": two_level_bootstrap(trained, **settings).to_dict(),
        "macro_held_out": two_level_bootstrap(held_out, **settings).to_dict(),
        "domains": {domain.name: _domain(domain, mode, plan) for domain in evaluation.domains},
    }


def _domain(domain: DomainOutcome, mode: str, plan: EvaluationPlan) -> dict[str, Any]:
    entry: dict[str, Any] = domain_interval(domain.outcomes(mode), plan.confidence).to_dict()
    entry |= {"tasks": len(domain.tasks), "held_out": domain.held_out, "level": domain.level}
    if mode == "greedy":
        return entry
    return entry | {
        "pass_at_k": pass_at_ks(domain, plan.samples),
        "faults": domain.faults,
        "completion_length": _finite(domain.completion_length),
        "truncated": _finite(domain.truncated),
    }


def pass_at_ks(domain: DomainOutcome, samples: int) -> dict[str, float | None]:
    """Unbiased pass@k for k = 1, 2, 4, ... and for all samples."""
    powers = {2**i for i in range(samples.bit_length()) if 2**i <= samples}
    return {str(k): _finite(mean_pass_at_k(domain.sampled, k)) for k in sorted(powers | {samples})}


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value
