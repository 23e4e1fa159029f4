"""Prompts that begin alike: their common beginnings are computed once.

Prompts are cut into blocks of 16 tokens. A block is known by the chain of all tokens up to its end, which
makes the store a radix tree without pointers: the longest known chain of a prompt is found block by block.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence

from torch import Tensor

from burnish.rollout.cache import BLOCK, Slots

_WORTH = 64
"""Tokens that computing a common beginning apart must save to be worth a forward pass of its own."""

Tokens = tuple[int, ...]


class PrefixStore:
    """Keys and values of blocks, the least recently used given up first."""

    def __init__(self, capacity: int, *, completions: bool = False):
        """Keep at most `capacity` tokens; with `completions` those that were drawn too, for a next turn."""
        self.blocks = capacity // BLOCK
        self.completions = completions
        self._held: OrderedDict[Tokens, Tensor] = OrderedDict()

    def __len__(self) -> int:
        """Tokens held."""
        return len(self._held) * BLOCK

    def clear(self) -> None:
        """Forget everything, as after a change of weights."""
        self._held.clear()

    def restore(self, ids: Tokens, slots: Slots, row: int) -> int:
        """Write the longest known beginning of `ids` into a row; returns its tokens.

        At least the last token is left to compute: its hidden state is needed.
        """
        length = 0
        while length + BLOCK < len(ids):
            block = self._held.get(ids[: length + BLOCK])
            if block is None:
                break
            self._held.move_to_end(ids[: length + BLOCK])
            slots.write(row, length, block)
            length += BLOCK
        return length

    def keep(self, ids: Tokens, slots: Slots, row: int) -> None:
        """Remember the whole blocks of `ids`, whose keys and values are in a row."""
        for end in range(BLOCK, len(ids) + 1, BLOCK):
            if ids[:end] not in self._held:
                self._held[ids[:end]] = slots.read(row, end - BLOCK, end)
            self._held.move_to_end(ids[:end])
        while len(self._held) > self.blocks:
            self._held.popitem(last=False)


def common_beginnings(prompts: Sequence[Tokens]) -> list[list[Tokens]]:
    """Beginnings shared by several prompts that are worth computing apart, shortest first.

    Returns:
        Rounds; the beginnings of one round have the same length and may be computed together.
    """
    counts = Counter(p[:end] for p in prompts for end in range(BLOCK, len(p), BLOCK))
    worth: set[Tokens] = set()
    for prompt in prompts:
        worth.update(_forks(prompt, counts))
    lengths = sorted({len(w) for w in worth})
    return [sorted(w for w in worth if len(w) == n) for n in lengths]


def _forks(prompt: Tokens, counts: Counter[Tokens]) -> Iterable[Tokens]:
    """Ends of stretches of a prompt that the same number of prompts share."""
    done = 0
    for end in range(BLOCK, len(prompt), BLOCK):
        sharing = counts[prompt[:end]]
        if sharing < 2:
            return
        following = counts[prompt[: end + BLOCK]] if end + BLOCK < len(prompt) else 0
        if following < sharing and (sharing - 1) * (end - done) >= _WORTH:
            yield prompt[:end]
            done = end
