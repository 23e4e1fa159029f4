"""Tasks to requests, and completions to graded groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from burnish.algorithms.base import RewardBatch
from burnish.domains.base import Domain
from burnish.faults import fault_point
from burnish.models.policy import Policy
from burnish.randomness import uniform
from burnish.records import Boundary, Faulted, Group, Sample, Scored, StopReason, Task, Verdict
from burnish.rewards.deadline import within
from burnish.rewards.judge import judge
from burnish.spans import span


@dataclass(frozen=True, slots=True)
class Collector:
    """What is the same for every group of a stage."""

    policy: Policy
    domains: Mapping[str, Domain]
    samples: int
    temperature: float
    max_tokens: int
    seed: int
    grading_workers: int = 1
    grading_seconds: float = 60.0
    greedy: bool = False
    """Draw one greedy completion more for each prompt, after its samples."""
    fault_rate: float = 0.0
    """Share of verdicts to throw away as if the grader had broken."""

    @property
    def temperatures(self) -> tuple[float, ...]:
        """Of the completions of a prompt, in order."""
        return (self.temperature,) * self.samples + (0.0,) * self.greedy

    def grade(self, group: Group) -> Group:
        """Fill in the verdict of every sample; equal answers to one task are judged once."""
        domain = self.domains[group.task.domain]
        known: dict[str, Verdict] = {}
        with span("grade"):
            for sample in group.samples:
                if sample.text not in known:
                    fault_point("grade.sample")
                    known[sample.text] = verdict_within(self.grading_seconds, domain, group.task, sample)
        verdicts = [known[s.text] for s in group.samples]
        return replace(group, verdicts=tuple(self._drilled(group, i, v) for i, v in enumerate(verdicts)))

    def _drilled(self, group: Group, sample: int, verdict: Verdict) -> Verdict:
        """The verdict, or a fault in its place."""
        if not self.fault_rate or uniform(self.seed, "drill", group.ordinal, sample) >= self.fault_rate:
            return verdict
        return Faulted(Boundary.DOMAIN, f"{group.task.domain}: a fault asked for by rl.fault_rate")


def verdict_within(seconds: float, domain: Domain, task: Task, sample: Sample) -> Verdict:
    """The verdict of a domain; one that takes too long is a fault, never a wrong answer."""
    try:
        return within(seconds, lambda: judge(domain, task, sample))
    except TimeoutError:
        return Faulted(Boundary.DOMAIN, f"{domain.name}: no verdict within {seconds:g} s")


def reward_batch(
    groups: Sequence[Group],
    *,
    coin: int | None = None,
    fresh: Tensor | None = None,
    greedy: bool = False,
) -> RewardBatch:
    """Rewards of graded groups; only `Scored` verdicts are valid.

    Args:
        groups: G groups of N samples.
        coin: a seed; rewards are then coin flips that know nothing of the verdict, as a control.
        fresh: [G, N] bool; samples where it is false are not valid either.
        greedy: the last sample of each group was drawn greedily.
    """
    values = [
        [_value(v) if coin is None else _flip(coin, g, i) for i, v in enumerate(g.verdicts)] for g in groups
    ]
    scored = [[isinstance(v, Scored) for v in g.verdicts] for g in groups]
    valid = torch.tensor(scored, dtype=torch.bool)
    return RewardBatch(
        torch.tensor(values, dtype=torch.float32),
        valid if fresh is None else valid & fresh,
        tuple(g.task.domain for g in groups),
        torch.tensor([[len(s.token_ids) for s in g.samples] for g in groups], dtype=torch.int64),
        torch.tensor([[s.stop is StopReason.LENGTH for s in g.samples] for g in groups], dtype=torch.bool),
        greedy,
    )


def without_greedy(groups: Sequence[Group]) -> list[Group]:
    """The groups without the last completion of each, which was drawn greedily as a baseline."""
    return [replace(g, samples=g.samples[:-1], verdicts=g.verdicts[:-1]) for g in groups]


def within_bound(groups: Sequence[Group], version: int, bound: int) -> Tensor:
    """[G, N] bool: no token of the sample was drawn more than `bound` optimiser steps before `version`."""
    rows = [[all(v >= version - bound for v in s.versions) for s in g.samples] for g in groups]
    return torch.tensor(rows, dtype=torch.bool)


def _value(verdict: Verdict) -> float:
    return verdict.value if isinstance(verdict, Scored) else 0.0


def _flip(seed: int, group: Group, sample: int) -> float:
    return float(uniform(seed, "coin", group.ordinal, sample) < 0.5)
