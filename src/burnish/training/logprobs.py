"""Log-probs of completion tokens from a packed forward pass, without a graph over their logits.

T completion tokens, H hidden size, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

from burnish.models.policy import hidden_states, output_weight
from burnish.training.tree import Packed

_CHUNK = 512


def packed_logprobs(causal: PreTrainedModel, packed: Packed) -> Tensor:
    """Natural-log probability of every completion token at temperature 1: [T] float32, with gradient."""
    hidden = hidden_states(causal, packed.ids, packed.mask, packed.positions)
    rows = hidden.reshape(-1, hidden.shape[-1])[packed.predictors]
    return token_logprobs(rows, output_weight(causal), packed.targets)


def packed_logprobs_and_entropy(causal: PreTrainedModel, packed: Packed) -> tuple[Tensor, Tensor]:
    """As `packed_logprobs`, and the entropy in nats of each token's distribution; both carry gradient."""
    hidden = hidden_states(causal, packed.ids, packed.mask, packed.positions)
    rows = hidden.reshape(-1, hidden.shape[-1])[packed.predictors]
    chunks = zip(rows.split(_CHUNK), packed.targets.split(_CHUNK), strict=True)
    weight = output_weight(causal)
    parts = [checkpoint(_with_entropy, h, weight, t, use_reentrant=False) for h, t in chunks]
    return torch.cat([p[0] for p in parts]), torch.cat([p[1] for p in parts])  # pyright: ignore


def _with_entropy(hidden: Tensor, weight: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    logprobs = (hidden.float() @ weight.float().T).log_softmax(-1)
    return logprobs.gather(-1, targets[:, None])[:, 0], -(logprobs.exp() * logprobs).sum(-1)


def token_logprobs(hidden: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    """Log-softmax of `hidden @ weight.T` at the targets, with float32 logits.

    Logits of at most 512 tokens exist at a time; past that, backward recomputes each chunk.

    Args:
        hidden: [T, H].
        weight: [V, H].
        targets: [T] int64.

    Returns:
        [T] float32.
    """
    if len(targets) <= _CHUNK:
        return _logprobs(hidden, weight, targets)
    chunks = zip(hidden.split(_CHUNK), targets.split(_CHUNK), strict=True)
    if not torch.is_grad_enabled():
        return torch.cat([_logprobs(h, weight, t) for h, t in chunks])
    parts = [checkpoint(_logprobs, h, weight, t, use_reentrant=False) for h, t in chunks]
    return torch.cat(parts)  # pyright: ignore[reportArgumentType, reportCallIssue]


def _logprobs(hidden: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    return _TokenLogprobs.apply(hidden, weight, targets)  # pyright: ignore[reportReturnType]


class _TokenLogprobs(torch.autograd.Function):
    """log softmax(h W^T)[y]; gradient of the logits is g (onehot(y) - softmax).

    Logits are float32; the two matrix products of the backward pass run in the type of the inputs.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
        logits = hidden.float() @ weight.float().T
        logits -= logits.amax(-1, keepdim=True)
        chosen = logits.gather(-1, targets[:, None])[:, 0]
        mass = logits.exp_()
        total = mass.sum(-1)
        if torch.is_grad_enabled() or any(ctx.needs_input_grad):
            mass /= total[:, None]
            ctx.save_for_backward(hidden, weight, targets, mass.to(hidden.dtype))
        return chosen - total.log()

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        hidden, weight, targets, share = ctx.saved_tensors
        outer = grads[0].to(share.dtype)[:, None]
        slope = share * -outer
        slope.scatter_add_(-1, targets[:, None], outer)
        return slope @ weight, slope.T @ hidden, None
