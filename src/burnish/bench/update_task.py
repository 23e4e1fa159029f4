"""One policy-gradient update, ours and the naive way, on the same completions.

The naive way runs every completion as a sequence of its own behind its own copy of the prompt, padded to one
length. `full_logits` turns all positions into logits, as a plain `model(ids).logits` does;
`separate` only those of the completions, as the better trainers do.

N samples a prompt, S completion tokens, L tokens of prompt and completion.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from burnish.algorithms.base import Algorithm, TokenBatch
from burnish.algorithms.build import build
from burnish.algorithms.settings import AlgorithmSettings
from burnish.bench.child import Peak
from burnish.errors import ModelError
from burnish.models.load import load_policy
from burnish.models.policy import Policy
from burnish.models.settings import ModelSettings
from burnish.pipeline.parts import threads as arithmetic_threads
from burnish.records import Group, Message, Sample, Split, Task
from burnish.training.update import GroupUpdate, accumulate, distinct

Way = Literal["ours", "recomputed", "separate", "full_logits"]
WAYS: tuple[Way, ...] = ("ours", "recomputed", "separate", "full_logits")
"""`recomputed` is ours with gradient checkpointing."""
_ALGORITHM = AlgorithmSettings(name="grpo", kl_coef=0.0)


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of one update."""

    prompt_tokens: int
    samples: int
    completion_tokens: int
    prompts: int = 1

    @property
    def completion_total(self) -> int:
        """Completion tokens of the whole update."""
        return self.prompts * self.samples * self.completion_tokens


def measure_update(
    way: Way, model: dict[str, Any], shape: dict[str, int], repeats: int, token_budget: int, threads: int
) -> dict[str, Any]:
    """Seconds of each update after one that is not counted, and the peak of memory of this process."""
    with arithmetic_threads(threads):
        policy = _trainable(model | {"gradient_checkpointing": way == "recomputed"})
        updates = random_updates(policy, Shape(**shape))
        algorithm = build(_ALGORITHM)
        peak = Peak()
        seconds = []
        for _ in range(repeats + 1):
            began = time.perf_counter()
            _update(way, policy, algorithm, updates, token_budget)
            seconds.append(time.perf_counter() - began)
            policy.model.zero_grad(set_to_none=True)
        return {"seconds": seconds[1:], "peak_bytes": peak.bytes, "before_bytes": peak.before}


def compare_gradients(
    model: dict[str, Any], shape: dict[str, int], token_budget: int, threads: int
) -> dict[str, float]:
    """Largest difference of any gradient between our way and the naive one, in float32."""
    with arithmetic_threads(threads):
        policy = _trainable(model | {"dtype": "float32"})
        updates = random_updates(policy, Shape(**shape))
        found: dict[str, dict[str, Tensor]] = {}
        for way in ("ours", "separate"):
            _update(way, policy, build(_ALGORITHM), updates, token_budget)
            found[way] = {n: p.grad.clone() for n, p in policy.trainable().items() if p.grad is not None}
            policy.model.zero_grad(set_to_none=True)
        gaps = [(found["ours"][n] - g).abs().max() for n, g in found["separate"].items()]
        largest = max(float(g.abs().max()) for g in found["separate"].values())
        difference = float(torch.stack(gaps).max())
        return {"difference": difference, "largest": largest, "relative": difference / max(largest, 1e-30)}


def random_updates(policy: Policy, shape: Shape) -> list[GroupUpdate]:
    """Groups of random tokens with advantages of both signs; the sampler is the policy slightly off.

    Raises:
        ModelError: they are longer than the model's context.
    """
    if shape.prompt_tokens + shape.completion_tokens > policy.context:
        raise ModelError(
            "prompts and completions do not fit the model's context",
            got=f"{shape.prompt_tokens} + {shape.completion_tokens} tokens",
            expected=f"at most {policy.context}",
            next_step="choose shorter ones with --prompt-tokens and --completions",
        )
    generator = torch.Generator().manual_seed(0)
    vocabulary = policy.causal.config.vocab_size

    def tokens(count: int) -> tuple[int, ...]:
        return tuple(torch.randint(vocabulary, (count,), generator=generator).tolist())

    updates = []
    for ordinal in range(shape.prompts):
        task = Task("bench", Split.TRAIN, 0, ordinal, (Message("user", ""),))
        samples = tuple(
            Sample("", i, ids, (-11.0,) * len(ids), (0,) * len(ids))
            for i, ids in enumerate(tokens(shape.completion_tokens) for _ in range(shape.samples))
        )
        advantages = [1.0 if i % 2 else -1.0 for i in range(shape.samples)]
        weights = [1.0 / shape.completion_total] * shape.samples
        group = Group(ordinal, task, tokens(shape.prompt_tokens), samples, ())
        updates.append(distinct(group, advantages, weights, [True] * shape.samples))
    return updates


def _update(
    way: Way, policy: Policy, algorithm: Algorithm, updates: list[GroupUpdate], token_budget: int
) -> None:
    if way in ("ours", "recomputed"):
        accumulate(policy, algorithm, updates, token_budget)
        return
    for update in updates:
        naive_loss(policy, algorithm, update, full_logits=way == "full_logits").backward()


def naive_loss(policy: Policy, algorithm: Algorithm, update: GroupUpdate, *, full_logits: bool) -> Tensor:
    """Loss of one group from N separate sequences [N, L], padded on the right."""
    prompt, branches = update.group.prompt_ids, update.branches
    longest = max(len(b.sample.token_ids) for b in branches)
    rows = [b.sample.token_ids + (0,) * (longest - len(b.sample.token_ids)) for b in branches]
    ids = torch.tensor([prompt + row for row in rows])
    lengths = torch.tensor([len(prompt) + len(b.sample.token_ids) for b in branches])
    attends = torch.arange(ids.shape[1]) < lengths[:, None]
    keep = 0 if full_logits else longest + 1
    logits = policy.causal(input_ids=ids, attention_mask=attends, logits_to_keep=keep).logits
    logits = logits[:, -longest - 1 : -1].float()
    chosen = logits.log_softmax(-1).gather(-1, torch.tensor(rows)[..., None])[..., 0]
    used = attends[:, len(prompt) :]

    def spread(values: list[float]) -> Tensor:
        return torch.tensor(values)[:, None].expand_as(used)[used]

    behaviour = torch.tensor([p for b in branches for p in b.sample.logprobs])
    batch = TokenBatch(
        chosen[used],
        behaviour,
        None,
        spread([b.advantage for b in branches if isinstance(b.advantage, float)]),
    )
    return (algorithm.token_loss(batch).loss * spread([b.weight for b in branches])).sum()


def _trainable(model: dict[str, Any]) -> Policy:
    policy = load_policy(ModelSettings(**model))
    policy.model.requires_grad_(True)
    return policy
