"""Two vector loops that numba's own vectoriser does not find, written as LLVM vectors of 16 float32.

Every sum runs in a fixed order with fused multiply-add, which is what the matrix unit does with bfloat16
inputs; LLVM splits the vectors for processors with narrower registers, and the order stays.

Arguments are C-contiguous arrays and element offsets into them, of float32, or of bfloat16 as uint16.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
_float = ir.FloatType()
_vector = ir.VectorType(_float, LANES)
_bits = ir.VectorType(ir.IntType(32), LANES)
_halves = ir.VectorType(ir.IntType(16), LANES)
_QUERIES = 4


class _Code:
    """What the two loops share: pointers, loads, splats."""

    def __init__(self, context: Any, builder: Any):
        self.context, self.builder = context, builder

    def data(self, kind: Any, array: Any) -> Any:
        """Pointer to the first element."""
        return self.context.make_array(kind)(self.context, self.builder, array).data

    def wide(self, pointer: Any, offset: Any) -> Any:
        """Sixteen numbers at an offset, as float32."""
        b = self.builder
        if pointer.type.pointee == _float:
            return self.load(pointer, offset)
        place = b.bitcast(b.gep(pointer, [offset]), _halves.as_pointer())
        shift = ir.Constant(_bits, [16] * LANES)
        return b.bitcast(b.shl(b.zext(b.load(place, align=2), _bits), shift), _vector)

    def splat(self, scalar: Any) -> Any:
        """A float32 in every lane."""
        b = self.builder
        one = b.insert_element(ir.Constant(_vector, ir.Undefined), scalar, ir.Constant(ir.IntType(32), 0))
        return b.shuffle_vector(one, one, ir.Constant(_bits, [0] * LANES))

    def scalar(self, pointer: Any, *terms: Any) -> Any:
        """The float32 at a sum of offsets."""
        return self.builder.load(self.builder.gep(pointer, [self.total(*terms)]))

    def total(self, *terms: Any) -> Any:
        """Sum of offsets."""
        first, *rest = terms
        for term in rest:
            first = self.builder.add(first, term)
        return first

    def index(self, number: int) -> Any:
        """A constant offset."""
        return ir.Constant(ir.IntType(64), number)

    def sums(self, count: int) -> list[Any]:
        """Accumulators, which LLVM keeps in registers."""
        zero = ir.Constant(_vector, [0.0] * LANES)
        return [cgutils.alloca_once_value(self.builder, zero) for _ in range(count)]

    def accumulate(self, total: Any, a: Any, b: Any) -> None:
        """Add a product, rounded once."""
        b_ = self.builder
        kind = ir.FunctionType(_vector, [_vector] * 3)
        fused = cgutils.get_or_insert_function(b_.module, kind, f"llvm.fma.v{LANES}f32")
        b_.store(b_.call(fused, [a, b, b_.load(total)]), total)

    def store(self, vector: Any, pointer: Any, offset: Any) -> None:
        """Sixteen float32 to an offset."""
        b = self.builder
        b.store(vector, b.bitcast(b.gep(pointer, [offset]), _vector.as_pointer()), align=4)

    def load(self, pointer: Any, offset: Any) -> Any:
        """Sixteen float32 at an offset."""
        b = self.builder
        return b.load(b.bitcast(b.gep(pointer, [offset]), _vector.as_pointer()), align=4)


@intrinsic
def dot_block(
    _: Any,
    query: Any,
    size: Any,
    keys: Any,
    key_offset: Any,
    scores: Any,
    score_offset: Any,
    stride: Any,
    scale: Any,
) -> Any:
    """Scaled products of four queries [4, size] with sixteen keys [size, 16], into scores [4, stride]."""
    signature = types.void(
        query, types.int64, keys, types.int64, scores, types.int64, types.int64, types.float32
    )

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        code = _Code(context, builder)
        q, k, s = (code.data(sig.args[i], args[i]) for i in (0, 2, 4))
        length, at, out, row, factor = args[1], args[3], args[5], args[6], code.splat(args[7])
        totals = code.sums(_QUERIES)
        with cgutils.for_range(builder, length) as loop:
            column = code.wide(k, code.total(at, builder.mul(loop.index, code.index(LANES))))
            for g, total in enumerate(totals):
                number = code.scalar(q, builder.mul(code.index(g), length), loop.index)
                code.accumulate(total, code.splat(number), column)
        for g, total in enumerate(totals):
            place = code.total(out, builder.mul(code.index(g), row))
            code.store(builder.fmul(builder.load(total), factor), s, place)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def mix_block(
    _: Any,
    weights: Any,
    stride: Any,
    values: Any,
    value_offset: Any,
    size: Any,
    count: Any,
    out: Any,
    out_offset: Any,
) -> Any:
    """Add to sixteen columns of out [4, size] the weighted sums of `count` rows of values [count, size]."""
    signature = types.void(
        weights, types.int64, values, types.int64, types.int64, types.int64, out, types.int64
    )

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        code = _Code(context, builder)
        w, v, o = (code.data(sig.args[i], args[i]) for i in (0, 2, 6))
        row, at, width, length, place = args[1], args[3], args[4], args[5], args[7]
        totals = code.sums(_QUERIES)
        places = [code.total(place, builder.mul(code.index(g), width)) for g in range(_QUERIES)]
        for total, where in zip(totals, places, strict=True):
            builder.store(code.load(o, where), total)
        with cgutils.for_range(builder, length) as loop:
            value = code.wide(v, code.total(at, builder.mul(loop.index, width)))
            for g, total in enumerate(totals):
                number = code.scalar(w, builder.mul(code.index(g), row), loop.index)
                code.accumulate(total, code.splat(number), value)
        for total, where in zip(totals, places, strict=True):
            code.store(builder.load(total), o, where)
        return context.get_dummy_value()

    return signature, generate
