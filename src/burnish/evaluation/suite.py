"""Runs a model over a suite of domains: one greedy and K sampled completions for each task.

Greedy and sampled completions of a task share one request, so its prompt is prefilled once. The random
numbers of a task depend on (seed, domain, index) alone, so evaluations before and after training draw
with the same ones and their difference is less noisy.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from burnish.domains.base import Domain
from burnish.errors import DomainError
from burnish.evaluation.evaluation import DomainOutcome, Evaluation
from burnish.evaluation.plan import Encode, EvaluationPlan, Fetch, Judge
from burnish.records import Abstained, Faulted, Group, Scored, Split, StopReason, Task, Verdict
from burnish.rewards.judge import judge as default_judge
from burnish.rollout.engine import Engine, Request

Entry = tuple[Domain, int, bool]
"""A domain, its level, and whether it is held out from training."""

_log = logging.getLogger("burnish.evaluation")


def fetch_tasks(domain: Domain, split: Split, level: int, count: int) -> list[Task]:
    """The first `count` tasks of a domain, made here and now; those whose generator fails are left out."""
    tasks = []
    for index in range(count):
        try:
            tasks.append(domain.task(split, level, index))
        except DomainError:
            raise
        except Exception as error:
            _log.warning("%s: task %s of level %d: %r", domain.name, index, level, error)
    return tasks


def wanted(domain: Domain, level: int, plan: EvaluationPlan) -> int:
    """How many tasks the plan takes from a domain: never more than there are.

    Raises:
        DomainError: the domain has no such level.
    """
    if not 0 <= level < domain.levels:
        raise DomainError(
            f"domain {domain.name!r} has no level {level}",
            got=level,
            expected=f"0 to {domain.levels - 1}",
            next_step="choose a level that `burnish domains show` lists",
        )
    size = domain.size(plan.split, level)
    return plan.tasks if size is None else min(plan.tasks, size)


def evaluate(
    engine: Engine,
    encode: Encode,
    domains: Sequence[Entry],
    tasks: Mapping[str, Sequence[Task]] | Fetch,
    plan: EvaluationPlan,
    *,
    name: str = "evaluation",
    on_done: Callable[[int], None] | None = None,
    judge: Judge = default_judge,
) -> tuple[Evaluation, list[Group]]:
    """Evaluate the engine's weights on the first tasks of every domain.

    Args:
        engine: draws the completions.
        encode: prompt of a task.
        domains: with level and held-out flag; each name once.
        tasks: tasks of each domain by name, or a function that fetches them.
        plan: sizes and seed.
        name: of the evaluation.
        on_done: told how many tasks have just been generated.
        judge: grades one completion, and turns what breaks into a fault.

    Returns:
        The evaluation, and one group a task in the order of the domains, whose first sample is greedy.

    Raises:
        DomainError: a level or the tasks of a domain are wrong, or no task could be made at all.
        ModelError: a prompt does not fit the model's context.
    """
    start = time.perf_counter()
    _check_names([domain.name for domain, _, _ in domains])
    chosen = [_chosen(domain, level, tasks, plan) for domain, level, _ in domains]
    _check_tasks(domains, chosen, plan.split)
    owners = [domain for (domain, _, _), own in zip(domains, chosen, strict=True) for _ in own]
    flat = [task for own in chosen for task in own]
    prompts = [encode(task) for task in flat]
    groups: dict[int, Group] = {}
    generating = 0.0
    for batch in _batches(prompts, plan.batch_requests):
        requests = [_request(flat[i], prompts[i], plan) for i in batch]
        began = time.perf_counter()
        drawn = engine.generate(requests, on_done)
        generating += time.perf_counter() - began
        for i, samples in zip(batch, drawn, strict=True):
            verdicts = tuple(judge(owners[i], flat[i], sample) for sample in samples)
            groups[i] = Group(i, flat[i], prompts[i], samples, verdicts)
    ordered = [groups[i] for i in range(len(flat))]
    outcomes = tuple(_outcomes(domains, chosen, ordered, plan))
    seconds = time.perf_counter() - start
    return Evaluation(name, plan, engine.version, outcomes, seconds, generating), ordered


def split_modes(group: Group) -> tuple[Group, Group]:
    """The greedy part and the sampled part of a group that `evaluate` returned."""
    greedy = replace(group, samples=group.samples[:1], verdicts=group.verdicts[:1])
    return greedy, replace(group, samples=group.samples[1:], verdicts=group.verdicts[1:])


def _chosen(
    domain: Domain, level: int, tasks: Mapping[str, Sequence[Task]] | Fetch, plan: EvaluationPlan
) -> list[Task]:
    count = wanted(domain, level, plan)
    if not isinstance(tasks, Mapping):
        return list(tasks(domain, plan.split, level, count))[:count]
    if domain.name not in tasks:
        raise DomainError(f"no tasks were given for domain {domain.name!r}", expected=sorted(tasks))
    return list(tasks[domain.name])[:count]


def _check_names(names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DomainError("a domain is listed twice in one evaluation", got=twice, expected="each name once")


def _check_tasks(domains: Sequence[Entry], chosen: Sequence[Sequence[Task]], split: Split) -> None:
    if not any(chosen):
        raise DomainError(
            "no task could be made for any domain of the evaluation",
            got=[domain.name for domain, _, _ in domains],
            next_step="run `burnish domains validate` on them to see what fails",
        )
    for (domain, level, _), own in zip(domains, chosen, strict=True):
        wrong = next((t for t in own if (t.domain, t.split, t.level) != (domain.name, split, level)), None)
        if wrong is not None:
            raise DomainError(
                f"a task given for domain {domain.name!r} is from elsewhere",
                got=wrong.key,
                expected=f"{domain.name}:{split}:{level}:...",
                next_step="evaluate on tasks of the plan's split and of the domain's level",
            )


def _request(task: Task, prompt: tuple[int, ...], plan: EvaluationPlan) -> Request:
    temperatures = (0.0, *(plan.temperature,) * plan.samples)
    return Request(prompt, temperatures, plan.max_tokens, (plan.seed, "eval", task.domain, task.index))


def _batches(prompts: Sequence[tuple[int, ...]], size: int) -> Iterator[list[int]]:
    """Positions in fixed batches of similar prompt length; longest first, so what cannot fit fails soon."""
    order = sorted(range(len(prompts)), key=lambda i: (-len(prompts[i]), i))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def _outcomes(
    domains: Sequence[Entry], chosen: Sequence[Sequence[Task]], groups: Sequence[Group], plan: EvaluationPlan
) -> Iterator[DomainOutcome]:
    start = 0
    for (domain, level, held_out), own in zip(domains, chosen, strict=True):
        mine = groups[start : start + len(own)]
        start += len(own)
        yield _outcome(domain, level, held_out, mine, plan)


def _passed(verdict: Verdict) -> float:
    return float(verdict.passed) if isinstance(verdict, Scored) else float("nan")


def _passes(groups: Sequence[Group], samples: int) -> NDArray[np.float64]:
    rows = [[_passed(verdict) for verdict in group.verdicts] for group in groups]
    return np.array(rows, np.float64).reshape(len(groups), 1 + samples)


def _content(groups: Sequence[Group]) -> str:
    digest = blake2b(digest_size=8)
    for group in groups:
        for message in group.task.messages:
            digest.update(f"{message.role}\x1f{message.content}\x1e".encode())
    return digest.hexdigest()


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _outcome(
    domain: Domain, level: int, held_out: bool, groups: Sequence[Group], plan: EvaluationPlan
) -> DomainOutcome:
    passes = _passes(groups, plan.samples)
    verdicts = [verdict for group in groups for verdict in group.verdicts]
    sampled = [sample for group in groups for sample in group.samples[1:]]
    prompts = [len(group.prompt_ids) for group in groups]
    return DomainOutcome(
        name=domain.name,
        level=level,
        held_out=held_out,
        tasks=tuple(group.task.key for group in groups),
        content=_content(groups),
        greedy=passes[:, 0],
        sampled=passes[:, 1:],
        faults=sum(isinstance(verdict, Faulted) for verdict in verdicts),
        abstained=sum(isinstance(verdict, Abstained) for verdict in verdicts),
        missing=wanted(domain, level, plan) - len(groups),
        prompt_length=_mean(prompts),
        longest_prompt=max(prompts, default=0),
        completion_length=_mean([len(sample.token_ids) for sample in sampled]),
        truncated=_mean([sample.stop is StopReason.LENGTH for sample in sampled]),
        tokens=sum(len(sample.token_ids) for group in groups for sample in group.samples),
    )
