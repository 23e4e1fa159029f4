"""Drawing tokens from logits with one uniform number a row.

An inverse-CDF draw over blocks of the vocabulary: exponentials once, block sums, pick a block, then
pick a token inside it. `torch.multinomial` over a vocabulary of 49,152 costs more than a whole decode
step of a small model on a CPU; this costs about one pass over the logits.

B rows, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

_BLOCK = 256


def draw(logits: Tensor, uniforms: Tensor, temperatures: Tensor) -> tuple[Tensor, Tensor]:
    """One token a row, with its log-probability under the distribution it was drawn from.

    Args:
        logits: [B, V] float32.
        uniforms: [B] float64 in [0, 1).
        temperatures: [B] float32; 0 takes the most likely token, whose log-prob is given at temperature 1.

    Returns:
        tokens [B] int64 and log-probs [B] float32 (natural log).
    """
    greedy = temperatures == 0
    scaled = logits / torch.where(greedy, 1.0, temperatures)[:, None] if _rescales(temperatures) else logits
    peak, best = scaled.max(-1, keepdim=True)
    mass = torch.exp(scaled - peak)
    tokens = best[:, 0].clone()
    if not bool(greedy.all()):
        rows = (~greedy).nonzero()[:, 0]
        tokens[rows] = inverse_cdf(mass[rows], uniforms[rows])
    chosen = scaled.gather(-1, tokens[:, None]) - peak
    return tokens, (chosen - mass.sum(-1, keepdim=True).log())[:, 0]


def _rescales(temperatures: Tensor) -> bool:
    return bool(((temperatures != 0) & (temperatures != 1)).any())


def inverse_cdf(mass: Tensor, uniforms: Tensor) -> Tensor:
    """Index i with probability mass[i] / sum(mass), by inverting the cumulative distribution.

    Args:
        mass: [B, V] float32, non-negative, at least one positive a row.
        uniforms: [B] float64 in [0, 1).

    Returns:
        [B] int64; never an index of zero mass.
    """
    rows, size = mass.shape
    blocks = pad(mass, (0, -size % _BLOCK)).view(rows, -1, _BLOCK)
    sums = blocks.sum(-1, dtype=torch.float64)
    block, rest = _pick(sums, uniforms * sums.sum(-1))
    inside = blocks[torch.arange(rows), block].double()
    total = inside.sum(-1)
    token, _ = _pick(inside, torch.minimum(rest, total * (1 - 1e-12)))
    return block * _BLOCK + token


def _pick(mass: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """First index whose cumulative mass exceeds the target, and what is left of the target there."""
    upper = mass.cumsum(-1)
    index = torch.searchsorted(upper, target[:, None], right=True)[:, 0]
    last = mass.shape[-1] - 1 - (mass > 0).flip(-1).int().argmax(-1)
    index = torch.minimum(index, last)
    below = (upper - mass).gather(-1, index[:, None])[:, 0]
    return index, (target - below).clamp(min=0)
