"""Keys and values of the rows in a decoding batch, in memory reserved once.

A row is one completion under way. Rows in use are always the first ones, so the batch is a plain slice;
a finished row's place is taken by the last one. Column p holds position p.

R rows, K key heads, C columns of capacity, D head size.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import Cache
from transformers.cache_utils import CacheLayerMixin

from burnish.models.policy import Policy

ALIGNMENT = 32
"""Columns come in multiples of this: the attention kernel sums in such strides, and the same strides as in
a plain forward pass give the same sums."""


BLOCK = 16
"""Columns are copied in whole blocks of this many."""


def aligned(columns: int) -> int:
    """Columns rounded up to the alignment."""
    return -(-columns // ALIGNMENT) * ALIGNMENT


def bytes_per_token(policy: Policy) -> int:
    """Memory of one position: keys and values of every layer."""
    layers, heads, size = _shape(policy)
    return 2 * layers * heads * size * policy.dtype.itemsize


def _shape(policy: Policy) -> tuple[int, int, int]:
    config = policy.causal.config
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return config.num_hidden_layers, config.num_key_value_heads, size


class Slots:
    """The cache of one lane of decoding."""

    def __init__(self, policy: Policy, rows: int, columns: int):
        """Reserve memory; pages are touched when first written."""
        layers, heads, size = _shape(policy)
        self.columns = aligned(columns)
        # Zeros, not garbage: a masked column still meets a weight of zero, and zero times NaN is NaN.
        self.memory = torch.zeros(layers, 2, rows, heads, self.columns, size, dtype=policy.dtype)

    @property
    def rows(self) -> int:
        """Rows there is room for."""
        return self.memory.shape[2]

    def view(self, start: int, stop: int) -> Tensor:
        """Rows [start, stop): [layers, 2, rows, K, C, D]."""
        return self.memory[:, :, start:stop]

    def copy(self, source: int, targets: slice, length: int) -> None:
        """Give the rows `targets` the first `length` columns of row `source`."""
        whole = _whole(length)
        self.memory[:, :, targets, :, :whole] = self.memory[:, :, source : source + 1, :, :whole]

    def move(self, source: int, target: int, length: int) -> None:
        """Give row `target` what row `source` holds."""
        if source != target:
            whole = _whole(length)
            self.memory[:, :, target, :, :whole] = self.memory[:, :, source, :, :whole]

    def read(self, row: int, start: int, stop: int) -> Tensor:
        """A copy of columns [start, stop) of a row, both multiples of 16: [layers, 2, K, columns, D]."""
        return self.memory[:, :, row, :, start:stop].clone()

    def write(self, row: int, start: int, block: Tensor) -> None:
        """Put columns back that `read` gave."""
        self.memory[:, :, row, :, start : start + block.shape[3]] = block


def _whole(length: int) -> int:
    """Columns in whole blocks of 16, because a decoder may store neighbouring columns interleaved."""
    return -(-length // BLOCK) * BLOCK


class SlotLayer(CacheLayerMixin):
    """One layer of a slice of slots, in the form that `transformers` models write to."""

    is_sliding = False

    def __init__(self, memory: Tensor, rows: Tensor, positions: Tensor, columns: int):
        super().__init__()
        self.keys, self.values = memory[0], memory[1]
        self.rows, self.positions, self.columns = rows, positions, columns
        self.is_initialized = True

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Nothing to do: the memory is there."""

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: object, **kwargs: object
    ) -> tuple[Tensor, Tensor]:
        """Write [b, K, L, D] at the tokens' positions; returns views of all columns to look at."""
        assert self.keys is not None and self.values is not None  # noqa: S101
        self.keys[self.rows, :, self.positions] = key_states.transpose(1, 2)
        self.values[self.rows, :, self.positions] = value_states.transpose(1, 2)
        return self.keys[:, :, : self.columns], self.values[:, :, : self.columns]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Columns to look at, and their offset."""
        return self.columns, 0

    def get_seq_length(self) -> int:
        """Columns before the new tokens; positions are always given, so nothing depends on it."""
        return self.columns - int(self.positions.shape[1])

    def get_max_length(self) -> int:
        """Capacity in columns."""
        return self.keys.shape[2] if self.keys is not None else 0


class SlotCache(Cache):
    """All layers of a slice of slots."""

    def __init__(self, memory: Tensor, positions: Tensor, columns: int):
        """Wrap rows for one forward pass.

        Args:
            memory: [layers, 2, b, K, C, D].
            positions: [b, L] column of each new token.
            columns: columns to look at.
        """
        rows = torch.arange(len(positions))[:, None].expand_as(positions)
        layers: Sequence[Tensor] = memory.unbind(0)
        super().__init__(layers=[SlotLayer(m, rows, positions, columns) for m in layers])
