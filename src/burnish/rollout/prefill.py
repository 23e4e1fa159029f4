"""Prompts into the cache: common beginnings once, long prompts in chunks, memory bounded."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from burnish.rollout.cache import Slots, aligned
from burnish.rollout.decoder import Decoder
from burnish.rollout.prefix import PrefixStore, Tokens, common_beginnings

TOKENS_AT_ONCE = 2048
"""Padded tokens of one forward pass: activations stay small, matrix products are at full speed."""
_CHUNK = 512
_MULTIPLE = 4
"""Widths are multiples of this. ATen takes queries by 32, and a remainder of 1 to 3 through a product that
sums in another order: one number in ten thousand then differs in its last bit from a plain forward pass, and
thirty layers of bfloat16 roundings make 0.1 nats of it."""


def prefill(
    prompts: Sequence[Tokens], decoder: Decoder, slots: Slots, start: int, store: PrefixStore
) -> Tensor:
    """Fill one row a prompt, from row `start` on; returns the hidden state of each last token, [P, H]."""
    for beginnings in common_beginnings(prompts):
        room = slots.rows - start
        for first in range(0, len(beginnings), room):
            part = beginnings[first : first + room]
            _fill(part, decoder, slots, start, store)
            for i, beginning in enumerate(part):
                store.keep(beginning, slots, start + i)
    return _fill(prompts, decoder, slots, start, store)


def _fill(
    prompts: Sequence[Tokens], decoder: Decoder, slots: Slots, start: int, store: PrefixStore
) -> Tensor:
    """Prompts in runs of neighbours of similar length; rows keep the order of the prompts."""
    known = [store.restore(p, slots, start + i) for i, p in enumerate(prompts)]
    hidden: list[Tensor] = []
    for first, last in _runs([len(p) - k for p, k in zip(prompts, known, strict=True)]):
        rest = [p[k:] for p, k in zip(prompts[first:last], known[first:last], strict=True)]
        memory = slots.view(start + first, start + last)
        hidden.append(_chunks(rest, torch.tensor(known[first:last]), decoder, memory))
    return torch.cat(hidden)


def _runs(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Consecutive prompts whose padded tokens stay under the budget."""
    runs: list[tuple[int, int]] = []
    first, width = 0, 0
    for i, length in enumerate(lengths):
        widened = max(width, min(length, _CHUNK))
        if i > first and widened * (i + 1 - first) > TOKENS_AT_ONCE:
            runs.append((first, i))
            first, widened = i, min(length, _CHUNK)
        width = widened
    return [*runs, (first, len(lengths))]


def _chunks(rest: Sequence[Tokens], known: Tensor, decoder: Decoder, memory: Tensor) -> Tensor:
    """Run the tokens that are not in the cache yet, [b, chunk] at a time."""
    lengths = torch.tensor([len(r) for r in rest])
    last: Tensor | None = None
    for begin in range(0, int(lengths.max()), _CHUNK):
        width = min(_CHUNK, -(-(int(lengths.max()) - begin) // _MULTIPLE) * _MULTIPLE)
        ids = torch.tensor([_padded(r[begin : begin + width], width) for r in rest])
        # Padding is written past the prompt's end, where decoding overwrites it before anyone looks.
        positions = (known[:, None] + begin + torch.arange(width)).clamp(max=memory.shape[4] - 1)
        hidden = decoder.hidden(ids, positions, memory, aligned(int(positions.max()) + 1))
        if last is None:
            last = hidden.new_zeros(len(rest), hidden.shape[-1])
        ends = ((lengths > begin) & (lengths <= begin + width)).nonzero()[:, 0]
        last[ends] = hidden[ends, lengths[ends] - begin - 1]
    assert last is not None  # noqa: S101 - a prompt is never empty
    return last


def _padded(ids: Tokens, width: int) -> Tokens:
    return ids + (0,) * (width - len(ids))
