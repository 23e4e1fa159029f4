"""Importance corrections of what older weights, or another engine, have drawn (2110.00641).

With one update a batch, the policy at its start is pi without gradient. The surrogate then compares pi with
that, and rho = pi/mu, mu the sampler, becomes a weight w without gradient:

    truncate            min(rho, high)                           each token its own ratio; biased, mild
    mask                rho where low <= rho <= high, else 0
    sequence_truncate   min(product of rho, high)                one weight a completion; unbiased below high
    sequence_mask       product where inside, else 0
    geometric_mask      1 where exp(mean log rho) is inside, else 0: no weight that grows with length

What is masked keeps its place in the denominators, which are fixed before any log-prob is known.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from burnish.algorithms import segments
from burnish.algorithms.base import TokenBatch
from burnish.algorithms.losses import MAX_LOG_RATIO
from burnish.algorithms.settings import Correction


def weight(kind: Correction, batch: TokenBatch, low: float, high: float) -> Tensor:
    """The weight of each token, [T] without gradient.

    Args:
        kind: any but `none`.
        batch: with lengths, for the kinds that look at whole completions.
        low: least ratio that is not masked.
        high: greatest ratio, or that above which it is masked.
    """
    log_ratio = batch.logprobs.detach() - batch.behaviour
    if kind in ("truncate", "mask"):
        ratio = _exp(log_ratio)
        return (
            ratio.clamp(max=high)
            if kind == "truncate"
            else torch.where(_inside(ratio, low, high), ratio, 0.0)
        )
    return segments.spread(_of_samples(kind, log_ratio, batch.bounds, low, high), batch.bounds)


def _of_samples(kind: Correction, log_ratio: Tensor, lengths: Tensor, low: float, high: float) -> Tensor:
    if kind == "geometric_mask":
        return _inside(_exp(segments.mean(log_ratio, lengths)), low, high).to(log_ratio.dtype)
    product = _exp(segments.total(log_ratio, lengths))
    if kind == "sequence_truncate":
        return product.clamp(max=high)
    return torch.where(_inside(product, low, high), product, 0.0)


def from_start_of_update(batch: TokenBatch) -> TokenBatch:
    """The batch with the policy at the start of the update in the place of the sampler."""
    return replace(batch, behaviour=batch.logprobs.detach())


def _exp(log_ratio: Tensor) -> Tensor:
    return log_ratio.clamp(-MAX_LOG_RATIO, MAX_LOG_RATIO).exp()


def _inside(ratio: Tensor, low: float, high: float) -> Tensor:
    return (ratio >= low) & (ratio <= high)
