"""Policy losses per token, all [T] and to be minimised. pi is the current policy, mu drew the tokens."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from burnish.algorithms import segments
from burnish.algorithms.base import TokenBatch
from burnish.algorithms.settings import PresetSettings

MAX_LOG_RATIO = 20.0
"""Ratios are cut at e^20 before `exp`, as in verl, so that no float overflows."""


def capped_ratio(logprobs: Tensor, behaviour: Tensor, cap: float) -> Tensor:
    """The truncated importance weight min(pi/mu, cap), without gradient."""
    return (logprobs - behaviour).detach().clamp(max=math.log(cap)).exp()


def policy_gradient(logprobs: Tensor, advantages: Tensor, weight: Tensor) -> Tensor:
    """-A w log pi; only log pi carries gradient."""
    return -advantages * weight * logprobs


def weighted_gradient(
    logprobs: Tensor, behaviour: Tensor, advantages: Tensor, cap: float
) -> tuple[Tensor, Tensor]:
    """-A sg(min(pi/mu, cap)) log pi, and which weights were truncated."""
    loss = policy_gradient(logprobs, advantages, capped_ratio(logprobs, behaviour, cap))
    return loss, logprobs.detach() - behaviour > math.log(cap)


def outside_trust_region(logprobs: Tensor, behaviour: Tensor, advantages: Tensor, width: float) -> Tensor:
    """Tokens that moved far enough in their update's own direction, bool (DPPO Binary-TV, 2602.04879).

    A > 0 and pi - mu > width, or A < 0 and pi - mu < -width, in probabilities. Unlike a ratio clip this
    leaves rare tokens free, whose ratio is large while hardly any probability moves.
    """
    moved = logprobs.detach().exp() - behaviour.exp()
    return ((advantages > 0) & (moved > width)) | ((advantages < 0) & (moved < -width))


def clipped_surrogate(batch: TokenBatch, s: PresetSettings) -> tuple[Tensor, Tensor]:
    """PPO's -min(r A, clip(r, 1 - low, 1 + high) A) with r = pi/mu (1707.06347), and which tokens it clips.

    With `dual_clip` above 0 the loss of a token with A < 0 is at most -dual A (1912.09729). A clipped token
    has no gradient.
    """
    ratio = (batch.logprobs - batch.behaviour).clamp(max=MAX_LOG_RATIO).exp()
    return clipped_by(ratio, batch.advantages, s.clip_low, s.clip_high, s.dual_clip)


def clipped_by(
    ratio: Tensor, advantages: Tensor, low: float, high: float, dual: float = 0.0
) -> tuple[Tensor, Tensor]:
    """`clipped_surrogate` of given ratios and bounds."""
    free = ratio * advantages
    bound = ratio.clamp(1 - low, 1 + high) * advantages
    gain, clipped = torch.minimum(free, bound), bound.detach() < free.detach()
    if dual > 0:
        least = dual * advantages
        cut = (advantages < 0) & (gain.detach() < least)
        gain, clipped = torch.where(cut, least, gain), clipped | cut
    return -gain, clipped


def sequence_ratio(logprobs: Tensor, behaviour: Tensor, lengths: Tensor) -> Tensor:
    """S = sg(exp(mean of log(pi/mu) of the sample)) pi/sg(pi) of each token (2507.18071).

    The value is that of the sample, the gradient at a token flows through its own log pi alone; summed with
    equal weights over a sample it is that of the sample's ratio.

    Args:
        logprobs: [T], carries gradient.
        behaviour: [T].
        lengths: [S] tokens of each sample.
    """
    log_ratio = segments.mean((logprobs - behaviour).detach(), lengths)
    return (segments.spread(log_ratio, lengths) + logprobs - logprobs.detach()).clamp(max=MAX_LOG_RATIO).exp()


def smooth_gate(
    logprobs: Tensor, behaviour: Tensor, advantages: Tensor, positive: float, negative: float
) -> Tensor:
    """-(4 / t) sigmoid(t (r - 1)) A with t by the sign of A (2511.20347); its slope in r is A at r = 1."""
    ratio = (logprobs - behaviour).clamp(max=MAX_LOG_RATIO).exp()
    steepness = torch.where(advantages > 0, positive, negative).to(ratio.dtype)
    return -advantages * torch.sigmoid(steepness * (ratio - 1)) * 4 / steepness
