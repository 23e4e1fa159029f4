"""Policy losses per token, all [T] and to be minimised. pi is the current policy, mu drew the tokens."""

from __future__ import annotations

import math

import torch
from torch import Tensor

MAX_LOG_RATIO = 20.0
"""Ratios are cut at e^20 before `exp`, as in verl, so that no float overflows."""


def capped_ratio(logprobs: Tensor, behaviour: Tensor, cap: float) -> Tensor:
    """The truncated importance weight min(pi/mu, cap), without gradient."""
    return (logprobs - behaviour).detach().clamp(max=math.log(cap)).exp()


def policy_gradient(logprobs: Tensor, advantages: Tensor, weight: Tensor) -> Tensor:
    """-A w log pi; only log pi carries gradient."""
    return -advantages * weight * logprobs


def outside_trust_region(logprobs: Tensor, behaviour: Tensor, advantages: Tensor, width: float) -> Tensor:
    """Tokens that moved far enough in their update's own direction, bool (DPPO Binary-TV, 2602.04879).

    A > 0 and pi - mu > width, or A < 0 and pi - mu < -width, in probabilities. Unlike a ratio clip this
    leaves rare tokens free, whose ratio is large while hardly any probability moves.
    """
    moved = logprobs.detach().exp() - behaviour.exp()
    return ((advantages > 0) & (moved > width)) | ((advantages < 0) & (moved < -width))


def clipped_surrogate(
    logprobs: Tensor, behaviour: Tensor, advantages: Tensor, low: float, high: float
) -> tuple[Tensor, Tensor]:
    """PPO's -min(r A, clip(r, 1 - low, 1 + high) A) with r = pi/mu (1707.06347), and which tokens it clips.

    A clipped token has no gradient.
    """
    ratio = (logprobs - behaviour).clamp(max=MAX_LOG_RATIO).exp()
    free = ratio * advantages
    bound = ratio.clamp(1 - low, 1 + high) * advantages
    return -torch.minimum(free, bound), bound.detach() < free.detach()
