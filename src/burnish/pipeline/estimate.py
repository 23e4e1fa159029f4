"""What a run would need, before it starts: memory from the model's shape, time from a short measurement."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from burnish.domains.base import Domain
from burnish.models.load import load_policy
from burnish.models.policy import Policy
from burnish.pipeline.parts import domains_of, engine_of, entries, threads
from burnish.recipe import Recipe
from burnish.records import Split, Task
from burnish.rollout.engine import Request
from burnish.training.logprobs import packed_logprobs
from burnish.training.tree import Tree, micro_batches

_RUNTIME_BYTES = 700 << 20
"""Interpreter, torch, transformers and task generators."""
_SAMPLE_TASKS = 16


@dataclass(frozen=True)
class Estimate:
    """What a run is expected to need on this machine."""

    memory_bytes: int
    seconds: float
    lines: tuple[str, ...]
    """The parts, in words."""


def dry_run(recipe: Recipe, extra_domains: Sequence[Domain] = ()) -> Estimate:
    """Load the model, time one small generation and one small update, and scale them to the recipe."""
    domains = domains_of(recipe, extra_domains)
    with threads(recipe.threads):
        policy = load_policy(recipe.model, recipe.seed)
        tasks = _some_tasks(recipe, [(d, level) for d, level, _ in entries(domains)])
        speeds = _measure(policy, recipe, tasks)
    seconds = _stage_seconds(recipe, speeds, len(domains.all))
    memory = _memory(policy, recipe)
    lines = (
        f"prompts of {speeds.prompt:.0f} tokens on average, gold answers of {speeds.answer:.0f}",
        f"generation {speeds.generated:.0f} tokens/s, training {speeds.trained:.0f} tokens/s (measured now)",
        *(f"{name}: about {value / 60:.1f} minutes" for name, value in seconds.items()),
    )
    return Estimate(memory, sum(seconds.values()), lines)


@dataclass(frozen=True)
class _Speeds:
    prompt: float
    answer: float
    generated: float
    """Completion tokens per second, prefill included."""
    trained: float
    """Tokens per second of forward and backward."""


def _some_tasks(recipe: Recipe, levels: Sequence[tuple[Domain, int]]) -> list[Task]:
    step = max(1, len(levels) // _SAMPLE_TASKS)
    return [domain.task(Split.TRAIN, level, 0) for domain, level in levels[::step]][:_SAMPLE_TASKS]


def _measure(policy: Policy, recipe: Recipe, tasks: Sequence[Task]) -> _Speeds:
    prompts = [policy.encode(task.messages) for task in tasks]
    answers = [policy.encode_completion(task.gold or "0") for task in tasks]
    limit = recipe.rollout.max_tokens
    temperatures = (recipe.rollout.temperature,) * recipe.rollout.samples
    engine = engine_of(policy, recipe)
    requests = [Request(p, temperatures, limit, ("dry", i)) for i, p in enumerate(prompts)]
    began = time.monotonic()
    drawn = sum(len(s.token_ids) for group in engine.generate(requests) for s in group)
    generating = time.monotonic() - began
    trees = [Tree(p, (a,)) for p, a in zip(prompts, answers, strict=True)]
    began = time.monotonic()
    for packed in micro_batches(trees, recipe.rl.tokens_per_micro_batch):
        packed_logprobs(policy.causal, packed).sum().backward()
    policy.model.zero_grad()
    return _Speeds(
        sum(map(len, prompts)) / len(prompts),
        sum(map(len, answers)) / len(answers),
        drawn / generating,
        sum(t.tokens for t in trees) / (time.monotonic() - began),
    )


def _stage_seconds(recipe: Recipe, speeds: _Speeds, domains: int) -> dict[str, float]:
    r, s = recipe.rl, recipe.sft
    rows = recipe.rollout.samples
    tasks = domains * recipe.evaluate.tasks
    evaluation = tasks * (1 + recipe.evaluate.samples) * speeds.answer / speeds.generated
    seconds = {"evaluations": evaluation * (1 + len(recipe.stages))}
    if "sft" in recipe.stages:
        seconds["sft"] = s.steps * s.batch * (speeds.prompt + speeds.answer) / speeds.trained
    if "rl" in recipe.stages:
        drawing = r.prompts_per_step * rows * speeds.answer / speeds.generated
        learning = r.prompts_per_step * (speeds.prompt + rows * speeds.answer) / speeds.trained
        seconds["rl"] = r.steps * (drawing + learning * (1.33 if recipe.algorithm.needs_reference else 1))
    limits = {"sft": s.max_minutes, "rl": r.max_minutes}
    return {n: min(v, 60 * (limits.get(n) or float("inf"))) for n, v in seconds.items()}


def _memory(policy: Policy, recipe: Recipe) -> int:
    """Bytes at the peak: weights of every copy, optimiser, activations of one micro-batch, one KV cache."""
    config = policy.causal.config
    every = sum(p.numel() for p in policy.model.parameters())
    trained = sum(p.numel() for p in policy.trainable().values())
    width = torch.finfo(policy.dtype).bits // 8
    copies = 2 + bool(recipe.algorithm.needs_reference and not recipe.model.lora_rank)
    budget = max(recipe.rl.tokens_per_micro_batch, recipe.sft.tokens_per_micro_batch)
    per_token = config.num_hidden_layers * (14 * config.hidden_size + 4 * config.intermediate_size) * width
    heads = config.num_key_value_heads * (config.hidden_size // config.num_attention_heads)
    cache = recipe.rollout.batch_rows * 256 * config.num_hidden_layers * heads * 2 * width
    logits = 256 * config.vocab_size * 4 * 4
    head = config.vocab_size * config.hidden_size * 4 * 2
    return every * width * copies + trained * 16 + budget * per_token + cache + logits + head + _RUNTIME_BYTES
