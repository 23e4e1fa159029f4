"""The experience of one step: draw completions for tasks and let their domains judge them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import torch

from burnish.algorithms.base import RewardBatch
from burnish.domains.base import Domain
from burnish.models.policy import Policy
from burnish.randomness import uniform
from burnish.records import Group, Scored, Task, Verdict
from burnish.rewards.judge import judge
from burnish.rollout.engine import Engine, Request


@dataclass(frozen=True, slots=True)
class Collector:
    """What turns tasks into graded groups."""

    engine: Engine
    policy: Policy
    domains: Mapping[str, Domain]
    samples: int
    temperature: float
    max_tokens: int
    seed: int
    workers: int = 1

    def collect(
        self,
        tasks: Sequence[Task],
        step: int,
        first_ordinal: int,
        on_done: Callable[[int], None] | None = None,
    ) -> list[Group]:
        """Graded groups, in the order of the tasks."""
        prompts = [self.policy.encode(task.messages) for task in tasks]
        requests = [
            Request(
                prompt,
                (self.temperature,) * self.samples,
                self.max_tokens,
                (self.seed, "rollout", step, first_ordinal + i),
            )
            for i, prompt in enumerate(prompts)
        ]
        drawn = self.engine.generate(requests, on_done)
        groups = [
            Group(first_ordinal + i, task, prompt, samples, ())
            for i, (task, prompt, samples) in enumerate(zip(tasks, prompts, drawn, strict=True))
        ]
        return self.grade(groups)

    def grade(self, groups: Sequence[Group]) -> list[Group]:
        """Fill in the verdict of every sample; equal answers to one task are judged once."""
        if self.workers <= 1:
            return [self._grade(group) for group in groups]
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(self._grade, groups))

    def _grade(self, group: Group) -> Group:
        domain = self.domains[group.task.domain]
        known: dict[str, Verdict] = {}
        for sample in group.samples:
            if sample.text not in known:
                known[sample.text] = judge(domain, group.task, sample)
        return replace(group, verdicts=tuple(known[s.text] for s in group.samples))


def reward_batch(groups: Sequence[Group], *, coin: int | None = None) -> RewardBatch:
    """Rewards of graded groups; only `Scored` verdicts are valid.

    Args:
        groups: G groups of N samples.
        coin: a seed; rewards are then coin flips that know nothing of the verdict, as a control.
    """
    values = [
        [_value(v) if coin is None else _flip(coin, g, i) for i, v in enumerate(g.verdicts)] for g in groups
    ]
    valid = [[isinstance(v, Scored) for v in g.verdicts] for g in groups]
    return RewardBatch(
        torch.tensor(values, dtype=torch.float32),
        torch.tensor(valid, dtype=torch.bool),
        tuple(g.task.domain for g in groups),
    )


def _value(verdict: Verdict) -> float:
    return verdict.value if isinstance(verdict, Scored) else 0.0


def _flip(seed: int, group: Group, sample: int) -> float:
    return float(uniform(seed, "coin", group.ordinal, sample) < 0.5)
