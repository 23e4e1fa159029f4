"""Advantage estimators over groups: rewards R [G, N] and `valid` [G, N] bool to advantages [G, N].

Statistics are over the valid samples of a group, where not said otherwise. A group has signal when at least
two of its samples are valid and their rewards differ; without signal, and where invalid, an estimator is
exactly 0.
"""

from __future__ import annotations

import torch
from torch import Tensor


def has_signal(rewards: Tensor, valid: Tensor) -> Tensor:
    """Which groups can move the policy, [G] bool."""
    highest = rewards.masked_fill(~valid, -torch.inf).amax(dim=1)
    lowest = rewards.masked_fill(~valid, torch.inf).amin(dim=1)
    return (valid.sum(dim=1) >= 2) & (highest > lowest)


def live(rewards: Tensor, valid: Tensor) -> Tensor:
    """Which samples take part in the loss, [G, N] bool: valid, in a group with signal."""
    return valid & has_signal(rewards, valid)[:, None]


def centred(rewards: Tensor, valid: Tensor) -> Tensor:
    """R - mean of the group."""
    count = valid.sum(dim=1, keepdim=True).clamp(min=1)
    known = torch.where(valid, rewards, 0.0)
    return torch.where(live(rewards, valid), known - known.sum(dim=1, keepdim=True) / count, 0.0)


def leave_one_out(rewards: Tensor, valid: Tensor) -> Tensor:
    """R_i - mean of the other samples of the group = n/(n-1) (R_i - mean), n valid samples (2402.14740)."""
    count = valid.sum(dim=1, keepdim=True).clamp(min=2)
    return centred(rewards, valid) * count / (count - 1)


def standardised(rewards: Tensor, valid: Tensor, eps: float = 1e-6) -> Tensor:
    """(R - mean) / (std + eps) of the group (2402.03300), std over n-1 as in verl and TRL."""
    deviation = centred(rewards, valid)
    count = valid.sum(dim=1, keepdim=True).clamp(min=2)
    std = (deviation.square().sum(dim=1, keepdim=True) / (count - 1)).sqrt()
    return deviation / (std + eps)


def mean_normalised(rewards: Tensor, valid: Tensor) -> Tensor:
    """(R - mean) / mean of the group, 0 where the mean is not positive (2602.02710); needs R >= 0."""
    count = valid.sum(dim=1, keepdim=True).clamp(min=1)
    mean = torch.where(valid, rewards, 0.0).sum(dim=1, keepdim=True) / count
    return torch.where(mean > 0, centred(rewards, valid) / torch.where(mean > 0, mean, 1.0), 0.0)


def greedy_gap(rewards: Tensor, valid: Tensor) -> Tensor:
    """R - R of the greedy sample, which is the last of its group and gets 0 itself (2310.10505)."""
    known = valid & valid[:, -1:]
    return torch.where(known, rewards - rewards[:, -1:], 0.0)


def whitened(values: Tensor, valid: Tensor, weights: Tensor) -> Tensor:
    """(x - mean) / sqrt(var + 1e-8) over the whole batch, each sample counted `weights` times.

    The variance is over n - 1, as in verl. All zero where fewer than two are counted or all are equal.

    Args:
        values: [G, N].
        valid: [G, N] bool.
        weights: [G, N] int64, such as the tokens of a sample: verl whitens tokens, which share its value.
    """
    times = torch.where(valid, weights, 0).to(values.dtype)
    count = times.sum()
    known = values[valid & (weights > 0)]
    if count < 2 or known.numel() == 0 or bool((known == known[0]).all()):
        return torch.zeros_like(values)
    x = torch.where(valid, values, 0.0)
    mean = (x * times).sum() / count
    variance = ((x - mean).square() * times).sum() / (count - 1)
    return torch.where(valid, (x - mean) * torch.rsqrt(variance + 1e-8), 0.0)
