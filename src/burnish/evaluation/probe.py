"""Profiles a model over domains and levels: where reinforcement learning has signal, and what a run costs.

Every cell (a domain at a level) is generated on its own, so its seconds are its own; a cell that breaks
is `faulty` and does not stop the others. The rules of the classes are in `verdicts`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnish.domains.base import Domain
from burnish.errors import DomainError, ModelError
from burnish.evaluation.advice import recommend
from burnish.evaluation.cells import Cell, by_domain, table_order
from burnish.evaluation.cost import Cost, RunShape, estimate
from burnish.evaluation.evaluation import DomainOutcome, Evaluation
from burnish.evaluation.intervals import NOTHING, Interval, counts, domain_interval, mixed_share, wilson
from burnish.evaluation.plan import Encode, EvaluationPlan, Fetch, Judge
from burnish.evaluation.suite import evaluate, fetch_tasks, wanted
from burnish.evaluation.trivial import TrivialScore, best_trivial, trivial_scores
from burnish.evaluation.verdicts import Class, Evidence, Kind, Thresholds, classify
from burnish.records import Task
from burnish.rewards.judge import judge as default_judge
from burnish.rollout.engine import Engine


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """All cells in table order, the cost of a run, and the advice."""

    cells: tuple[Cell, ...]
    cost: Cost
    recommendation: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "recommendation": self.recommendation,
            "cost": self.cost.to_dict(),
            "domains": by_domain(self.cells),
            "cells": [cell.to_dict() for cell in self.cells],
        }


@dataclass(frozen=True, slots=True)
class ProbeSettings:
    """What a probe assumes beside its plan."""

    shape: RunShape = field(default_factory=RunShape)
    """Of the run whose groups and cost are wanted."""
    thresholds: Thresholds = field(default_factory=Thresholds)


def grid(domains: Sequence[Domain], levels: Sequence[int] | None = None) -> list[tuple[Domain, int]]:
    """Every domain at those of the levels that it has (None: at all of its levels)."""
    return [
        (domain, level)
        for domain in domains
        for level in (range(domain.levels) if levels is None else levels)
        if level < domain.levels
    ]


def probe(
    engine: Engine,
    encode: Encode,
    cells: Sequence[tuple[Domain, int]],
    plan: EvaluationPlan,
    *,
    tasks: Fetch = fetch_tasks,
    settings: ProbeSettings | None = None,
    on_cell: Callable[[Cell], None] | None = None,
    on_done: Callable[[int], None] | None = None,
    judge: Judge = default_judge,
) -> ProbeReport:
    """Measure every cell and say whether post-training will pay.

    Args:
        engine: draws the completions.
        encode: prompt of a task.
        cells: domains with levels, as `grid` makes them.
        plan: sizes and seed.
        tasks: fetches the tasks of a cell.
        settings: the run in view, and the thresholds of the classes.
        on_cell: told each cell once it is measured.
        on_done: told how many tasks have just been generated.
        judge: grades one completion.

    Raises:
        DomainError: a level does not exist.
        ModelError: the model fails on every cell.
    """
    settings = settings or ProbeSettings()
    for domain, level in cells:
        wanted(domain, level, plan)
    found: list[Cell] = []
    broken: list[ModelError] = []
    measure = partial(_measure, engine, encode, plan, settings, fetch=tasks, on_done=on_done, judge=judge)
    for domain, level in cells:
        try:
            cell = measure(domain=domain, level=level)
        except (DomainError, ModelError) as error:
            broken += [error] if isinstance(error, ModelError) else []
            cell = _broken(domain.name, level, error)
        found.append(cell)
        if on_cell is not None:
            on_cell(cell)
    if broken and len(broken) == len(cells):
        raise broken[-1]
    return probe_report(found, settings.shape)


def probe_report(cells: Sequence[Cell], shape: RunShape) -> ProbeReport:
    """The report over cells measured so far; lengths for the cost are those of the cells with signal."""
    basis = [c for c in cells if c.kind is Kind.SIGNAL] or [c for c in cells if c.kind is not Kind.FAULTY]
    seconds = sum(cell.generate_seconds for cell in cells)
    speed = sum(cell.tokens for cell in cells) / seconds if seconds > 0 else None
    prompt_length = _mean([cell.prompt_length for cell in basis])
    cost = estimate(shape, prompt_length, _mean([cell.completion_length for cell in basis]), speed)
    return ProbeReport(tuple(table_order(cells)), cost, recommend(cells, cost))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def mixed_interval(sampled: NDArray[np.float64], group: int, confidence: float) -> Interval:
    """Share of groups of a size with both a pass and a failure, from outcomes [T, K].

    Observed when the group is K samples; for smaller groups the unbiased estimate from K, whose interval
    is then on the wide side. Tasks with fewer outcomes than the group are left out.
    """
    group = min(group, sampled.shape[1])
    shares = [mixed_share(n, c, group) for n, c in counts(sampled) if n >= group]
    return wilson(min(sum(shares), len(shares)), len(shares), confidence)


def _measure(
    engine: Engine,
    encode: Encode,
    plan: EvaluationPlan,
    settings: ProbeSettings,
    *,
    domain: Domain,
    level: int,
    fetch: Fetch,
    on_done: Callable[[int], None] | None,
    judge: Judge,
) -> Cell:
    began = time.perf_counter()
    tasks = list(fetch(domain, plan.split, level, wanted(domain, level, plan)))
    task_seconds = time.perf_counter() - began
    entry = [(domain, level, False)]
    evaluation, _ = evaluate(engine, encode, entry, {domain.name: tasks}, plan, on_done=on_done, judge=judge)
    trivial = trivial_scores(domain, tasks, judge, plan.confidence)
    return _cell(evaluation, tasks, trivial, task_seconds, settings)


def _cell(
    evaluation: Evaluation,
    tasks: Sequence[Task],
    trivial: Sequence[TrivialScore],
    task_seconds: float,
    settings: ProbeSettings,
) -> Cell:
    outcome, confidence = evaluation.domains[0], evaluation.plan.confidence
    best = best_trivial(trivial)
    evidence = _evidence(outcome, tasks, trivial, confidence, settings)
    return Cell(
        **_decision(classify(evidence, settings.thresholds)),
        domain=outcome.name,
        level=outcome.level,
        tasks=len(tasks),
        success=evidence.success,
        greedy=domain_interval(outcome.greedy, confidence),
        mixed=evidence.mixed,
        trivial=best.passed.value if best else math.nan,
        trivial_agent=best.agent if best else "",
        gold=evidence.gold,
        unjudged=evidence.unjudged,
        missing=outcome.missing,
        prompt_length=outcome.prompt_length,
        longest_prompt=outcome.longest_prompt,
        completion_length=outcome.completion_length,
        truncated=outcome.truncated,
        tokens=outcome.tokens,
        task_seconds=task_seconds,
        generate_seconds=evaluation.generate_seconds,
    )


def _decision(decided: Class) -> dict[str, Any]:
    return {"kind": decided.kind, "sure": decided.sure, "reason": decided.reason}


def _evidence(
    outcome: DomainOutcome,
    tasks: Sequence[Task],
    trivial: Sequence[TrivialScore],
    confidence: float,
    settings: ProbeSettings,
) -> Evidence:
    drawn = outcome.greedy.size + outcome.sampled.size
    return Evidence(
        tasks=len(tasks),
        success=domain_interval(outcome.sampled, confidence),
        mixed=mixed_interval(outcome.sampled, settings.shape.samples, confidence),
        unjudged=(outcome.faults + outcome.abstained) / drawn if drawn else 0.0,
        gold=sum(task.gold is not None for task in tasks) / len(tasks) if tasks else 0.0,
        alarm=next((score.complaint for score in trivial if score.alarming), ""),
    )


def _broken(name: str, level: int, error: DomainError | ModelError) -> Cell:
    reason = error.what if error.got is None else f"{error.what}: {error.got}"
    nothing = dict.fromkeys(("trivial", "prompt_length", "completion_length", "truncated"), math.nan)
    zero = dict.fromkeys(("gold", "unjudged", "task_seconds", "generate_seconds"), 0.0)
    return Cell(
        **_decision(Class(Kind.FAULTY, True, reason)),
        **nothing,
        **zero,
        domain=name,
        level=level,
        tasks=0,
        success=NOTHING,
        greedy=NOTHING,
        mixed=NOTHING,
        trivial_agent="",
        missing=0,
        longest_prompt=0,
        tokens=0,
    )
