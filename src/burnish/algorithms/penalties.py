"""Pulls towards the frozen reference, as token losses [T] already multiplied by their coefficient."""

from __future__ import annotations

import torch
from torch import Tensor

from burnish.algorithms.base import TokenBatch
from burnish.algorithms.kl import k2, k3


def reference_k2(batch: TokenBatch, weight: Tensor, coef: float) -> Tensor:
    """Weighted k2; with weight = sg(pi/mu) its expected gradient is that of coef KL(pi || ref)."""
    if coef == 0:
        return torch.zeros_like(batch.logprobs)
    return coef * weight * k2(batch.logprobs, reference_of(batch, coef))


def reference_k3(batch: TokenBatch, coef: float) -> Tensor:
    """The k3 of the GRPO paper; on-policy its expected gradient is that of coef KL(ref || pi)."""
    if coef == 0:
        return torch.zeros_like(batch.logprobs)
    return coef * k3(batch.logprobs, reference_of(batch, coef))


def reference_of(batch: TokenBatch, coef: float) -> Tensor:
    """The reference log-probs, or ValueError when a coefficient asks for them and they are absent."""
    if batch.reference is None:
        raise ValueError(f"kl_coef is {coef}, but the batch of {len(batch.logprobs)} tokens has no reference")
    return batch.reference
