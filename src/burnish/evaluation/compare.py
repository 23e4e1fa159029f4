"""Pairs two evaluations on identical tasks and says what changed, domain by domain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from burnish.errors import RunError
from burnish.evaluation.bootstrap import paired_two_level_bootstrap
from burnish.evaluation.evaluation import DomainOutcome, Evaluation
from burnish.evaluation.intervals import NOTHING
from burnish.evaluation.plan import EvaluationPlan
from burnish.evaluation.significance import (
    holm,
    paired_change,
    significantly_better,
    significantly_worse,
)

MODES = ("sampled", "greedy")

Pair = tuple[DomainOutcome, DomainOutcome]


def pairs(before: Evaluation, after: Evaluation) -> list[Pair]:
    """The domains of two evaluations side by side, in the order of the second.

    Raises:
        RunError: they do not have the same domains and tasks; says which differ.
    """
    names = [domain.name for domain in after.domains]
    earlier = [domain.name for domain in before.domains]
    alone = [f"only in {before.name}: {n}" for n in earlier if n not in names]
    alone += [f"only in {after.name}: {n}" for n in names if n not in earlier]
    if alone:
        raise _mismatch(before, after, alone)
    found = [(before.domain(domain.name), domain) for domain in after.domains]
    differing = [text for pair in found if (text := _difference(before.name, after.name, *pair))]
    if differing:
        raise _mismatch(before, after, differing)
    return found


def _mismatch(before: Evaluation, after: Evaluation, differing: Sequence[str]) -> RunError:
    shown = "; ".join(differing[:5]) + (f"; and {len(differing) - 5} more" if len(differing) > 5 else "")
    return RunError(
        f"evaluations {before.name!r} and {after.name!r} cannot be paired: their tasks are not the same",
        got=shown,
        expected="the same domains, levels, split and number of tasks",
        next_step="evaluate both with the same recipe (`burnish eval`), then compare",
    )


def _difference(first: str, second: str, x: DomainOutcome, y: DomainOutcome) -> str:
    if x.tasks == y.tasks:
        return "" if x.content == y.content else f"{x.name}: same tasks, but their text differs"
    if x.level != y.level:
        return f"{x.name}: level {x.level} against {y.level}"
    if len(x.tasks) != len(y.tasks):
        return f"{x.name}: {len(x.tasks)} tasks in {first}, {len(y.tasks)} in {second}"
    key, other = next((a, b) for a, b in zip(x.tasks, y.tasks, strict=True) if a != b)
    return f"{x.name}: {key} against {other}"


def notes(before: EvaluationPlan, after: EvaluationPlan) -> list[str]:
    """Settings that leave the tasks the same and still may explain a difference."""
    names = ("samples", "temperature", "max_tokens", "seed")
    differing = [name for name in names if getattr(before, name) != getattr(after, name)]
    return [f"{name}: {getattr(before, name)} before, {getattr(after, name)} after" for name in differing]


def compare(before: Evaluation, after: Evaluation) -> dict[str, Any]:
    """What changed from one evaluation to another, with intervals and tests; plain values for JSON.

    Confidence, resamples and seed are those of the second evaluation's plan. `worse` and `better` name
    the domains, trained or held out, whose change is significant after Holm's correction over all
    domains; sampled and greedy accuracy are corrected each on its own.

    Raises:
        RunError: the two do not have the same tasks.
    """
    found = pairs(before, after)
    modes = {mode: _changes(found, mode, after.plan) for mode in MODES}
    return {
        "from": before.name,
        "to": after.name,
        **modes,
        "worse": sorted({name for mode in MODES for name in modes[mode]["worse"]}),
        "better": sorted({name for mode in MODES for name in modes[mode]["better"]}),
        "notes": notes(before.plan, after.plan),
    }


def _changes(found: Sequence[Pair], mode: str, plan: EvaluationPlan) -> dict[str, Any]:
    domains = _domain_changes(found, mode, plan)
    tested = {name: entry for name, entry in domains.items() if entry["value"] is not None}
    values = {name: entry["value"] for name, entry in tested.items()}
    p_values = {name: entry["p"] for name, entry in tested.items()}
    alpha = 1 - plan.confidence
    for name, adjusted in zip(tested, holm(list(p_values.values())), strict=True):
        domains[name]["p_holm"] = adjusted
    return {
        "macro": _macro_change([pair for pair in found if not pair[1].held_out], mode, plan),
        "macro_held_out": _macro_change([pair for pair in found if pair[1].held_out], mode, plan),
        "domains": domains,
        "worse": significantly_worse(values, p_values, alpha),
        "better": significantly_better(values, p_values, alpha),
    }


def _macro_change(found: Sequence[Pair], mode: str, plan: EvaluationPlan) -> dict[str, float | None]:
    if not found:
        return NOTHING.to_dict()
    return paired_two_level_bootstrap(
        [before.outcomes(mode) for before, _ in found],
        [after.outcomes(mode) for _, after in found],
        seed=plan.seed,
        resamples=plan.resamples,
        confidence=plan.confidence,
    ).to_dict()


def _domain_changes(found: Sequence[Pair], mode: str, plan: EvaluationPlan) -> dict[str, dict[str, Any]]:
    entries: dict[str, dict[str, Any]] = {}
    for before, after in found:
        change, p_value = paired_change(
            before.outcomes(mode),
            after.outcomes(mode),
            seed=plan.seed,
            resamples=plan.resamples,
            confidence=plan.confidence,
        )
        facts = {"tasks": len(after.tasks), "held_out": after.held_out, "p": p_value, "p_holm": None}
        entries[after.name] = change.to_dict() | facts
    return entries
