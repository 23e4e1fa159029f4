"""Reinforcement learning from verdicts, jointly over domains.

for each step:
    draw tasks                      curriculum: which domain, level and index
    collect groups                  generate N completions a task, let the domain judge each
    advantages                      algorithm: rewards of a group to advantages
    update                          loss over groups with signal, one optimiser step
    sync weights                    the engine draws the next step with version + 1
    observe, record, checkpoint     curriculum learns; figures and samples are stored
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from burnish.algorithms.advantages import has_signal, live
from burnish.algorithms.base import Algorithm
from burnish.curriculum.base import Draw, Outcome
from burnish.curriculum.base import Policy as Curriculum
from burnish.recipe import RlSettings
from burnish.records import Faulted, Group, Scored, Task
from burnish.training.collect import Collector, reward_batch
from burnish.training.metrics import by_domain, merge_update
from burnish.training.optimiser import OptimiserPlan, learning_rate
from burnish.training.sft import places
from burnish.training.stage import Deadline, Workbench
from burnish.training.state import RunState
from burnish.training.update import GroupUpdate, Reference, accumulate, distinct

STAGE = "rl"
FAULTS_TO_QUARANTINE = 3
"""Groups in a row without a single verdict after which a domain is drawn no more."""


@dataclass(frozen=True, slots=True)
class Learner:
    """The parts that only reinforcement learning needs."""

    collector: Collector
    algorithm: Algorithm
    curriculum: Curriculum
    reference: Reference | None
    seed: int


def plan_of(settings: RlSettings) -> OptimiserPlan:
    """Optimiser settings of the stage."""
    return OptimiserPlan(
        steps=settings.steps, lr=settings.lr, warmup=settings.warmup, schedule=settings.schedule, floor=0.0,
        betas=settings.betas, weight_decay=settings.weight_decay, max_grad_norm=settings.max_grad_norm,
    )  # fmt: skip


def train_rl(bench: Workbench, learner: Learner, settings: RlSettings, state: RunState) -> RunState:
    """Run the stage from `state` to its end, or to the step after which the user asked to stop.

    Raises:
        TrainingError: a loss is not finite, or every domain is quarantined.
    """
    state = state.begin(STAGE)
    plan = plan_of(settings)
    optimiser = bench.optimiser(plan, state)
    curriculum, engine = learner.curriculum, learner.collector.engine
    deadline = Deadline(state.seconds, settings.max_minutes)
    position = curriculum.restore(state.curriculum) if state.curriculum else curriculum.start()
    engine.load(optimiser.parameters, state.version)
    while state.step < settings.steps and not (bench.stop.asked or deadline.passed):
        began = time.monotonic()
        draws, position = curriculum.draw(position, settings.prompts_per_step)
        groups = _collect(bench, learner, draws, state)
        _prefetch(bench, curriculum, position, settings.prompts_per_step)
        collected = time.monotonic()
        coin = learner.seed if settings.reward == "random" else None
        batch = reward_batch(groups, coin=coin)
        advantages, scales = learner.algorithm.advantages(batch, state.scales)
        signal = has_signal(batch.rewards, batch.valid)
        updates = _updates(learner.algorithm, groups, advantages, live(batch.rewards, batch.valid))
        figures = by_domain(groups, advantages, signal)
        lr = learning_rate(plan, state.step)
        if updates:
            budget = settings.tokens_per_micro_batch
            merge_update(
                figures, accumulate(bench.policy, learner.algorithm, updates, budget, learner.reference)
            )
            figures[""]["grad_norm"] = optimiser.step(lr)
        engine.load(optimiser.parameters, state.version + 1)
        position = curriculum.observe(position, _outcomes(draws, groups))
        state = replace(
            _advance(state, groups, updates),
            scales=scales,
            seconds=deadline.seconds,
        )
        position, state = _quarantine(bench, curriculum, position, state, groups)
        state = replace(state, curriculum=position.to_json())
        figures[""] |= _speed(groups, began, collected) | {"lr": lr}
        _record(bench, state, settings.steps, figures, groups, advantages)
        if settings.checkpoint_every and state.step % settings.checkpoint_every == 0:
            bench.save(state, optimiser, settings.keep_checkpoints)
    state = replace(state, finished=not bench.stop.asked or state.step >= settings.steps)
    bench.save(state, optimiser, settings.keep_checkpoints)
    optimiser.close()
    return state


def _collect(bench: Workbench, learner: Learner, draws: Sequence[Draw], state: RunState) -> list[Group]:
    tasks = [task for task in bench.tasks.get(places(draws)) if task is not None]
    return learner.collector.collect(tasks, state.version, state.ordinal)


def _prefetch(bench: Workbench, curriculum: Curriculum, position: Any, count: int) -> None:
    """Have the tasks made that would come next if nothing were learnt meanwhile."""
    ahead, _ = curriculum.draw(position, count)
    bench.tasks.prefetch(places(ahead))


def _updates(
    algorithm: Algorithm, groups: Sequence[Group], advantages: torch.Tensor, active: torch.Tensor
) -> list[GroupUpdate]:
    lengths = torch.tensor([[len(s.token_ids) for s in g.samples] for g in groups])
    weights = algorithm.weights(lengths, active)
    rows = zip(groups, advantages.tolist(), weights.tolist(), active.tolist(), strict=True)
    merged = [distinct(group, a, w, counts) for group, a, w, counts in rows if any(counts)]
    return [update for update in merged if update.branches]


def _advance(state: RunState, groups: Sequence[Group], updates: Sequence[GroupUpdate]) -> RunState:
    return replace(
        state,
        step=state.step + 1,
        version=state.version + 1,
        ordinal=state.ordinal + len(groups),
        tokens_generated=state.tokens_generated + _generated(groups),
        tokens_trained=state.tokens_trained + sum(u.tree.tokens for u in updates),
    )


def _generated(groups: Sequence[Group]) -> int:
    return sum(len(s.token_ids) for g in groups for s in g.samples)


def _outcomes(draws: Sequence[Draw], groups: Sequence[Group]) -> list[Outcome]:
    by_place = {(d.domain, d.level, d.index): d for d in draws}
    return [
        Outcome(
            by_place[g.task.domain, g.task.level, g.task.index],
            tuple(v.value for v in g.verdicts if isinstance(v, Scored)),
            sum(isinstance(v, Scored) and v.passed for v in g.verdicts),
            sum(not isinstance(v, Scored) for v in g.verdicts),
        )
        for g in groups
    ]


def _quarantine(
    bench: Workbench, curriculum: Curriculum, position: Any, state: RunState, groups: Sequence[Group]
) -> tuple[Any, RunState]:
    """Stop drawing from domains whose graders do nothing but fault, and say so."""
    streaks = fault_streaks(state.fault_streak, groups)
    for domain, streak in streaks.items():
        if streak >= FAULTS_TO_QUARANTINE > state.fault_streak.get(domain, 0):
            error = next(_faults(groups, domain))
            reason = f"{streak} groups in a row without a verdict; the last fault: {error}"
            position = curriculum.quarantine(position, domain, reason)
            bench.store.add_event(STAGE, state.step, "error", "quarantine", reason, domain=domain)
            bench.console.warn(f"domain {domain} is quarantined: {reason}")
    return position, replace(state, fault_streak=streaks)


def fault_streaks(before: Mapping[str, int], groups: Sequence[Group]) -> dict[str, int]:
    """Groups in a row of each domain whose samples all faulted."""
    streaks = dict(before)
    for group in groups:
        broken = all(isinstance(v, Faulted) for v in group.verdicts)
        streaks[group.task.domain] = streaks.get(group.task.domain, 0) + 1 if broken else 0
    return streaks


def _faults(groups: Sequence[Group], domain: str) -> Iterator[str]:
    return (v.error for g in groups if g.task.domain == domain for v in g.verdicts if isinstance(v, Faulted))


def _speed(groups: Sequence[Group], began: float, collected: float) -> dict[str, float]:
    now = time.monotonic()
    return {
        "seconds": now - began,
        "rollout_seconds": collected - began,
        "update_seconds": now - collected,
        "tokens_per_second": _generated(groups) / max(now - began, 1e-9),
    }


def _record(
    bench: Workbench,
    state: RunState,
    total: int,
    figures: dict[str, dict[str, float]],
    groups: Sequence[Group],
    advantages: torch.Tensor,
) -> None:
    for group, row in zip(groups, advantages.tolist(), strict=True):
        bench.store.add_group(STAGE, state.step, group, prompt_text(group.task), row)
    bench.record(STAGE, state.step, total, figures)


def prompt_text(task: Task) -> str:
    """The prompt as people read it."""
    return "\n".join(f"[{m.role}] {m.content}" for m in task.messages)
