"""The machine's own limit: how fast the matrix products of a model can go, with nothing else to do.

Every linear layer of the model is timed alone, at the number of rows that decoding has, with weights that lie
in memory as the model's do: all layers of one shape are swept in turn, so a product finds its weights no
nearer than it would in the model. The best kernel counts, and so does joining the products of one input
(queries, keys and values; gate and up) where that is faster.

B rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from burnish.bench.timing import repeated
from burnish.models.fused import packs

_JOINED = (("q_proj", "k_proj", "v_proj"), ("gate_proj", "up_proj"))
_TYPES = {"bfloat16": torch.bfloat16, "float32": torch.float32}


@dataclass(frozen=True, slots=True)
class Shape:
    """Linear layers of one shape."""

    inputs: int
    outputs: int
    count: int

    @property
    def weights(self) -> int:
        """Weights of all of them."""
        return self.inputs * self.outputs * self.count


@dataclass(frozen=True, slots=True)
class Product:
    """The best that was measured for the layers of one shape."""

    shape: Shape
    kernel: str
    seconds: float
    """One pass over all layers of the shape."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What the products of one forward pass take at least."""

    dtype: str
    rows: int
    products: tuple[Product, ...]

    @property
    def seconds(self) -> float:
        """One pass over the whole model."""
        return sum(p.seconds for p in self.products)

    @property
    def tokens_per_second(self) -> float:
        """Rows per pass, passes per second."""
        return self.rows / self.seconds

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        flops = 2 * self.rows * sum(p.shape.weights for p in self.products)
        return {
            "dtype": self.dtype,
            "rows": self.rows,
            "seconds_per_pass": self.seconds,
            "tokens_per_second": self.tokens_per_second,
            "gflops": flops / self.seconds / 1e9,
            "products": [
                {
                    "inputs": p.shape.inputs,
                    "outputs": p.shape.outputs,
                    "layers": p.shape.count,
                    "kernel": p.kernel,
                    "gflops": 2 * self.rows * p.shape.weights / p.seconds / 1e9,
                }
                for p in self.products
            ],
        }


def shapes_of(model: nn.Module, *, joined: bool) -> list[Shape]:
    """Shapes of all linear layers of a model, the output head included.

    Args:
        model: any module.
        joined: count products that share their input as one.
    """
    shapes: Counter[tuple[int, int]] = Counter()
    for parent in model.modules():
        layers = {n: m for n, m in parent.named_children() if isinstance(m, nn.Linear)}
        for names in _JOINED if joined else ():
            if all(name in layers for name in names):
                outputs = sum(layers[name].out_features for name in names)
                shapes[layers[names[0]].in_features, outputs] += 1
                layers = {n: m for n, m in layers.items() if n not in names}
        for layer in layers.values():
            shapes[layer.in_features, layer.out_features] += 1
    return [Shape(inputs, outputs, count) for (inputs, outputs), count in shapes.items()]


def measure_limit(model: nn.Module, rows: int, dtype: str, repeats: int = 5) -> Limit:
    """The fastest pass over the model's products at `rows` rows: joined or apart, best kernel each."""
    tries = [
        Limit(dtype, rows, tuple(_best(shape, rows, dtype, repeats) for shape in shapes))
        for shapes in (shapes_of(model, joined=True), shapes_of(model, joined=False))
    ]
    return min(tries, key=lambda limit: limit.seconds)


@torch.no_grad()
def _best(shape: Shape, rows: int, dtype: str, repeats: int) -> Product:
    x = torch.randn(rows, shape.inputs).to(_TYPES[dtype])
    weights = [torch.randn(shape.outputs, shape.inputs).to(_TYPES[dtype]) for _ in range(shape.count)]
    kernels: dict[str, Callable[[], object]] = {"linear": lambda: [linear(x, w) for w in weights]}
    packed = _prepacked(weights, rows)
    if packed:
        pointwise = torch.ops.mkldnn._linear_pointwise
        kernels["prepacked"] = lambda: [pointwise(x, w, None, "none", [], "") for w in packed]
    timed = {name: repeated(work, repeats) for name, work in kernels.items()}
    name = min(timed, key=lambda n: timed[n])
    return Product(shape, name, timed[name])


def _prepacked(weights: Sequence[Tensor], rows: int) -> list[Tensor]:
    if not packs(weights[0].dtype):
        return []
    return [torch.ops.mkldnn._reorder_linear_weight(weight, rows) for weight in weights]
