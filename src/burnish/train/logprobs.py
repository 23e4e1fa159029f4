"""Log-probs of completion tokens from a packed forward pass, without holding their logits.

T completion tokens, H hidden size, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedModel

from burnish.models.policy import hidden_states, output_weight
from burnish.train.tree import Packed

_CHUNK = 256


def packed_logprobs(causal: PreTrainedModel, packed: Packed) -> Tensor:
    """Natural-log probability of every completion token at temperature 1: [T] float32, with gradient."""
    hidden = hidden_states(causal, packed.ids, packed.mask, packed.positions)
    rows = hidden.reshape(-1, hidden.shape[-1])[packed.predictors]
    return token_logprobs(rows, output_weight(causal), packed.targets)


def token_logprobs(hidden: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    """Log-softmax of `hidden @ weight.T` at the targets, in float32.

    Logits of at most 256 tokens exist at a time: backward recomputes them.

    Args:
        hidden: [T, H].
        weight: [V, H].
        targets: [T] int64.

    Returns:
        [T] float32.
    """
    full = weight.float()
    chunks = zip(hidden.split(_CHUNK), targets.split(_CHUNK), strict=True)
    if not torch.is_grad_enabled():
        return torch.cat([_chunk(h, full, t) for h, t in chunks])
    parts = [checkpoint(_chunk, h, full, t, use_reentrant=False) for h, t in chunks]
    return torch.cat(parts)  # pyright: ignore[reportArgumentType, reportCallIssue]


def _chunk(hidden: Tensor, weight: Tensor, targets: Tensor) -> Tensor:
    logits = hidden.float() @ weight.T
    return logits.gather(-1, targets[:, None])[:, 0] - logits.logsumexp(-1)
