"""Reinforcement learning from verdicts, jointly over domains.

for each step k:
    draw tasks                      curriculum: which domain, level and index; up to step k + staleness
    take groups                     N completions a task, judged by its domain; drawn ahead by the source
    drop what is over the bound     tokens of weights older than k - staleness teach nothing
    advantages                      algorithm: rewards of a group to advantages
    update                          loss over groups with signal, one optimiser step
    sync weights                    whoever draws gets version + 1, and proves to hold it
    observe, record, checkpoint     curriculum learns; figures and samples are stored
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from burnish.curriculum.base import Draw, Outcome
from burnish.curriculum.base import Policy as Curriculum
from burnish.faults import fault_point
from burnish.recipe import RlSettings
from burnish.records import Group, Scored, Task, WeightVersion
from burnish.spans import ended, timed
from burnish.training.collect import reward_batch, within_bound, without_greedy
from burnish.training.metrics import Figures, by_domain
from burnish.training.monitors import mean_staleness, warnings
from burnish.training.quarantine import Rule
from burnish.training.retention import retention_of
from burnish.training.settle import settle
from burnish.training.sft import places
from burnish.training.source import Source, Taken
from burnish.training.stage import Deadline, Workbench, save_is_due
from burnish.training.state import RunState
from burnish.training.trainer import Learner, Trainer
from burnish.training.underway import drop_rest, lease, take_up
from burnish.training.update import GroupUpdate

STAGE = "rl"


def train_rl(bench: Workbench, learner: Learner, settings: RlSettings, state: RunState) -> RunState:
    """Run the stage from `state` to its end, or to the step after which the user asked to stop.

    Raises:
        TrainingError: a loss is not finite, every domain is quarantined, completions cannot be drawn any
            more, or the engine does not hold the weights it was given.
    """
    state = state.begin(STAGE)
    trainer, keep = Trainer(bench, learner, settings, state), retention_of(settings)
    optimiser = trainer.optimiser
    algorithm, curriculum = learner.algorithm, learner.curriculum
    deadline = Deadline(state.seconds, settings.max_minutes)
    position = curriculum.restore(state.curriculum) if state.curriculum else curriculum.start()
    with learner.open_source(state.version - state.step) as source:
        source.sync(optimiser.parameters, state.version)
        drawn = take_up(bench, source, state)
        while state.step < settings.steps and not (bench.stop.asked or deadline.passed):
            began = time.monotonic()
            position, state = _try_again(bench, curriculum, position, state)
            while drawn < min(settings.steps, state.step + source.bound + 1):
                draws, position = curriculum.draw(position, settings.prompts_per_step)
                batch, state = lease(bench, draws, state, drawn, source.first_version(drawn))
                source.submit(drawn, batch)
                drawn += 1
            _prefetch(bench, curriculum, position, settings.prompts_per_step)
            taken = source.take(state.step)
            groups, collected = taken.groups, time.monotonic()

            fresh = within_bound(groups, state.version, source.bound)
            coin = learner.seed if settings.reward == "random" else None
            rewards = reward_batch(groups, coin=coin, fresh=fresh, greedy=algorithm.needs.greedy)
            credit = trainer.credit(groups, rewards, state)
            sampled = without_greedy(groups) if algorithm.needs.greedy else groups
            figures = by_domain(sampled, credit.advantages, credit.signal)
            figures[""] |= _ages(groups, fresh, state.version)

            state = trainer.learn(state, credit, sampled, figures)
            fault_point("rl.after_update")
            source.sync(optimiser.parameters, state.version + 1)

            position = curriculum.observe(position, _outcomes(sampled))
            with bench.store.together():
                _warn(bench, source, state.step + 1, figures[""])
                state = _settle(bench, state, taken, credit.updates, fresh)
                state = _advance(state, groups, credit.updates, deadline.seconds)
                state = replace(state, scales=credit.scales)
                position, state = _quarantine(bench, learner, settings, position, state, groups)
                figures[""] |= _speed(groups, began, collected)
                _record(bench, state, settings.steps, figures, groups, credit.advantages)
            fault_point("rl.after_record")
            if not curriculum.active(position) and state.step < settings.steps:
                bench.save(_for_another_try(bench, curriculum, position, state), optimiser, keep)
            elif save_is_due(state.step, settings.steps, settings.checkpoint_every):
                bench.save(state, optimiser, keep, pending=source.pending() if source.under_way else None)
            ended("step", began, step=state.step)
        state = replace(state, finished=not bench.stop.asked or state.step >= settings.steps)
        state = drop_rest(bench, state) if state.finished else state
        bench.save(state, optimiser, keep, pending=source.pending() if not state.finished else None)
    trainer.close()
    return state


def _prefetch(bench: Workbench, curriculum: Curriculum, position: Any, count: int) -> None:
    """Have the tasks made that would come next if nothing were learnt meanwhile."""
    ahead, _ = curriculum.draw(position, count)
    bench.tasks.prefetch(places(ahead))


def _advance(
    state: RunState, groups: Sequence[Group], updates: Sequence[GroupUpdate], seconds: float
) -> RunState:
    return replace(
        state,
        step=state.step + 1,
        version=state.version + 1,
        seconds=seconds,
        tokens_generated=state.tokens_generated + _generated(groups),
        tokens_trained=state.tokens_trained + sum(u.tree.tokens for u in updates),
    )


def _generated(groups: Sequence[Group]) -> int:
    return sum(len(s.token_ids) for g in groups for s in g.samples)


def _outcomes(groups: Sequence[Group]) -> list[Outcome]:
    return [
        Outcome(
            Draw(g.task.domain, g.task.level, g.task.index),
            tuple(v.value for v in g.verdicts if isinstance(v, Scored)),
            sum(isinstance(v, Scored) and v.passed for v in g.verdicts),
            sum(not isinstance(v, Scored) for v in g.verdicts),
        )
        for g in groups
    ]


def _ages(groups: Sequence[Group], fresh: torch.Tensor, version: WeightVersion) -> Figures:
    stale = float((~fresh).sum())
    return {"staleness": mean_staleness(groups, version), "dropped_stale": stale}


def _warn(bench: Workbench, source: Source, step: int, figures: Figures) -> None:
    """Say what is odd about the distance between sampler and trainer, when it begins to be so."""
    found = warnings(figures, source.bound, exact=source.exact)
    for kind in found.keys() - source.told.keys():
        bench.console.warn(f"step {step}: {found[kind]}")
        bench.store.add_event(STAGE, step, "warning", kind, found[kind])
    source.told = found


def _settle(
    bench: Workbench, state: RunState, taken: Taken, updates: Sequence[GroupUpdate], fresh: torch.Tensor
) -> RunState:
    used = {u.group.ordinal for u in updates}
    stale = {g.ordinal for g, row in zip(taken.groups, fresh.tolist(), strict=True) if not all(row)}
    ledger, changed = settle(
        state.ledger, taken.groups, used, step=state.step + 1, version=state.version, stale=stale,
        repeats=taken.repeats,
    )  # fmt: skip
    bench.store.add_ledger(changed)
    return replace(state, ledger=ledger)


def _try_again(
    bench: Workbench, curriculum: Curriculum, position: Any, state: RunState
) -> tuple[Any, RunState]:
    """Draw again from domains that have been left alone for long enough."""
    breakers = state.breakers
    domains = breakers.due(state.step)
    for domain in domains:
        position = curriculum.release(position, domain)
        bench.store.add_event(STAGE, state.step, "info", "quarantine", "is tried again", domain=domain)
        bench.console.say(f"step {state.step + 1}: domain {domain} is tried again")
    return position, replace(state, breakers=breakers.tried_again(domains))


def _for_another_try(bench: Workbench, curriculum: Curriculum, position: Any, state: RunState) -> RunState:
    """What a run that can draw from no domain any more leaves behind: a resumed one tries all of them."""
    domains = state.breakers.open
    for domain in domains:
        position = curriculum.release(position, domain)
    state = replace(state, breakers=state.breakers.tried_again(domains), curriculum=position.to_json())
    return drop_rest(bench, state)


def _quarantine(
    bench: Workbench,
    learner: Learner,
    settings: RlSettings,
    position: Any,
    state: RunState,
    groups: Sequence[Group],
) -> tuple[Any, RunState]:
    """Stop drawing from domains whose graders do nothing but fault, and say so."""
    rule = Rule(settings.quarantine_after, settings.quarantine_steps)
    breakers, opened, mended = state.breakers.after(groups, state.step, rule)
    for domain, reason in ((o.domain, o.reason) for o in opened):
        position = learner.curriculum.quarantine(position, domain, reason)
        bench.store.add_event(STAGE, state.step, "error", "quarantine", reason, domain=domain)
        bench.console.warn(f"domain {domain} is quarantined: {reason}")
    for domain in mended:
        position = learner.curriculum.release(position, domain)
        bench.store.add_event(STAGE, state.step, "info", "quarantine", "works again", domain=domain)
        bench.console.say(f"step {state.step}: domain {domain} works again")
    return position, replace(state, breakers=breakers, curriculum=position.to_json())


def _speed(groups: Sequence[Group], began: float, collected: float) -> dict[str, float]:
    now = time.monotonic()
    return {
        "seconds": now - began,
        "rollout_seconds": collected - began,
        "update_seconds": now - collected,
        "tokens_per_second": _generated(groups) / max(now - began, 1e-9),
    }


@timed("record")
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
