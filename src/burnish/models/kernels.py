"""Fused loops for decoding one token a row on a CPU, compiled by numba at first use for each number type.

A decoded token touches every key and value once and does little with it. As separate tensor operations
that costs three times the memory traffic it needs; here it is one pass. Roundings are those of the
separate operations: products accumulate in float32, results are rounded to bfloat16 where `transformers`
and `scaled_dot_product_attention` round, and the softmax uses the same exponential as ATen's bfloat16
attention kernel, so that a decoded token's log-prob agrees with a plain forward pass. Every array is of
one type, float32, or bfloat16 passed as uint16; in float32 nothing is rounded.

Compiled code is kept beside the file that asked for it: after a change here, `jobs` and `draw_kernel` keep
the old code until their `__pycache__/*.nb?` are deleted.

B rows, H query heads, K key heads, G = H / K, C columns of capacity, D head size, N hidden size.
"""

# pyright: reportCallIssue=false
# An intrinsic is declared with a typing context that its callers do not pass.

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, overload

from burnish.models.simd import LANES, dot_block, mix_block

# A product and a sum may be fused, as the matrix unit does. No sum may be reordered.
_FUSED = {"contract", "nsz"}
REDUCED = 32
"""Numbers that ATen's inner reduction takes in one round."""
SPLIT = 512
"""Columns that ATen's attention takes at a time on a CPU."""
_f32, _u16, _u32 = np.float32, np.uint16, np.uint32


def small(function: Any) -> Any:
    """Compile a function into the loops that call it."""
    return njit(nogil=True, fastmath=_FUSED, inline="always")(function)


def kernel(function: Any) -> Any:
    """Compile a loop, and keep the code where there is a folder for it."""
    options: dict[str, Any] = {
        "nogil": True,
        "fastmath": _FUSED,
        "error_model": "numpy",
        "boundscheck": False,
    }
    try:
        return njit(**options, cache=True)(function)
    except RuntimeError:  # no folder to keep compiled code in: every process compiles for itself
        return njit(**options)(function)


@intrinsic
def as_float(_: Any, bits: Any) -> Any:
    """The float32 with the given 32 bits."""
    return types.float32(types.uint32), lambda _c, b, _s, args: b.bitcast(args[0], ir.FloatType())


@intrinsic
def _as_bits(_: Any, number: Any) -> Any:
    return types.uint32(types.float32), lambda _c, b, _s, args: b.bitcast(args[0], ir.IntType(32))


def _wide(x: Any) -> Any:
    """float32 value of a number."""
    raise NotImplementedError


def _rounded(x: Any, like: Any) -> Any:
    """A float32 rounded to the type of the array `like`, to nearest and ties to even, still as float32."""
    raise NotImplementedError


def _narrow(x: Any, like: Any) -> Any:
    """The number of the type of the array `like` nearest to a float32, ties to even."""
    raise NotImplementedError


@overload(_wide, inline="always")
def _wide_of(x: Any) -> Any:
    def bfloat16(x: Any) -> Any:
        return as_float(_u32(x) << _u32(16))

    def float32(x: Any) -> Any:
        return x

    return bfloat16 if x == types.uint16 else float32


@overload(_rounded, inline="always")
def _rounded_to(x: Any, like: Any) -> Any:
    def bfloat16(x: Any, like: Any) -> Any:
        u = _as_bits(x)
        return as_float((u + _u32(0x7FFF) + ((u >> _u32(16)) & _u32(1))) & _u32(0xFFFF0000))

    return bfloat16 if like.dtype == types.uint16 else _unchanged


@overload(_narrow, inline="always")
def _narrow_to(x: Any, like: Any) -> Any:
    def bfloat16(x: Any, like: Any) -> Any:
        u = _as_bits(x)
        return _u16((u + _u32(0x7FFF) + ((u >> _u32(16)) & _u32(1))) >> _u32(16))

    return bfloat16 if like.dtype == types.uint16 else _unchanged


def _unchanged(x: Any, like: Any) -> Any:
    return x


def _attention_exp(x: Any, like: Any) -> Any:
    """e^x for x <= 0 as ATen's attention takes it: a coarse one where weights are rounded anyway."""
    raise NotImplementedError


@overload(_attention_exp, inline="always")
def _attention_exp_of(x: Any, like: Any) -> Any:
    def bfloat16(x: Any, like: Any) -> Any:
        return _coarse_exp(x)

    def float32(x: Any, like: Any) -> Any:
        return exponential(x)

    return bfloat16 if like.dtype == types.uint16 else float32


@small
def exponential(x: Any) -> Any:
    """e^x to one unit in the last place, the polynomial of SLEEF's `expf_u10` that ATen uses."""
    x = min(max(x, _f32(-87.0)), _f32(88.0))
    q = _f32(np.rint(x * _f32(1.442695040888963407)))
    s = x - q * _f32(0.693145751953125)
    s = s - q * _f32(1.428606765330187045e-06)
    u = _f32(0.000198527617612853646278381)
    u = u * s + _f32(0.00139304355252534151077271)
    u = u * s + _f32(0.00833336077630519866943359)
    u = u * s + _f32(0.0416664853692054748535156)
    u = u * s + _f32(0.166666671633720397949219)
    u = u * s + _f32(0.5)
    u = _f32(1.0) + (s * s * u + s)
    return u * as_float(_u32(np.int32(q) + np.int32(127)) << _u32(23))


@small
def _coarse_exp(x: Any) -> Any:
    """e^x to 1e-4 for x <= 0: Malossi et al., "Fast exponential computation on SIMD architectures", 2015.

    ATen's bfloat16 attention uses this cubic (`fexp_u20`); any other would round other weights differently.
    """
    scaled = x * _f32(1.4426950216293335)
    part = scaled - _f32(math.floor(scaled))
    r = part * _f32(-0.079204240219773236) + _f32(-0.22433836478672356)
    r = part * r + _f32(0.30354260500649682)
    r = part * r + _f32(0.00010703434948458272)
    bits = np.int32(_f32(8388608.0) * (scaled - r) + _f32(1065353216.0))
    return as_float(_u32(bits)) if x >= _f32(-87.0) else _f32(0.0)


@small
def _rotate(source: Any, offset: Any, cos: Any, sin: Any, row: Any, out: Any, g: Any, half: Any) -> None:
    """Rotary position embedding of one head, with the three roundings of separate operations."""
    for d in range(half):
        x, y = _wide(source[row, offset + d]), _wide(source[row, offset + half + d])
        out[g, d] = _rounded(_rounded(x * cos[row, d], source) + _rounded(-y * sin[row, d], source), source)
        out[g, half + d] = _rounded(
            _rounded(y * cos[row, d], source) + _rounded(x * sin[row, d], source), source
        )


@kernel
def _weights(scores: Any, count: Any, valid: Any, peak: Any, lanes: Any, like: Any) -> Any:
    """Turn scores into exp(score - peak), rounded, 0 past `valid`; returns their sum before rounding.

    The sum is that of two 16-lane registers side by side, folded in halves.
    """
    for i in range(valid, count):
        scores[i] = -np.inf
    lanes[:] = _f32(0.0)
    for t in range(0, count, 2 * LANES):
        part = scores[t : t + 2 * LANES]
        for i in range(2 * LANES):
            weight = _attention_exp(part[i] - peak, like)
            lanes[i] = lanes[i] + weight
            part[i] = _rounded(weight, like)
    width = LANES
    while width:
        for i in range(width):
            lanes[i] = lanes[i] + lanes[i + width]
        width //= 2
    return lanes[0]


@kernel
def _attend_row(
    query: Any, keys: Any, values: Any, start: Any, valid: Any, width: Any, work: Any, out: Any
) -> None:
    """Attention of `width` of four queries over `valid` columns, in blocks of 512 as ATen takes them.

    Args:
        query: [4, D] float32.
        keys: all keys of the layer; those of this row and head, [C / 16, D, 16], begin at element `start`.
        values: all values; those of this row and head, [C, D], begin at element `start`.
        start: element.
        valid: columns to see.
        width: queries that count.
        work: scores [4, 512], lanes [32], peaks [4], totals [4] float32, and the scale.
        out: [4, D] float32, written.
    """
    scores, lanes, peaks, totals, scale = work
    size = query.shape[1]
    out[:] = _f32(0.0)
    for first in range(0, valid, SPLIT):
        seen = min(SPLIT, valid - first)
        count = (seen + 2 * LANES - 1) // (2 * LANES) * 2 * LANES
        for t in range(0, count, LANES):
            dot_block(query, size, keys, start + (first + t) * size, scores, t, SPLIT, scale)
        for g in range(width):
            peak = scores[g, 0]
            for j in range(seen):
                peak = max(peak, scores[g, j])
            if first:
                peak = max(peak, peaks[g])
                shrink = _f32(math.exp(peaks[g] - peak))
                totals[g] = totals[g] * shrink
                for d in range(out.shape[1]):
                    out[g, d] = out[g, d] * shrink
            else:
                totals[g] = _f32(0.0)
            peaks[g] = peak
            totals[g] = _weights(scores[g], count, seen, peak, lanes, values) + totals[g]
        for d in range(0, size, LANES):
            mix_block(scores, SPLIT, values, start + first * size + d, size, count, out, d)
    for g in range(width):
        share = _f32(1.0) / totals[g]
        for d in range(out.shape[1]):
            out[g, d] = out[g, d] * share


@kernel
def scratch(size: Any, scale: Any) -> Any:
    """Working memory of one thread for heads of a size: queries, mixed values, a key, and `work`."""
    work = (
        np.zeros((4, SPLIT), _f32),
        np.zeros(2 * LANES, _f32),
        np.zeros(4, _f32),
        np.zeros(4, _f32),
        scale,
    )
    return np.zeros((4, size), _f32), np.empty((4, size), _f32), np.empty((1, size), _f32), work


@kernel
def attend_row(
    b: Any,
    qkv: Any,
    cos: Any,
    sin: Any,
    keys: Any,
    values: Any,
    positions: Any,
    out: Any,
    group: Any,
    memory: Any,
) -> None:
    """`attend` for row b, in the memory of `scratch`."""
    query, mixed, key, work = memory
    key_heads, size = values.shape[1], values.shape[3]
    heads, half, n = key_heads * group, size // 2, positions[b]
    for h in range(key_heads):
        _rotate(qkv, (heads + h) * size, cos, sin, b, key, 0, half)
        for d in range(size):
            keys[b, h, n // LANES, d, n % LANES] = _narrow(key[0, d], keys)
            values[b, h, n, d] = qkv[b, (heads + key_heads + h) * size + d]
        for first in range(0, group, 4):
            width = min(4, group - first)
            for g in range(width):
                _rotate(qkv, (h * group + first + g) * size, cos, sin, b, query, g, half)
            start = (b * key_heads + h) * values.shape[2] * size
            _attend_row(query, keys, values, start, n + 1, width, work, mixed)
            for g in range(width):
                for d in range(size):
                    out[b, (h * group + first + g) * size + d] = _narrow(mixed[g, d], out)


@kernel
def attend(
    qkv: Any, cos: Any, sin: Any, keys: Any, values: Any, positions: Any, out: Any, group: int, scale: Any
) -> None:
    """Rotate, store the new key and value, and attend over everything stored, for one token a row.

    Args:
        qkv: [B, (H + 2K) D], projections in this order.
        cos: [B, D] float32, already rounded to the type.
        sin: [B, D] float32, the same.
        keys: [B, K, C / 16, D, 16]; column `positions[b]` of row b is written. D is a multiple of 16,
            C of 32.
        values: [B, K, C, D], the same.
        positions: [B] int64, tokens stored so far in each row.
        out: [B, H D], written.
        group: G.
        scale: float32 factor on the scores.
    """
    memory = scratch(values.shape[3], scale)
    for b in range(qkv.shape[0]):
        attend_row(b, qkv, cos, sin, keys, values, positions, out, group, memory)


@kernel
def _sum_of_squares(x: Any, lanes: Any) -> Any:
    """Sum of squares of a row in the order of ATen's inner reduction.

    Four registers of 8 lanes side by side, emptied into a second level after every 16 rounds; registers,
    then lanes, are added up in order.
    """
    rounds, size = x.shape[0] // REDUCED, x.shape[0]
    lanes[:] = _f32(0.0)
    for c in range(rounds):
        part = x[c * REDUCED : (c + 1) * REDUCED]
        for i in range(REDUCED):
            lanes[0, i] = lanes[0, i] + _wide(part[i]) * _wide(part[i])
        if c % 16 == 15:
            for i in range(REDUCED):
                lanes[1, i] = lanes[1, i] + lanes[0, i]
                lanes[0, i] = _f32(0.0)
    for i in range(REDUCED):
        lanes[0, i] = lanes[0, i] + lanes[1, i]
    whole = size // 8 * 8
    for c in range(rounds * REDUCED, whole, 8):
        for i in range(8):
            lanes[0, i] = lanes[0, i] + _wide(x[c + i]) * _wide(x[c + i])
    for k in range(8, REDUCED, 8):
        for i in range(8):
            lanes[0, i] = lanes[0, i] + lanes[0, k + i]
    total = _f32(0.0)
    for i in range(whole, size):
        total = total + _wide(x[i]) * _wide(x[i])
    for i in range(8):
        total = total + lanes[0, i]
    return total


@kernel
def norm_row(b: Any, x: Any, weight: Any, eps: Any, lanes: Any, out: Any) -> None:
    """`rms_norm` of row b; `lanes` is [2, 32] float32 of working memory."""
    size = x.shape[1]
    r = _f32(1.0) / _f32(math.sqrt(_sum_of_squares(x[b], lanes) / _f32(size) + eps))
    for i in range(size):
        out[b, i] = _narrow(_wide(weight[i]) * _rounded(_wide(x[b, i]) * r, x), out)


@kernel
def rms_norm(x: Any, weight: Any, eps: Any, out: Any) -> None:
    """Root-mean-square norm of each row: [B, N] in and out; eps float32."""
    lanes = np.empty((2, REDUCED), _f32)
    for b in range(x.shape[0]):
        norm_row(b, x, weight, eps, lanes, out)


@kernel
def add_row(b: Any, x: Any, y: Any) -> None:
    """`add` for row b."""
    for i in range(x.shape[1]):
        x[b, i] = _narrow(_wide(x[b, i]) + _wide(y[b, i]), x)


@kernel
def add(x: Any, y: Any) -> None:
    """Add y to x in place, rounded: [B, N] each."""
    for b in range(x.shape[0]):
        add_row(b, x, y)


@kernel
def silu_row(b: Any, both: Any, out: Any) -> None:
    """`gated_silu` of row b."""
    size = out.shape[1]
    for i in range(size):
        x = _wide(both[b, i])
        gate = _rounded(x / (_f32(1.0) + exponential(-x)), out)
        out[b, i] = _narrow(gate * _wide(both[b, size + i]), out)


@kernel
def gated_silu(both: Any, out: Any) -> None:
    """silu(first half) * second half of each row: [B, 2N] in, [B, N] out."""
    for b in range(out.shape[0]):
        silu_row(b, both, out)
