"""One policy-gradient update: trees of graded groups in, gradients and per-token figures out.

Identical completions of a group with equal advantage are computed once and weigh as often as they were
drawn, which is exact and common for short answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor

from burnish.algorithms.base import Algorithm, TokenBatch, TokenLoss
from burnish.algorithms.controls import AT_REST, Controls
from burnish.errors import TrainingError
from burnish.faults import fault_point
from burnish.models.policy import Policy
from burnish.records import Group, Sample
from burnish.training.logprobs import packed_logprobs, packed_logprobs_and_entropy
from burnish.training.monitors import Mismatch
from burnish.training.tree import Packed, Tree, micro_batches

Credit = float | tuple[float, ...]
"""Advantage of a sample, or of each of its tokens."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One distinct completion of a group."""

    sample: Sample
    advantage: Credit
    weight: float
    """Weight of each of its tokens in the loss of the step, duplicates summed."""
    count: int


@dataclass(frozen=True, slots=True)
class GroupUpdate:
    """A group that carries signal, and its distinct completions."""

    group: Group
    branches: tuple[Branch, ...]

    @property
    def tree(self) -> Tree:
        """Prompt and completions as tokens."""
        return Tree(self.group.prompt_ids, tuple(b.sample.token_ids for b in self.branches))


@dataclass(frozen=True, slots=True)
class Reference:
    """The frozen policy that KL is measured against."""

    policy: Policy
    context: Callable[[], AbstractContextManager[object]] = nullcontext
    """Entered while the reference computes; with LoRA it switches the adapter off."""


def distinct(
    group: Group, advantages: Sequence[Credit], weights: Sequence[float], active: Sequence[bool]
) -> GroupUpdate:
    """Merge identical completions of a group; inactive ones and empty ones are left out."""
    merged: dict[tuple[object, ...], Branch] = {}
    rows = zip(group.samples, advantages, weights, active, strict=True)
    for sample, advantage, weight, counts in rows:
        if not counts or not sample.token_ids:
            continue
        key = (sample.token_ids, advantage, sample.versions)
        old = merged.get(key)
        merged[key] = (
            Branch(sample, advantage, weight, 1)
            if old is None
            else Branch(old.sample, advantage, old.weight + weight, old.count + 1)
        )
    return GroupUpdate(group, tuple(merged.values()))


def accumulate(
    policy: Policy,
    algorithm: Algorithm,
    updates: Sequence[GroupUpdate],
    token_budget: int,
    reference: Reference | None = None,
    mismatch: Mismatch | None = None,
    controls: Controls = AT_REST,
) -> dict[str, dict[str, float]]:
    """Add the gradient of the step's loss to the model; no optimiser step is taken.

    Args:
        policy: the model being trained.
        algorithm: gives the loss of each token.
        updates: groups with signal.
        token_budget: padded tokens in one forward and backward pass.
        reference: needed when the algorithm's loss has a KL term.
        mismatch: gathers how far the model is from the sampler.
        controls: where the controllers of the coefficients stand.

    Returns:
        Per domain, the mean over tokens of each metric, with `tokens` their number and `loss` their sum.

    Raises:
        TrainingError: a loss is not finite; gradients are unusable then, weights are untouched.
    """
    totals: dict[str, dict[str, float]] = {}
    for packed in micro_batches([u.tree for u in updates], token_budget):
        part = [updates[i] for i in packed.trees]
        tokens = _tokens(part)
        logprobs, entropy = _scored(policy, packed, entropy=algorithm.needs.entropy)
        batch = TokenBatch(
            logprobs, tokens.behaviour, _reference(reference, packed), tokens.advantages, tokens.lengths,
            tokens.domains, entropy, controls,
        )  # fmt: skip
        loss = algorithm.token_loss(batch)
        weighted = loss.loss * tokens.weights
        expect_finite(weighted, part, tokens)
        weighted.sum().backward()
        fault_point("update.micro_batch")
        _add(totals, part, tokens, loss, weighted.detach())
        if mismatch is not None:
            mismatch.add(logprobs, tokens.behaviour, tokens.counts)
    return _means(totals)


@dataclass(frozen=True, slots=True)
class _Tokens:
    """Per-token constants of a micro-batch, each [T] in the order of `Packed.targets`."""

    behaviour: Tensor
    advantages: Tensor
    weights: Tensor
    counts: Tensor
    owner: Tensor
    """Number of the group within the micro-batch."""
    lengths: Tensor
    """[S] tokens of each completion."""
    domains: tuple[str, ...]
    """Domain of each completion."""


def _tokens(part: Sequence[GroupUpdate]) -> _Tokens:
    branches = [(i, b) for i, u in enumerate(part) for b in u.branches]
    lengths = torch.tensor([len(b.sample.token_ids) for _, b in branches])

    def spread(values: list[float]) -> Tensor:
        return torch.tensor(values, dtype=torch.float32).repeat_interleave(lengths)

    return _Tokens(
        behaviour=torch.tensor([p for _, b in branches for p in b.sample.logprobs], dtype=torch.float32),
        advantages=torch.tensor([a for _, b in branches for a in _each(b)], dtype=torch.float32),
        weights=spread([b.weight for _, b in branches]),
        counts=spread([b.count for _, b in branches]),
        owner=torch.tensor([i for i, _ in branches]).repeat_interleave(lengths),
        lengths=lengths,
        domains=tuple(part[i].group.task.domain for i, _ in branches),
    )


def _each(branch: Branch) -> Sequence[float]:
    """The advantage of each token."""
    if isinstance(branch.advantage, tuple):
        return branch.advantage
    return (branch.advantage,) * len(branch.sample.token_ids)


def _scored(policy: Policy, packed: Packed, *, entropy: bool) -> tuple[Tensor, Tensor | None]:
    if entropy:
        return packed_logprobs_and_entropy(policy.causal, packed)
    return packed_logprobs(policy.causal, packed), None


@torch.no_grad()
def _reference(reference: Reference | None, packed: Packed) -> Tensor | None:
    if reference is None:
        return None
    with reference.context():
        return packed_logprobs(reference.policy.causal, packed)


def expect_finite(weighted: Tensor, part: Sequence[GroupUpdate], tokens: _Tokens) -> None:
    """Raise TrainingError naming the tasks whose token losses are not finite."""
    bad = ~torch.isfinite(weighted.detach())
    if not bad.any():
        return
    keys = sorted({part[int(i)].group.task.key for i in tokens.owner[bad].unique()})
    raise TrainingError(
        "the loss is not a finite number; the weights before this step are kept",
        got=f"NaN or infinity on {int(bad.sum())} tokens of {', '.join(keys[:5])}",
        expected="finite losses",
        next_step="lower rl.lr, look at these samples in the report, or leave the domain out",
    )


def _add(
    totals: dict[str, dict[str, float]],
    part: Sequence[GroupUpdate],
    tokens: _Tokens,
    loss: TokenLoss,
    weighted: Tensor,
) -> None:
    for i, update in enumerate(part):
        row = totals.setdefault(update.group.task.domain, {"tokens": 0.0, "loss": 0.0})
        mine = tokens.owner == i
        counts = tokens.counts[mine]
        row["tokens"] += float(counts.sum())
        row["loss"] += float(weighted[mine].sum())
        for name, values in loss.metrics.items():
            row[name] = row.get(name, 0.0) + float((values[mine] * counts).sum())


def _means(totals: Mapping[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    plain = ("tokens", "loss")
    return {
        domain: {n: v if n in plain else v / max(row["tokens"], 1.0) for n, v in row.items()}
        for domain, row in totals.items()
    }
