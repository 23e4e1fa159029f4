"""Completions inside a flat row of tokens.

T tokens of S completions one after another, lengths [S]; L is the longest. Sums run over the padded matrix
[S, L], one row a completion, so no completion rounds differently for the company it is in.
"""

from __future__ import annotations

import torch
from torch import Tensor


def rows(values: Tensor, lengths: Tensor) -> Tensor:
    """[T] as [S, L], 0 where a completion has ended."""
    padded = values.new_zeros(len(lengths), int(lengths.max()) if len(lengths) else 0)
    return padded.masked_scatter(inside(lengths), values)


def flat(padded: Tensor, lengths: Tensor) -> Tensor:
    """Inverse of `rows`: [S, L] as [T]."""
    return padded[inside(lengths)]


def inside(lengths: Tensor) -> Tensor:
    """[S, L] bool: where there are tokens."""
    longest = int(lengths.max()) if len(lengths) else 0
    return torch.arange(longest) < lengths[:, None]


def mean(values: Tensor, lengths: Tensor) -> Tensor:
    """Mean of each completion, [S]; 0 of an empty one."""
    return total(values, lengths) / lengths.clamp(min=1)


def total(values: Tensor, lengths: Tensor) -> Tensor:
    """Sum of each completion, [S]."""
    return rows(values, lengths).sum(dim=1)


def spread(values: Tensor, lengths: Tensor) -> Tensor:
    """One value a completion, [S], as one a token, [T]."""
    return values.repeat_interleave(lengths)


def to_go(values: Tensor, lengths: Tensor) -> Tensor:
    """Sum from each token to the end of its completion, [T]."""
    return flat(rows(values, lengths).flip(1).cumsum(dim=1).flip(1), lengths)
