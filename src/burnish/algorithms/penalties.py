"""Pulls towards the reference: a term of the token loss, or a charge on the rewards."""

from __future__ import annotations

import torch
from torch import Tensor

from burnish.algorithms import segments
from burnish.algorithms.base import TokenBatch
from burnish.algorithms.kl import ESTIMATORS
from burnish.algorithms.settings import Estimator


def in_loss(batch: TokenBatch, estimator: Estimator, weight: Tensor, coef: float) -> Tensor:
    """Term of the token loss, [T], multiplied by its coefficient.

    k1 and k2 are weighted; with weight = sg(pi/mu) the expected gradient of k2 is that of coef KL(pi || ref)
    and that of k1 is 0. k3 stands as in the GRPO paper: on-policy its expected gradient is that of
    coef KL(ref || pi).
    """
    value = ESTIMATORS[estimator](batch.logprobs, reference_of(batch, coef))
    return coef * value if estimator == "k3" else coef * weight * value


def in_reward(batch: TokenBatch, estimator: Estimator, coef: float) -> Tensor:
    """What the advantage of each token is charged, [T] without gradient.

    A token pays for itself and for all that follow in its completion. With k1 the expected gradient of the
    charge is that of coef KL(pi || ref) of whole completions.
    """
    value = ESTIMATORS[estimator](batch.logprobs.detach(), reference_of(batch, coef))
    return coef * segments.to_go(value, batch.bounds)


def reference_of(batch: TokenBatch, coef: float) -> Tensor:
    """The reference log-probs, or ValueError when a coefficient asks for them and they are absent."""
    if batch.reference is None:
        raise ValueError(f"kl_coef is {coef}, but the batch of {len(batch.logprobs)} tokens has no reference")
    return batch.reference


def entropy_of(batch: TokenBatch, coef: float) -> Tensor:
    """The entropies, or ValueError when a coefficient asks for them and they are absent."""
    if batch.entropy is None:
        raise ValueError(
            f"entropy_coef is {coef}, but the batch of {len(batch.logprobs)} tokens has no entropy"
        )
    return batch.entropy


def zero(batch: TokenBatch) -> Tensor:
    """No pull."""
    return torch.zeros_like(batch.logprobs)
