"""Drawing tokens from logits with one uniform number a row.

An inverse-CDF draw over blocks of the vocabulary: one pass for the highest logit, one for the masses of
blocks, then a block is picked and a token inside it. `torch.multinomial` over a vocabulary of 49,152 costs
more than a whole decode step of a small model on a CPU.

B rows, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor

from burnish.rollout.draw_kernel import draw_rows


def draw(logits: Tensor, uniforms: Tensor, temperatures: Tensor) -> tuple[Tensor, Tensor]:
    """One token a row, with its log-probability under the distribution it was drawn from.

    Args:
        logits: [B, V] float32; minus infinity is a token that cannot be drawn.
        uniforms: [B] float64 in [0, 1).
        temperatures: [B] float32; 0 takes the most likely token, whose log-prob is given at temperature 1.

    Returns:
        tokens [B] int64 and log-probs [B] float32 (natural log).
    """
    tokens = torch.empty(len(logits), dtype=torch.int64)
    logprobs = torch.empty(len(logits), dtype=torch.float32)
    draw_rows(logits.contiguous(), uniforms.contiguous(), temperatures.contiguous(), tokens, logprobs)
    return tokens, logprobs
