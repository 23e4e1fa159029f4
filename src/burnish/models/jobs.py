"""The loops of `kernels` over all rows of tensors, on all of torch's threads.

Each job is compiled for float32 and for bfloat16. It reads a list of int64 words: the next row to take,
the number of rows, then addresses and sizes in the order in which the function of the same name gives them.

B rows, H query heads, K key heads, C columns of capacity, D head size, N hidden size, V vocabulary.
"""

# pyright: reportCallIssue=false
# An intrinsic is declared with a typing context that its callers do not pass.

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
from llvmlite import ir
from numba import cfunc, types
from numba.extending import intrinsic
from numba.np.numpy_support import carray
from torch import Tensor

from burnish.models import kernels
from burnish.models.team import run

_f32, _i64, _u32 = np.float32, np.int64, np.uint32
_WORDS = types.CPointer(types.int64)


@intrinsic
def take(_: Any, words: Any) -> Any:
    """The next row, from the counter that all threads share."""

    def generate(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", args[0], ir.Constant(ir.IntType(64), 1), "monotonic")

    return types.int64(words), generate


@intrinsic
def memory_at(_: Any, address: Any, kind: Any) -> Any:
    """A pointer to numbers of a type."""
    pointer = types.CPointer(kind.dtype)

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(pointer))

    return pointer(types.int64, kind), generate


def compiled_job(function: Any) -> Any:
    """A function of a list of words as code that any thread can run."""
    signature = types.void(_WORDS)
    try:
        return cfunc(signature, cache=True)(function)
    except RuntimeError:  # no folder to keep compiled code in: every process compiles for itself
        return cfunc(signature)(function)


def _attend(kind: Any) -> Any:
    def rows(words: Any) -> None:
        w = carray(words, 14)
        count, key_heads, group, size, columns = w[1], w[2], w[3], w[4], w[5]
        heads = key_heads * group
        qkv = carray(memory_at(w[7], kind), (count, (heads + 2 * key_heads) * size))
        cos = carray(memory_at(w[8], _f32), (count, size))
        sin = carray(memory_at(w[9], _f32), (count, size))
        blocks = (count, key_heads, columns // kernels.LANES, size, kernels.LANES)
        keys = carray(memory_at(w[10], kind), blocks)
        values = carray(memory_at(w[11], kind), (count, key_heads, columns, size))
        positions = carray(memory_at(w[12], _i64), (count,))
        out = carray(memory_at(w[13], kind), (count, heads * size))
        memory = kernels.scratch(size, kernels.as_float(_u32(w[6])))
        b = take(words)
        while b < count:
            kernels.attend_row(b, qkv, cos, sin, keys, values, positions, out, group, memory)
            b = take(words)

    return compiled_job(rows)


def _add_norm(kind: Any) -> Any:
    def rows(words: Any) -> None:
        w = carray(words, 8)
        count, size, eps = w[1], w[2], kernels.as_float(_u32(w[3]))
        x, y = carray(memory_at(w[4], kind), (count, size)), carray(memory_at(w[5], kind), (count, size))
        weight, out = carray(memory_at(w[6], kind), (size,)), carray(memory_at(w[7], kind), (count, size))
        lanes = np.empty((2, kernels.REDUCED), _f32)
        b = take(words)
        while b < count:
            kernels.add_row(b, x, y)
            kernels.norm_row(b, x, weight, eps, lanes, out)
            b = take(words)

    return compiled_job(rows)


def _gated_silu(kind: Any) -> Any:
    def rows(words: Any) -> None:
        w = carray(words, 5)
        count, size = w[1], w[2]
        both, out = (
            carray(memory_at(w[3], kind), (count, 2 * size)),
            carray(memory_at(w[4], kind), (count, size)),
        )
        b = take(words)
        while b < count:
            kernels.silu_row(b, both, out)
            b = take(words)

    return compiled_job(rows)


_KINDS = {torch.float32: np.float32, torch.bfloat16: np.uint16}


@cache
def _compiled(make: Any, dtype: torch.dtype) -> Any:
    return make(_KINDS[dtype])


def _bits(number: float) -> int:
    return int(_f32(number).view(_u32))


def attend(
    qkv: Tensor,
    cos: Tensor,
    sin: Tensor,
    keys: Tensor,
    values: Tensor,
    positions: Tensor,
    out: Tensor,
    scale: float,
) -> None:
    """`kernels.attend` over contiguous tensors; `values` [B, K, C, D] has the shape of the cache."""
    rows, key_heads, columns, size = values.shape
    words = [key_heads, out.shape[1] // size // key_heads, size, columns, _bits(scale)]
    tensors = (qkv, cos, sin, keys, values, positions, out)
    run(_compiled(_attend, qkv.dtype), rows, words + [t.data_ptr() for t in tensors])


def add_norm(x: Tensor, y: Tensor, weight: Tensor, eps: float, out: Tensor) -> None:
    """Add y to x in place, then write the norm of x: [B, N] each."""
    words = [x.shape[1], _bits(eps), *(t.data_ptr() for t in (x, y, weight, out))]
    run(_compiled(_add_norm, x.dtype), len(x), words)


def gated_silu(both: Tensor, out: Tensor) -> None:
    """`kernels.gated_silu`: [B, 2N] in, [B, N] out."""
    words = [out.shape[1], both.data_ptr(), out.data_ptr()]
    run(_compiled(_gated_silu, out.dtype), len(out), words)
