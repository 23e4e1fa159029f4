"""How fast completions are drawn, against this machine's own limit and against others.

Every side draws exactly the asked number of tokens: end-of-sequence tokens are drawn like any other, so the
work is the same. Prompts are computed anew in each round.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import torch

from burnish.bench.limit import Limit, measure_limit
from burnish.bench.machine import machine
from burnish.bench.plain import PlainModel
from burnish.bench.timing import interleaved, repeated
from burnish.bench.vllm_process import VARIABLE, Vllm
from burnish.bench.workloads import prompts_for
from burnish.models.export import save_pretrained
from burnish.models.load import load_policy
from burnish.models.policy import Policy
from burnish.models.settings import ModelSettings
from burnish.pipeline.parts import frozen_copy, threads
from burnish.rollout.engine import Request
from burnish.rollout.torch_engine import TorchEngine
from burnish.training.optimiser import masters_of

Say = Callable[[str], None]

_NO_TOKEN = frozenset({-1})
"""Stops of a policy that never stops by itself."""
_GROUP = 8
"""Samples of a prompt where growth is measured."""


@dataclass(frozen=True, slots=True)
class RolloutPlan:
    """What `burnish bench rollout` measures."""

    model: ModelSettings
    rows: int = 64
    """Completions decoded together."""
    tokens: int = 64
    """Length of each."""
    samples: int = 1
    """Completions of a prompt; there are rows / samples prompts."""
    rounds: int = 3
    growth: tuple[int, ...] = (8, 16, 32, 64, 128, 256)
    growth_tokens: int = 32
    agreement_rows: int = 4
    """Completions whose log-probs are compared with a plain forward pass."""
    threads: int = 0


def bench_rollout(plan: RolloutPlan, say: Say = lambda _: None) -> dict[str, Any]:
    """Limit, then engine, `transformers` and vLLM (if BURNISH_VLLM_PYTHON is set), growth, agreement."""
    with threads(plan.threads):
        say("loading the model")
        policy = endless(load_policy(plan.model))
        dtype = str(policy.dtype).removeprefix("torch.")
        say("measuring the limit of this machine's matrix products")
        limits = {
            name: measure_limit(policy.causal, plan.rows, name) for name in dict.fromkeys((dtype, "float32"))
        }
        say("drawing completions, all sides in turn")
        sides = _race(plan, policy, dtype, limits[dtype])
        say("cost of a token from few to many rows")
        growth = [_cost(plan, policy, rows) for rows in plan.growth]
        say("log-probs against a plain forward pass")
        agreement = {name: _agreement(plan, policy, name) for name in dict.fromkeys((dtype, "float32"))}
        return {
            "benchmark": "rollout",
            "machine": machine(torch.get_num_threads()),
            "workload": {
                "model": plan.model.name, "dtype": dtype, "rows": plan.rows, "samples": plan.samples,
                "tokens": plan.tokens, "rounds": plan.rounds, "stops": "ignored on every side",
            },
            "limit": {name: limit.to_dict() for name, limit in limits.items()},
            **sides,
            "growth": growth,
            "agreement": agreement,
        }  # fmt: skip


def endless(policy: Policy) -> Policy:
    """The same policy, for which no token ends a completion."""
    return replace(policy, stop_ids=_NO_TOKEN)


def requests_for(policy: Policy, rows: int, samples: int, tokens: int) -> list[Request]:
    """`rows` completions of `tokens` tokens over the first prompts of chain_sum."""
    prompts = prompts_for(policy, max(1, rows // samples))
    return [Request(p, (1.0,) * samples, tokens, ("bench", i)) for i, p in enumerate(prompts)]


def _race(plan: RolloutPlan, policy: Policy, dtype: str, limit: Limit) -> dict[str, Any]:
    engine = TorchEngine(frozen_copy(policy), batch_rows=plan.rows)
    plain = PlainModel(policy)
    requests = requests_for(policy, plan.rows, plan.samples, plan.tokens)
    firsts = [replace(r, max_tokens=1) for r in requests]
    rows = [r.prompt_ids for r in requests for _ in r.temperatures]
    cases: dict[str, Callable[[], object]] = {
        "engine": lambda: engine.generate(requests),
        "prompts": lambda: engine.generate(firsts),
        "transformers": lambda: plain.generate(rows, plan.tokens),
    }
    with _vllm(plan, policy, requests, dtype) as vllm:
        if vllm is not None:
            cases["vllm"] = vllm.round
        seconds = interleaved(cases, plan.rounds)
    drawn = len(rows) * plan.tokens
    sides = {name: _speed(drawn, seconds[name]) for name in cases if name != "prompts"}
    for name, side in sides.items():
        side["ratio"] = median(seconds[name]) / median(seconds["engine"])
    prompt = median(seconds["prompts"])
    decode = (drawn - len(rows)) / max(median(seconds["engine"]) - prompt, 1e-9)
    sides["engine"] |= {
        "prompt_seconds": prompt,
        "prompt_tokens": sum(len(r.prompt_ids) for r in requests),
        "decode_tokens_per_second": decode,
        "share_of_limit": sides["engine"]["tokens_per_second"] / limit.tokens_per_second,
        "decode_share_of_limit": decode / limit.tokens_per_second,
    }
    return sides


@contextmanager
def _vllm(plan: RolloutPlan, policy: Policy, requests: list[Request], dtype: str) -> Iterator[Vllm | None]:
    python = os.environ.get(VARIABLE)
    if not python:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        save_pretrained(policy, masters_of(dict(policy.model.named_parameters())), model)
        with Vllm(
            python, model, [r.prompt_ids for r in requests], samples=plan.samples, tokens=plan.tokens,
            dtype=dtype, threads=torch.get_num_threads(),
        ) as vllm:  # fmt: skip
            yield vllm


def _speed(tokens: int, seconds: list[float]) -> dict[str, Any]:
    return {"tokens_per_second": tokens / median(seconds), "tokens": tokens, "seconds": seconds}


def _cost(plan: RolloutPlan, policy: Policy, rows: int) -> dict[str, float]:
    """Microseconds a decoded token costs with `rows` rows under way, prompts not counted."""
    engine = TorchEngine(frozen_copy(policy), batch_rows=rows)
    requests = requests_for(policy, rows, min(_GROUP, rows), plan.growth_tokens)
    firsts = [replace(r, max_tokens=1) for r in requests]
    whole = repeated(lambda: engine.generate(requests), 2)
    prompt = repeated(lambda: engine.generate(firsts), 2)
    count = sum(len(r.temperatures) for r in requests)
    seconds = max(whole - prompt, 1e-9) / (count * (plan.growth_tokens - 1))
    return {"rows": count, "microseconds_per_token": 1e6 * seconds, "tokens_per_second": 1 / seconds}


def _agreement(plan: RolloutPlan, policy: Policy, dtype: str) -> dict[str, float]:
    """How far the engine's log-probs are from those of one forward pass over the finished sequence."""
    kind = {"float32": torch.float32, "bfloat16": torch.bfloat16}[dtype]
    copied = frozen_copy(policy)
    copied = replace(copied, model=copied.model.to(kind))  # pyright: ignore[reportCallIssue, reportArgumentType]
    plain = PlainModel(copied)
    requests = requests_for(policy, plan.agreement_rows, min(2, plan.agreement_rows), plan.tokens)
    groups = TorchEngine(copied, batch_rows=plan.rows).generate(requests)
    gaps = [
        (torch.tensor(sample.logprobs) - plain.logprobs(request.prompt_ids, sample.token_ids)).abs()
        for request, samples in zip(requests, groups, strict=True)
        for sample in samples
    ]
    gap = torch.cat(gaps)
    return {"max": float(gap.max()), "mean": float(gap.mean()), "tokens": gap.numel()}
