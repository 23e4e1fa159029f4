"""Losses on preferences between completions, and on thumbs: log-ratios of completions in, losses out.

h = (log pi - log ref)(chosen) - (log pi - log ref)(rejected), summed over tokens; all [P] for P pairs.

    DPO   -log sigmoid(b h), mixed with its mirror image by label smoothing          2305.18290
    IPO   (h' - 1 / (2 b))^2, h' with each log-ratio divided by its length           2310.12036
    KTO   w (1 - sigmoid(b (l - z))) of a good one, w (1 - sigmoid(b (z - l))) of a bad one   2402.01306

l is the log-ratio of one completion, z an estimate of the KL. TRL divides by the length in IPO, OpenRLHF does
not; lengths of 1 give the latter.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from burnish.algorithms.base import expect_floating, expect_shape


def dpo(chosen: Tensor, rejected: Tensor, beta: float, smoothing: float = 0.0) -> Tensor:
    """DPO of each pair, [P].

    Args:
        chosen: [P] log pi - log ref of the chosen completions.
        rejected: [P] of the rejected ones.
        beta: how closely the policy keeps to the reference; larger is closer.
        smoothing: share of pairs that may be the wrong way round.
    """
    _expect_pairs(chosen, rejected)
    margin = beta * (chosen - rejected)
    return -(1 - smoothing) * logsigmoid(margin) - smoothing * logsigmoid(-margin)


def ipo(chosen: Tensor, rejected: Tensor, lengths: tuple[Tensor, Tensor], beta: float) -> Tensor:
    """IPO of each pair, [P]; `lengths` are tokens of the chosen and of the rejected completions."""
    _expect_pairs(chosen, rejected)
    margin = chosen / lengths[0].clamp(min=1) - rejected / lengths[1].clamp(min=1)
    return (margin - 1 / (2 * beta)).square()


def kto(
    log_ratio: Tensor,
    good: Tensor,
    divergence: Tensor,
    beta: float,
    weights: tuple[float, float] = (1.0, 1.0),
) -> Tensor:
    """KTO of each completion, [P].

    Args:
        log_ratio: [P] log pi - log ref.
        good: [P] bool, thumbs up.
        divergence: mean log-ratio of completions paired with other prompts, without gradient; cut at 0.
        beta: how closely the policy keeps to the reference.
        weights: of good and of bad ones.
    """
    expect_floating("log_ratio", log_ratio)
    expect_shape("good", good, tuple(log_ratio.shape))
    gap = beta * (log_ratio - divergence.detach().clamp(min=0))
    up, down = weights
    return torch.where(good, up * (1 - torch.sigmoid(gap)), down * (1 - torch.sigmoid(-gap)))


def _expect_pairs(chosen: Tensor, rejected: Tensor) -> None:
    expect_floating("chosen", chosen)
    expect_shape("rejected", rejected, tuple(chosen.shape))
