"""Weights that turn token losses into the loss of a step: [G, N] lengths and activity to [G, N] float32.

A sample counts when it is active and has tokens; the others, and groups without any, leave every
denominator. Denominators cover the whole step, so any split into micro-batches gives the same sum.
"""

from __future__ import annotations

import torch
from torch import Tensor

from burnish.algorithms.base import expect_bool, expect_shape


def prompt_mean(lengths: Tensor, active: Tensor) -> Tensor:
    """Mean over the tokens of a group, then over groups (2510.13786)."""
    tokens = _counted(lengths, active)
    per_group = tokens.sum(dim=1, keepdim=True)
    groups = (per_group > 0).sum()
    return _share(tokens > 0, per_group * groups)


def sequence_mean_token_mean(lengths: Tensor, active: Tensor) -> Tensor:
    """Mean over the tokens of a sample, then over samples (2402.03300)."""
    tokens = _counted(lengths, active)
    return _share(tokens > 0, tokens * (tokens > 0).sum())


def sequence_mean_token_sum(lengths: Tensor, active: Tensor) -> Tensor:
    """Sum over the tokens of a sample, then mean over samples (2402.14740)."""
    tokens = _counted(lengths, active)
    return _share(tokens > 0, (tokens > 0).sum())


def token_mean(lengths: Tensor, active: Tensor) -> Tensor:
    """Mean over all tokens of the step (2503.14476): a long sample weighs more."""
    tokens = _counted(lengths, active)
    return _share(tokens > 0, tokens.sum())


def sequence_mean_token_sum_over(constant: int, lengths: Tensor, active: Tensor) -> Tensor:
    """Sum over the tokens of a sample divided by a constant, then mean over samples (2503.20783)."""
    tokens = _counted(lengths, active)
    return _share(tokens > 0, (tokens > 0).sum() * constant)


def _counted(lengths: Tensor, active: Tensor) -> Tensor:
    expect_shape("lengths", lengths, (-1, -1))
    expect_shape("active", active, tuple(lengths.shape))
    expect_bool("active", active)
    return torch.where(active, lengths, 0).to(torch.int64)


def _share(counts: Tensor, denominator: Tensor) -> Tensor:
    share = 1.0 / denominator.clamp(min=1).to(torch.float64)
    return torch.where(counts, share, 0.0).to(torch.float32)
