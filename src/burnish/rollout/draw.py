"""Drawing tokens from logits with one uniform number a row.

An inverse-CDF draw over blocks of the vocabulary: one softmax, block sums, pick a block, then pick a
token inside it. `torch.multinomial` over a vocabulary of 49,152 costs more than a whole decode
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
    if _rescales(temperatures):
        logits = logits / torch.where(greedy, 1.0, temperatures)[:, None]
    share = torch.softmax(logits, -1)
    if bool(greedy.all()):
        tokens = logits.argmax(-1)
    else:
        tokens = inverse_cdf(share, uniforms)
        if bool(greedy.any()):
            tokens[greedy] = logits[greedy].argmax(-1)
    return tokens, share.gather(-1, tokens[:, None])[:, 0].log()


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
    sums = blocks.sum(-1).double()
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
