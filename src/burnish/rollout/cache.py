"""Preallocated key-value cache with rows that can be copied from shared prompts and dropped when finished.

B rows, K key heads, C columns of capacity, D head size.
"""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import Cache
from transformers.cache_utils import CacheLayerMixin


class SlotLayer(CacheLayerMixin):
    """Keys and values of one layer, written column by column into memory reserved at first use."""

    is_sliding = False

    def __init__(self, capacity: int):
        super().__init__()
        self.capacity = capacity
        self.length = 0

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Reserve [B, K, C, D] for keys and for values."""
        batch, heads, _, size = key_states.shape
        self.keys = key_states.new_empty(batch, heads, self.capacity, size)
        self.values = value_states.new_empty(batch, heads, self.capacity, value_states.shape[-1])
        self.is_initialized = True

    def update(
        self, key_states: Tensor, value_states: Tensor, *args: object, **kwargs: object
    ) -> tuple[Tensor, Tensor]:
        """Append [B, K, n, D] and return views of everything held so far."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        assert self.keys is not None and self.values is not None  # noqa: S101
        end = self.length + key_states.shape[2]
        self.keys[:, :, self.length : end] = key_states
        self.values[:, :, self.length : end] = value_states
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Columns after the next update, and their offset."""
        return self.length + query_length, 0

    def get_seq_length(self) -> int:
        """Columns in use."""
        return self.length

    def get_max_length(self) -> int:
        """Capacity in columns."""
        return self.capacity

    def adopt(self, source: SlotLayer, rows: Tensor, start: int, total: int) -> None:
        """Copy rows of a prompt cache, right-aligned to the `self.length` columns, from row `start` on."""
        assert source.keys is not None and source.values is not None  # noqa: S101
        if not self.is_initialized:
            self.keys = source.keys.new_zeros(
                total, source.keys.shape[1], self.capacity, source.keys.shape[3]
            )
            self.values = source.values.new_zeros(
                total, source.values.shape[1], self.capacity, source.values.shape[3]
            )
            self.is_initialized = True
        assert self.keys is not None and self.values is not None  # noqa: S101
        begin = self.length - source.length
        stop = start + rows.numel()
        self.keys[start:stop, :, begin : self.length] = source.keys[rows, :, : source.length]
        self.values[start:stop, :, begin : self.length] = source.values[rows, :, : source.length]

    def keep(self, rows: Tensor) -> None:
        """Drop every row that is not in `rows`."""
        assert self.keys is not None and self.values is not None  # noqa: S101
        self.keys, self.values = self.keys[rows], self.values[rows]


class SlotCache(Cache):
    """One `SlotLayer` per layer of the model."""

    def __init__(self, layers: int, capacity: int, length: int = 0):
        slots = [SlotLayer(capacity) for _ in range(layers)]
        for slot in slots:
            slot.length = length
        super().__init__(layers=list(slots))
        self.slots = slots

    def adopt(self, source: SlotCache, rows: Tensor, start: int, total: int) -> None:
        """Fill rows `start` onwards with copies of `source`'s rows; see `SlotLayer.adopt`."""
        for mine, theirs in zip(self.slots, source.slots, strict=True):
            mine.adopt(theirs, rows, start, total)

    def keep(self, rows: Tensor) -> None:
        """Drop every row that is not in `rows` ([k] int64, increasing)."""
        for slot in self.slots:
            slot.keep(rows)


def valid_columns(lengths: Tensor, width: int, capacity: int) -> Tensor:
    """Which columns a left-padded row may attend: [B, capacity] boolean.

    Args:
        lengths: [B] prompt lengths.
        width: columns the prompts fill; a prompt of length n occupies the last n of them.
        capacity: all columns; those after the prompt are reserved for the completion and are valid.
    """
    columns = torch.arange(capacity)
    return columns[None] >= (width - lengths)[:, None]
