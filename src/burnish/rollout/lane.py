"""Continuous batching on one thread: a unit of requests goes through a fixed number of rows.

A finished row leaves at once and its place is given to the next group in line, whose prompt is computed
once for all its samples.

B active rows, T drawn tokens.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from burnish.models.fused import Head
from burnish.randomness import stream_key, uniforms
from burnish.rollout.cache import Slots, aligned
from burnish.rollout.decoder import Decoder
from burnish.rollout.draw import draw
from burnish.rollout.engine import Request
from burnish.rollout.prefill import prefill
from burnish.rollout.prefix import PrefixStore

_REFILL_SHARE = 0.25
"""Rows that must be free before new prompts are computed: a few at a time would waste the matrix products."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One completion."""

    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    """Per-row constants of the R rows of a unit, and what has been drawn for them."""

    keys: np.ndarray
    """[R] uint64, randomness of each row."""
    temperatures: Tensor
    prompts: Tensor
    """[R] prompt tokens."""
    limits: Tensor
    """[R] completion tokens at most."""
    owner: Tensor
    """[R] number of the request."""
    tokens: Tensor
    """[R, T] int64."""
    logprobs: Tensor
    """[R, T] float32."""
    counts: Tensor
    """[R] tokens drawn so far."""

    @classmethod
    def of(cls, requests: Sequence[Request]) -> _Unit:
        flat = [(n, r, i, t) for n, r in enumerate(requests) for i, t in enumerate(r.temperatures)]
        longest = max(r.max_tokens for r in requests)
        return cls(
            np.array([stream_key(*r.stream, i) for _, r, i, _ in flat], np.uint64),
            torch.tensor([t for _, _, _, t in flat], dtype=torch.float32),
            torch.tensor([len(r.prompt_ids) for _, r, _, _ in flat]),
            torch.tensor([r.max_tokens for _, r, _, _ in flat]),
            torch.tensor([n for n, _, _, _ in flat]),
            torch.zeros(len(flat), longest, dtype=torch.int64),
            torch.zeros(len(flat), longest),
            torch.zeros(len(flat), dtype=torch.int64),
        )

    def lengths(self, rows: Tensor) -> Tensor:
        """Columns of the cache that each row fills: its prompt and all drawn tokens but the last."""
        return self.prompts[rows] + self.counts[rows] - 1

    def last(self, rows: Tensor) -> Tensor:
        """The token each row drew last."""
        return self.tokens[rows, self.counts[rows] - 1]

    def drawn(self, row: int) -> Drawn:
        """What a row has drawn."""
        n = int(self.counts[row])
        return Drawn(tuple(self.tokens[row, :n].tolist()), tuple(self.logprobs[row, :n].tolist()))


class Lane:
    """Decodes units of requests, one after another."""

    def __init__(self, decoder: Decoder, head: Head, slots: Slots, store: PrefixStore, stops: frozenset[int]):
        """Use `slots` for rows under way and `store` for common beginnings of prompts."""
        self.decoder, self.head, self.slots, self.store = decoder, head, slots, store
        self.stops = torch.tensor(sorted(stops), dtype=torch.int64)

    @torch.no_grad()
    def run(
        self, requests: Sequence[Request], on_done: Callable[[int], None] | None = None
    ) -> list[list[Drawn]]:
        """Every sample of every request, in order; `on_done` is told how many requests have just finished."""
        unit = _Unit.of(requests)
        first = np.cumsum([0, *(len(r.temperatures) for r in requests)]).tolist()
        left = [len(r.temperatures) for r in requests]
        waiting = deque(range(len(requests)))
        active = torch.empty(0, dtype=torch.int64)  # rows of the unit; the place in it is the slot
        while waiting or len(active):
            entering = self._entering(requests, waiting, len(active))
            if entering:
                fresh, logits = self._enter(requests, entering, first, len(active))
                active = torch.cat((active, fresh))
            else:
                fresh, logits = active, self._step(unit, active)
            self._draw(unit, fresh, logits)
            if self.store.completions:
                self._remember(requests, unit, active)
            active = self._leave(unit, active, left, on_done)
        return [[unit.drawn(row) for row in range(first[n], first[n + 1])] for n in range(len(requests))]

    def _entering(self, requests: Sequence[Request], waiting: deque[int], active: int) -> list[int]:
        """The next groups in line, when enough rows are free for them."""
        free = self.slots.rows - active
        if active and free < _REFILL_SHARE * self.slots.rows:
            return []
        entering: list[int] = []
        while waiting and len(requests[waiting[0]].temperatures) <= free:
            entering.append(waiting.popleft())
            free -= len(requests[entering[-1]].temperatures)
        return entering

    def _enter(
        self, requests: Sequence[Request], entering: Sequence[int], first: Sequence[int], start: int
    ) -> tuple[Tensor, Tensor]:
        """Compute prompts into slots from `start` on and copy them to the other samples of each group.

        Returns:
            The new rows [F] in the order of their slots, and their first logits [F, V].
        """
        prompts = [requests[n].prompt_ids for n in entering]
        logits = self.head(prefill(prompts, self.decoder, self.slots, start, self.store))
        rows = [first[n] for n in entering]
        source = list(range(len(entering)))
        for i, n in enumerate(entering):
            others = list(range(first[n] + 1, first[n + 1]))
            slot = start + len(rows)
            self.slots.copy(start + i, slice(slot, slot + len(others)), len(prompts[i]))
            rows += others
            source += [i] * len(others)
        return torch.tensor(rows), logits[torch.tensor(source)]

    def _step(self, unit: _Unit, active: Tensor) -> Tensor:
        """Feed each row the token it drew last; returns its next logits [B, V]."""
        positions = unit.lengths(active)
        columns = aligned(int(positions.max()) + 1)
        memory = self.slots.view(0, len(active))
        hidden = self.decoder.hidden(unit.last(active)[:, None], positions[:, None], memory, columns)
        return self.head(hidden[:, 0])

    def _draw(self, unit: _Unit, rows: Tensor, logits: Tensor) -> None:
        count = unit.counts[rows]
        u = torch.from_numpy(uniforms(unit.keys[rows.numpy()], count.numpy().astype(np.uint64)))
        unit.tokens[rows, count], unit.logprobs[rows, count] = draw(logits, u, unit.temperatures[rows])
        unit.counts[rows] += 1

    def _finished(self, unit: _Unit, active: Tensor) -> Tensor:
        return torch.isin(unit.last(active), self.stops) | (unit.counts[active] >= unit.limits[active])

    def _remember(self, requests: Sequence[Request], unit: _Unit, active: Tensor) -> None:
        """Keep what finished rows hold, for prompts that continue them."""
        for slot in self._finished(unit, active).nonzero()[:, 0].tolist():
            row = int(active[slot])
            prompt = requests[int(unit.owner[row])].prompt_ids
            self.store.keep(prompt + unit.drawn(row).token_ids[:-1], self.slots, slot)

    def _leave(
        self, unit: _Unit, active: Tensor, left: list[int], on_done: Callable[[int], None] | None
    ) -> Tensor:
        """Take finished rows out; rows from the end move into their slots."""
        finished = self._finished(unit, active)
        if not bool(finished.any()):
            return active
        _count_down(unit.owner[active[finished]].tolist(), left, on_done)
        staying = len(active) - int(finished.sum())
        holes = finished[:staying].nonzero()[:, 0]
        movers = staying + (~finished[staying:]).nonzero()[:, 0]
        lengths = unit.lengths(active[movers]).tolist()
        for hole, mover, length in zip(holes.tolist(), movers.tolist(), lengths, strict=True):
            self.slots.move(mover, hole, length)
        active = active.clone()
        active[holes] = active[movers]
        return active[:staying]


def _count_down(owners: Sequence[int], left: list[int], on_done: Callable[[int], None] | None) -> None:
    for owner in owners:
        left[owner] -= 1
    done = sum(left[n] == 0 for n in set(owners))
    if done and on_done is not None:
        on_done(done)
