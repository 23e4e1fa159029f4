"""What is measured: the same tasks everywhere, so that figures can be compared."""

from __future__ import annotations

import itertools
from typing import Any

from burnish.domains.base import Domain
from burnish.domains.registry import default_registry
from burnish.models.policy import Policy
from burnish.recipe import Recipe, build_recipe
from burnish.records import Split

CHAIN_SUM = "reasoning-gym/arithmetic/chain_sum"

SHORT_ANSWERS = (
    "reasoning-gym/algorithmic/isomorphic_strings",
    "reasoning-gym/algorithmic/letter_counting",
    "reasoning-gym/algorithmic/spell_backward",
    "reasoning-gym/arithmetic/basic_arithmetic",
    "reasoning-gym/arithmetic/calendar_arithmetic",
    "reasoning-gym/arithmetic/chain_sum",
    "reasoning-gym/arithmetic/count_bits",
    "reasoning-gym/arithmetic/decimal_chain_sum",
    "reasoning-gym/arithmetic/gcd",
    "reasoning-gym/arithmetic/leg_counting",
    "reasoning-gym/arithmetic/products",
    "reasoning-gym/cognition/number_sequence",
    "reasoning-gym/graphs/family_relationships",
    "reasoning-gym/logic/aiw",
)
"""Fourteen domains with prompts of 60 to 250 tokens and answers of 2 to 20."""

WORKLOADS: dict[str, dict[str, Any]] = {
    "chain_sum": {"domains": [CHAIN_SUM], "max_tokens": 64},
    "short_answers": {"domains": list(SHORT_ANSWERS), "max_tokens": 24},
}
"""Both with 8 prompts a step and 8 samples a prompt."""


def chain_sum() -> Domain:
    """Sums of a few numbers."""
    return default_registry().load(CHAIN_SUM)


def prompts_for(policy: Policy, count: int) -> list[tuple[int, ...]]:
    """The first `count` different training prompts of `chain_sum`, as tokens of the policy."""
    domain = chain_sum()
    found: dict[tuple[int, ...], None] = {}
    for index in itertools.count():
        if len(found) == count:
            break
        found[policy.encode(domain.task(Split.TRAIN, 0, index).messages)] = None
    return list(found)


def step_recipe(workload: str, model: str, steps: int, *, reward: str = "random", **more: Any) -> Recipe:
    """A run that is nothing but reinforcement learning on a workload.

    Args:
        workload: key of `WORKLOADS`.
        model: what to train.
        steps: optimiser steps.
        reward: `random` flips coins, so that every group has signal and the update is at its full size.
        more: keys of the recipe that differ, by dotted name.
    """
    chosen = WORKLOADS[workload]
    data: dict[str, Any] = {
        "name": f"bench-{workload}",
        "stages": ["rl"],
        "model": {"name": model},
        "domains": {"train": chosen["domains"]},
        "rollout": {"samples": 8, "max_tokens": chosen["max_tokens"]},
        "algorithm": {"name": "grpo", "kl_coef": 0.0},
        "rl": {"steps": steps, "prompts_per_step": 8, "lr": 1e-5, "warmup": 0, "reward": reward},
        "evaluate": {"tasks": 1, "samples": 1},
    }
    return build_recipe(data, more)
