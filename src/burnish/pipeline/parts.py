"""The parts of a run, built from a recipe."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import torch

from burnish.curriculum.base import Policy as Curriculum
from burnish.curriculum.base import build as build_curriculum
from burnish.domains.base import Domain
from burnish.domains.registry import DomainSet, build_domains
from burnish.evaluation.plan import EvaluationPlan
from burnish.evaluation.suite import Entry
from burnish.models.policy import Policy
from burnish.recipe import Recipe
from burnish.records import Split, WeightVersion
from burnish.rollout.build import build_engine
from burnish.rollout.engine import Engine
from burnish.rollout.inline import InlineRollouts, Rollouts
from burnish.rollout.pool import RolloutPool
from burnish.rollout.torch_engine import TorchEngine
from burnish.rollout.worker import Setup
from burnish.training.canary import Canary, probes_for
from burnish.training.collect import Collector
from burnish.training.course import Schedule
from burnish.training.source import Source
from burnish.training.update import Reference


def entries(domains: DomainSet) -> list[Entry]:
    """Every domain with its level and whether it is held out."""
    held = {d.name for d in domains.held_out}
    return [(d, domains.level(d.name), d.name in held) for d in domains.all]


def curriculum_of(recipe: Recipe, domains: DomainSet) -> Curriculum:
    """The curriculum policy over the training domains."""
    levels = {d.name: domains.level(d.name) for d in domains.train}
    return build_curriculum(recipe.curriculum, levels, recipe.seed)


def evaluation_plan(recipe: Recipe) -> EvaluationPlan:
    """Sizes and seed of every evaluation of a run."""
    e = recipe.evaluate
    return EvaluationPlan(
        tasks=e.tasks,
        samples=e.samples,
        split=Split(e.split),
        seed=recipe.seed,
        max_tokens=recipe.rollout.max_tokens,
        temperature=1.0,
        confidence=e.confidence,
        resamples=e.resamples,
        batch_requests=4 * max(1, recipe.rollout.batch_rows // (1 + e.samples)),
    )


def frozen_copy(policy: Policy) -> Policy:
    """The same weights in a model that nobody trains."""
    model = copy.deepcopy(policy.model)
    model.requires_grad_(False)
    return replace(policy, model=model)


def engine_of(policy: Policy, recipe: Recipe) -> TorchEngine:
    """The rollout engine, with its own copy of the weights."""
    return TorchEngine(frozen_copy(policy), recipe.rollout.batch_rows)


def reference_of(policy: Policy, recipe: Recipe) -> Reference | None:
    """What KL is measured against: a frozen copy, or the base under a disabled adapter; None without KL."""
    if not recipe.algorithm.needs_reference:
        return None
    disable = getattr(policy.model, "disable_adapter", None)
    if callable(disable) and not recipe.algorithm.moves_reference:
        return Reference(policy, disable)  # pyright: ignore[reportArgumentType]
    return Reference(frozen_copy(policy))


def source_of(
    recipe: Recipe,
    policy: Policy,
    engine: Engine,
    domains: Sequence[Domain],
    report: Callable[[str], None],
) -> Callable[[WeightVersion], Source]:
    """What makes the source of a stage's graded groups, given the version at which the stage began.

    Args:
        recipe: says who draws, and how far ahead.
        policy: the one that is trained.
        engine: draws when there are no workers.
        domains: grade.
        report: hears of workers that were replaced.
    """
    r = recipe.rollout
    probes = probes_for(policy)
    collector = Collector(
        policy, {d.name: d for d in domains}, r.samples, r.temperature, r.max_tokens, recipe.seed,
        r.grading_workers, r.grading_seconds, recipe.algorithm.name == "remax", recipe.rl.fault_rate,
    )  # fmt: skip

    def open_source(origin: WeightVersion) -> Source:
        canary = Canary(policy, probes)
        rollouts: Rollouts = InlineRollouts(engine, canary.verify, probes, r.worker_threads)
        if r.workers:
            build = partial(build_engine, recipe.model, recipe.seed, r.batch_rows)
            setup = Setup(build, r.worker_threads or torch.get_num_threads(), probes)
            rollouts = RolloutPool(
                setup, r.workers, canary.verify, lease_seconds=r.lease_seconds,
                keep_versions=r.staleness + 2, report=report,
            )  # fmt: skip
        schedule = Schedule(origin, r.staleness, r.partial, r.max_tokens)
        return Source(rollouts, collector, canary, schedule, r.unit_prompts)

    return open_source


def domains_of(recipe: Recipe, extra: Sequence[Domain]) -> DomainSet:
    """The domains of a recipe and of the caller."""
    return build_domains(recipe.domains, extra)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Arithmetic threads while a job runs; 0 leaves them as they are."""
    before = torch.get_num_threads()
    if count:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
