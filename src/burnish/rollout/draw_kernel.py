"""The loop that draws one token a row, compiled; see `draw`.

Two passes over the logits, and nothing written but the sums of blocks: separate tensor operations write and
read a vocabulary of probabilities several times.
"""

# pyright: reportCallIssue=false
# An intrinsic is declared with a typing context that its callers do not pass.

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numba.np.numpy_support import carray
from torch import Tensor

from burnish.models.jobs import compiled_job, memory_at, take
from burnish.models.kernels import exponential, kernel, small
from burnish.models.team import run

BLOCK = 256
"""Tokens of a block: their probabilities are added in float32, blocks in float64."""
_f32, _f64, _i64 = np.float32, np.float64, np.int64
_LANES = 32


@small
def _mass(z: Any) -> Any:
    """e^z of z <= 0; below the smallest normal number it is 0, so that nothing is drawn there."""
    return exponential(z) if z > _f32(-87.0) else _f32(0.0)


@kernel
def _highest(row: Any, lanes: Any) -> Any:
    size = row.shape[0]
    whole = size // _LANES * _LANES
    lanes[:] = -np.inf
    for c in range(0, whole, _LANES):
        part = row[c : c + _LANES]
        for i in range(_LANES):
            lanes[i] = max(lanes[i], part[i])
    peak = _f32(-np.inf)
    for i in range(_LANES):
        peak = max(peak, lanes[i])
    for i in range(whole, size):
        peak = max(peak, row[i])
    return peak


@kernel
def _masses(row: Any, peak: Any, inverse: Any, lanes: Any, out: Any) -> Any:
    """Sums of e^((row - peak) * inverse) over blocks of 256, into `out` float64; returns their total."""
    size = row.shape[0]
    total = 0.0
    for block in range(out.shape[0]):
        first = block * BLOCK
        last = min(first + BLOCK, size)
        whole = first + (last - first) // _LANES * _LANES
        lanes[:] = _f32(0.0)
        for c in range(first, whole, _LANES):
            part = row[c : c + _LANES]
            for i in range(_LANES):
                lanes[i] = lanes[i] + _mass((part[i] - peak) * inverse)
        mass = _f32(0.0)
        for i in range(_LANES):
            mass = mass + lanes[i]
        for i in range(whole, last):
            mass = mass + _mass((row[i] - peak) * inverse)
        out[block] = _f64(mass)
        total += out[block]
    return total


@kernel
def _pick(row: Any, peak: Any, inverse: Any, blocks: Any, target: Any) -> Any:
    """First token at which the cumulative mass exceeds the target; never one without mass."""
    block, left = 0, target
    for i in range(blocks.shape[0]):
        if blocks[i] > 0.0:
            block = i
            if left < blocks[i]:
                break
            left -= blocks[i]
    token = block * BLOCK
    for i in range(block * BLOCK, min(block * BLOCK + BLOCK, row.shape[0])):
        mass = _f64(_mass((row[i] - peak) * inverse))
        if mass > 0.0:
            token = i
            if left < mass:
                break
            left -= mass
    return token


@kernel
def draw_row(row: Any, uniform: Any, temperature: Any, lanes: Any, blocks: Any) -> Any:
    """Token and its log-prob; `lanes` [32] float32 and `blocks` [V / 256] float64 are working memory."""
    peak = _highest(row, lanes)
    inverse = _f32(1.0) if temperature == _f32(0.0) else _f32(1.0) / temperature
    total = _masses(row, peak, inverse, lanes, blocks)
    if temperature == _f32(0.0):
        token = 0
        while row[token] != peak:
            token += 1
    else:
        token = _pick(row, peak, inverse, blocks, uniform * total)
    return token, _f32(_f64((row[token] - peak) * inverse) - math.log(total))


def _draw() -> Any:
    def rows(words: Any) -> None:
        w = carray(words, 8)
        count, size = w[1], w[2]
        logits = carray(memory_at(w[3], _f32), (count, size))
        uniforms = carray(memory_at(w[4], _f64), (count,))
        temperatures = carray(memory_at(w[5], _f32), (count,))
        tokens = carray(memory_at(w[6], _i64), (count,))
        logprobs = carray(memory_at(w[7], _f32), (count,))
        lanes, blocks = np.empty(_LANES, _f32), np.empty((size + BLOCK - 1) // BLOCK, _f64)
        b = take(words)
        while b < count:
            tokens[b], logprobs[b] = draw_row(logits[b], uniforms[b], temperatures[b], lanes, blocks)
            b = take(words)

    return compiled_job(rows)


_compiled = cache(_draw)


def draw_rows(
    logits: Tensor, uniforms: Tensor, temperatures: Tensor, tokens: Tensor, logprobs: Tensor
) -> None:
    """Draw for every row of contiguous tensors, into `tokens` int64 and `logprobs` float32."""
    tensors = (logits, uniforms, temperatures, tokens, logprobs)
    run(_compiled(), len(logits), [logits.shape[1], *(t.data_ptr() for t in tensors)])
