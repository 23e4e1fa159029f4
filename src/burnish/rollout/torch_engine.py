"""The embedded rollout engine: any `transformers` causal model, on the machine at hand.

Requests are cut into fixed units; each unit is decoded by one lane, and a few threads share the work of a
lane, so that weights are read once for many rows. A prompt is computed once for its group,
common beginnings of prompts once for all, finished rows are replaced from the queue, and a token is an
inverse-CDF draw from keyed randomness: the same requests give the same completions whatever the number of
lanes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import torch
from torch import Tensor

from burnish.errors import ModelError
from burnish.models.checksums import checksums
from burnish.models.fused import Head
from burnish.models.policy import Policy, copy_weights, hidden_states, output_weight
from burnish.records import Sample, StopReason, WeightVersion
from burnish.rollout.cache import Slots, aligned, bytes_per_token
from burnish.rollout.decoder import decoder_for
from burnish.rollout.engine import Request
from burnish.rollout.lane import Drawn, Lane
from burnish.rollout.prefix import PrefixStore

UNITS = 8
"""Units that many requests are cut into at most: work for up to as many lanes."""
BATCHES = 4
"""Batches of completions that make a unit: a long queue keeps its lane's rows full."""
LANE_THREADS = 4
"""Threads that share the work of a lane: its weights are read from memory once for all its rows."""
_CACHE_BYTES = 1 << 30
"""Memory for keys and values of all lanes together; long prompts get fewer rows."""
_PREFIX_TOKENS = 4096
"""Tokens of common beginnings that a lane remembers."""


class TorchEngine:
    """Draws completions with a frozen copy of a policy's weights."""

    def __init__(
        self, policy: Policy, batch_rows: int = 64, lanes: int | None = None, *, remembered_tokens: int = 0
    ):
        """Take over `policy`; its model must not be trained by anyone else.

        Args:
            policy: model and tokenizer.
            batch_rows: completions that a lane decodes together at most.
            lanes: units decoded side by side; one for every four of torch's threads by default.
            remembered_tokens: keys and values of prompts and completions kept from call to call, for
                conversations whose next prompt continues them; one lane then does everything.
        """
        self.policy = policy
        self.batch_rows = batch_rows
        self.lanes = 1 if remembered_tokens else lanes
        self._remembered = PrefixStore(remembered_tokens, completions=True) if remembered_tokens else None
        self._version: WeightVersion = 0
        self._decoder = decoder_for(policy)
        self._refresh()

    @property
    def version(self) -> WeightVersion:
        """Version of the weights in use."""
        return self._version

    @torch.no_grad()
    def _refresh(self) -> None:
        self.policy.model.requires_grad_(False).eval()
        self._decoder.refresh()
        if self._remembered is not None:
            self._remembered.clear()
        self._head = Head(output_weight(self.policy.causal))

    def load(self, weights: Mapping[str, Tensor], version: WeightVersion) -> None:
        """Copy new weights in; see `Engine.load`."""
        copy_weights(self.policy.model, weights)
        self._version = version
        self._refresh()

    def checksums(self) -> dict[str, str]:
        """Checksum of every parameter; see `Engine.checksums`."""
        return checksums(dict(self.policy.model.named_parameters()))

    @torch.no_grad()
    def score(self, prompt_ids: Sequence[int], completion_ids: Sequence[int]) -> list[float]:
        """Log-prob of each completion token by one plain forward pass; see `Engine.score`."""
        given = [*prompt_ids, *completion_ids]
        width = aligned(len(given))
        ids = torch.tensor([[*given, *[0] * (width - len(given))]])
        mask = torch.ones(width, width, dtype=torch.bool).tril()[None, None]
        hidden = hidden_states(self.policy.causal, ids, mask, torch.arange(width)[None])
        with self._head.precision():
            logits = self._head(hidden[0, len(prompt_ids) - 1 : len(given) - 1])
        return logits.log_softmax(-1).gather(-1, ids[0, len(prompt_ids) : len(given), None])[:, 0].tolist()

    def generate(
        self, requests: Sequence[Request], on_done: Callable[[int], None] | None = None
    ) -> list[tuple[Sample, ...]]:
        """Draw every sample of every request; see `Engine.generate`."""
        if not requests:
            return []
        for request in requests:
            self._check(request)
        units = row_units(requests, self.batch_rows)
        results: list[tuple[Sample, ...]] = [()] * len(requests)
        drawn_units = self._run([[requests[i] for i in u] for u in units], on_done)
        for unit, drawn in zip(units, drawn_units, strict=True):
            for i, samples in zip(unit, drawn, strict=True):
                results[i] = tuple(self._sample(d, index) for index, d in enumerate(samples))
        return results

    def _check(self, request: Request) -> None:
        need = len(request.prompt_ids) + request.max_tokens
        if not request.prompt_ids or need > self.policy.context:
            raise ModelError(
                "a prompt does not fit the model's context",
                got=f"{len(request.prompt_ids)} prompt tokens + {request.max_tokens} for the completion",
                expected=f"at most {self.policy.context} tokens together, and at least 1 of prompt",
                next_step="lower rollout.max_tokens, set domains.max_prompt_tokens, or leave the domain out",
            )

    def _run(
        self, units: Sequence[Sequence[Request]], on_done: Callable[[int], None] | None
    ) -> list[list[list[Drawn]]]:
        """All units, on as many lanes as there are, the largest shape of cache for each lane."""
        threads = torch.get_num_threads()
        lanes = min(self.lanes or -(-threads // LANE_THREADS), len(units))
        with self._head.precision():
            if lanes == 1:
                # In this thread: OpenMP keeps a team for each, and more teams than cores wait for each other.
                lane = self._lane(units, 1)
                return [self._work(lane, unit, on_done) for unit in units]
            return self._side_by_side(units, lanes, max(1, threads // lanes), on_done)

    def _work(
        self, lane: Lane, unit: Sequence[Request], on_done: Callable[[int], None] | None
    ) -> list[list[Drawn]]:
        drawn = lane.run(unit, on_done)
        if self._remembered is None:
            lane.store.clear()  # what a unit finds there must not depend on who ran before it
        return drawn

    def _side_by_side(
        self,
        units: Sequence[Sequence[Request]],
        lanes: int,
        threads: int,
        on_done: Callable[[int], None] | None,
    ) -> list[list[list[Drawn]]]:
        """Units on lanes of `threads` threads each."""
        spare: list[Lane] = []
        lock = threading.Lock()

        def work(unit: Sequence[Request]) -> list[list[Drawn]]:
            torch.set_num_threads(threads)
            with lock:
                lane = spare.pop() if spare else self._lane(units, lanes)
            drawn = self._work(lane, unit, on_done)
            with lock:
                spare.append(lane)
            return drawn

        with _threads_restored(), ThreadPoolExecutor(lanes, "burnish-lane") as pool:
            return list(pool.map(work, units))

    def _lane(self, units: Sequence[Sequence[Request]], lanes: int) -> Lane:
        requests = [r for unit in units for r in unit]
        columns = aligned(max(len(r.prompt_ids) + r.max_tokens for r in requests))
        group = max(len(r.temperatures) for r in requests)
        most = max(sum(len(r.temperatures) for r in unit) for unit in units)
        affordable = _CACHE_BYTES // (lanes * columns * bytes_per_token(self.policy))
        rows = max(group, min(self.batch_rows, most, affordable))
        slots = Slots(self.policy, rows, columns)
        store = PrefixStore(_PREFIX_TOKENS) if self._remembered is None else self._remembered
        return Lane(self._decoder, self._head, slots, store, self.policy.stop_ids)

    def _sample(self, drawn: Drawn, index: int) -> Sample:
        ended = drawn.token_ids[-1] in self.policy.stop_ids
        return Sample(
            text=self.policy.decode(drawn.token_ids),
            index=index,
            token_ids=drawn.token_ids,
            logprobs=drawn.logprobs,
            versions=(self.version,) * len(drawn.token_ids),
            stop=StopReason.EOS if ended else StopReason.LENGTH,
        )


@contextmanager
def _threads_restored() -> Iterator[None]:
    """Lanes set the thread count of the process for themselves; the caller's comes back after them."""
    before = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(before)


def row_units(requests: Sequence[Request], batch_rows: int) -> list[list[int]]:
    """Fixed units of request numbers, dealt out by prompt length so that all are alike.

    As many as have `BATCHES` batches each, up to `UNITS`; beyond that units grow. Their number does not
    depend on the machine, because the bits of bfloat16 products may depend on how many rows go together.
    """
    rows = sum(len(r.temperatures) for r in requests)
    count = min(UNITS, max(1, rows // (BATCHES * batch_rows)), len(requests))
    order = sorted(range(len(requests)), key=lambda i: (len(requests[i].prompt_ids), i))
    return [sorted(order[n::count], key=lambda i: (len(requests[i].prompt_ids), i)) for n in range(count)]
