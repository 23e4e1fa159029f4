"""Generalised advantage estimation (1506.02438), over a padded matrix of completions.

    d_t = R_t + g V_{t+1} - V_t          A_t = d_t + g l A_{t+1}          return_t = A_t + V_t

V and A are 0 after the last token. A token that is masked (a tool wrote it) carries V_{t+1} and A_{t+1}
through unchanged, so that it takes no discount and gets no credit.
"""

from __future__ import annotations

import torch
from torch import Tensor


def gae(
    rewards: Tensor, values: Tensor, mask: Tensor, discount: float, decay: float
) -> tuple[Tensor, Tensor]:
    """Advantages and returns of each token, [S, L]; meaningless where masked.

    Args:
        rewards: [S, L], what each token earns.
        values: [S, L], V of the state before each token.
        mask: [S, L] bool, tokens that the policy wrote.
        discount: g.
        decay: l.

    Raises:
        ValueError: shapes differ.
    """
    if not rewards.shape == values.shape == mask.shape:
        shapes = [list(t.shape) for t in (rewards, values, mask)]
        raise ValueError(f"rewards, values and mask have shapes {shapes}, expected one shape [S, L]")
    later_value = torch.zeros_like(values[:, 0])
    later = torch.zeros_like(values[:, 0])
    columns: list[Tensor] = []
    for t in reversed(range(values.shape[1])):
        own = mask[:, t]
        error = rewards[:, t] + discount * later_value - values[:, t]
        advantage = error + discount * decay * later
        later_value = torch.where(own, values[:, t], later_value)
        later = torch.where(own, advantage, later)
        columns.append(later)
    advantages = torch.stack(columns[::-1], dim=1) if columns else torch.zeros_like(values)
    return advantages, advantages + values


def whiten_tokens(advantages: Tensor, counts: Tensor) -> Tensor:
    """(A - mean) / sqrt(var + 1e-8), over n - 1 as in verl, each token counted `counts` times; [T].

    All zero where fewer than two are counted.
    """
    total = counts.sum()
    if total < 2:
        return torch.zeros_like(advantages)
    mean = (advantages * counts).sum() / total
    variance = ((advantages - mean).square() * counts).sum() / (total - 1)
    return (advantages - mean) * torch.rsqrt(variance + 1e-8)


def value_loss(values: Tensor, old: Tensor, returns: Tensor, clip: float) -> tuple[Tensor, Tensor]:
    """max((v - R)^2, (v clipped to old +- clip - R)^2) / 2 of each token, and which are clipped; [T].

    A `clip` of 0 leaves only the first. As in TRL and verl.
    """
    free = (values - returns).square()
    if clip == 0:
        return 0.5 * free, torch.zeros_like(free, dtype=torch.bool)
    bound = (old + (values - old).clamp(-clip, clip) - returns).square()
    return 0.5 * torch.maximum(free, bound), bound.detach() > free.detach()
