"""The embedded rollout engine: any `transformers` causal model, on the machine at hand.

Each prompt is prefilled once and its keys and values are copied to the samples of its group; finished
rows leave the batch; a token is an inverse-CDF draw from keyed randomness, so the same request gives
the same completion whatever else runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from burnish.errors import ModelError
from burnish.models.policy import Policy, copy_weights, hidden_states, output_weight
from burnish.randomness import stream_key, uniforms
from burnish.records import Sample, StopReason, WeightVersion
from burnish.rollout.cache import SlotCache, valid_columns
from burnish.rollout.draw import draw
from burnish.rollout.engine import Request

_PREFILL_TOKENS = 4096
_DROP_SHARE = 0.25


class TorchEngine:
    """Draws completions with a frozen copy of a policy's weights."""

    def __init__(self, policy: Policy, batch_rows: int = 128):
        """Take over `policy`; its model must not be trained by anyone else.

        Args:
            policy: model and tokenizer.
            batch_rows: completions decoded together at most.
        """
        self.policy = policy
        self.batch_rows = batch_rows
        self._version: WeightVersion = 0
        self._refresh()

    @property
    def version(self) -> WeightVersion:
        """Version of the weights in use."""
        return self._version

    @torch.no_grad()
    def _refresh(self) -> None:
        self.policy.model.requires_grad_(False).eval()
        self._head = output_weight(self.policy.causal).float()

    def load(self, weights: Mapping[str, Tensor], version: WeightVersion) -> None:
        """Copy new weights in; see `Engine.load`."""
        copy_weights(self.policy.model, weights)
        self._version = version
        self._refresh()

    @torch.no_grad()
    def score(self, prompt_ids: Sequence[int], completion_ids: Sequence[int]) -> list[float]:
        """Log-prob of each completion token by one plain forward pass; see `Engine.score`."""
        ids = torch.tensor([[*prompt_ids, *completion_ids]])
        length = ids.shape[1]
        mask = torch.ones(length, length, dtype=torch.bool).tril()[None, None]
        hidden = hidden_states(self.policy.causal, ids, mask, torch.arange(length)[None])
        logprobs = self._logits(hidden[0, len(prompt_ids) - 1 : -1]).log_softmax(-1)
        return logprobs.gather(-1, ids[0, len(prompt_ids) :, None])[:, 0].tolist()

    @torch.no_grad()
    def generate(
        self, requests: Sequence[Request], on_done: Callable[[int], None] | None = None
    ) -> list[tuple[Sample, ...]]:
        """Draw every sample of every request; see `Engine.generate`."""
        for request in requests:
            self._check(request)
        results: list[tuple[Sample, ...]] = [()] * len(requests)
        for batch in row_batches(requests, self.batch_rows):
            for i, samples in zip(batch, self._run([requests[i] for i in batch]), strict=True):
                results[i] = samples
            if on_done is not None:
                on_done(len(batch))
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

    def _logits(self, hidden: Tensor) -> Tensor:
        return hidden.float() @ self._head.T

    def _run(self, requests: Sequence[Request]) -> list[tuple[Sample, ...]]:
        rows = _Rows.of(requests)
        cache, hidden = self._prefill(requests, rows)
        finished = _decode(self, rows, cache, hidden)
        return _collect(self, requests, finished)

    def _prefill(self, requests: Sequence[Request], rows: _Rows) -> tuple[SlotCache, Tensor]:
        """Fill the cache with every row's prompt; returns it with the last hidden state of each row."""
        layers = self.policy.causal.config.num_hidden_layers
        cache = SlotCache(layers, rows.width + rows.max_tokens, rows.width)
        hidden: list[Tensor] = []
        start = 0
        for part in _prefill_parts(requests):
            prompts, last = self._prefill_part([r.prompt_ids for r in part])
            spread = torch.tensor([i for i, r in enumerate(part) for _ in r.temperatures])
            cache.adopt(prompts, spread, start, len(rows.keys))
            hidden.append(last[spread])
            start += len(spread)
        return cache, torch.cat(hidden)

    def _prefill_part(self, prompts: Sequence[tuple[int, ...]]) -> tuple[SlotCache, Tensor]:
        width = max(map(len, prompts))
        lengths = torch.tensor([len(p) for p in prompts])
        ids = torch.tensor([(0,) * (width - len(p)) + p for p in prompts])
        valid = valid_columns(lengths, width, width)
        mask = valid[:, None, None, :] & torch.ones(width, width, dtype=torch.bool).tril()
        mask |= torch.eye(width, dtype=torch.bool)  # a padded position attends itself, so no row is empty
        positions = (torch.arange(width)[None] - (width - lengths)[:, None]).clamp(min=0)
        cache = SlotCache(self.policy.causal.config.num_hidden_layers, width)
        hidden = hidden_states(self.policy.causal, ids, mask, positions, cache)
        return cache, hidden[:, -1]

    def step(self, tokens: Tensor, positions: Tensor, valid: Tensor, cache: SlotCache) -> Tensor:
        """Hidden states [B, hidden] after one more token a row."""
        mask = valid[:, None, None, : cache.get_seq_length() + 1]
        return hidden_states(self.policy.causal, tokens[:, None], mask, positions[:, None], cache)[:, 0]


@dataclass(frozen=True)
class _Rows:
    """Per-row constants of one batch of B rows."""

    keys: np.ndarray
    """[B] uint64, randomness of each row."""
    temperatures: Tensor
    lengths: Tensor
    """[B] prompt tokens."""
    limits: Tensor
    """[B] completion tokens at most."""
    width: int
    """Longest prompt."""

    @property
    def max_tokens(self) -> int:
        return int(self.limits.max())

    @classmethod
    def of(cls, requests: Sequence[Request]) -> _Rows:
        flat = [(r, i, t) for r in requests for i, t in enumerate(r.temperatures)]
        return cls(
            np.array([stream_key(*r.stream, i) for r, i, _ in flat], np.uint64),
            torch.tensor([t for _, _, t in flat], dtype=torch.float32),
            torch.tensor([len(r.prompt_ids) for r, _, _ in flat]),
            torch.tensor([r.max_tokens for r, _, _ in flat]),
            max(len(r.prompt_ids) for r in requests),
        )


@dataclass(frozen=True)
class _Finished:
    """What was drawn for one batch: [B, T] tokens and log-probs, and [B] lengths."""

    tokens: Tensor
    logprobs: Tensor
    lengths: Tensor


def _decode(engine: TorchEngine, rows: _Rows, cache: SlotCache, hidden: Tensor) -> _Finished:
    count, limit = len(rows.keys), rows.max_tokens
    tokens = torch.zeros(count, limit, dtype=torch.int64)
    logprobs = torch.zeros(count, limit)
    lengths = torch.zeros(count, dtype=torch.int64)
    stops = torch.tensor(sorted(engine.policy.stop_ids))
    valid = valid_columns(rows.lengths, rows.width, rows.width + limit)
    held = torch.arange(count)  # rows still in the batch
    open_rows = torch.ones(count, dtype=torch.bool)  # of those, rows that are not finished
    for t in range(limit):
        u = torch.from_numpy(uniforms(rows.keys[held.numpy()], np.array(t, np.uint64)))
        drawn, logprob = draw(engine._logits(hidden), u, rows.temperatures[held])
        live = held[open_rows]
        tokens[live, t], logprobs[live, t] = drawn[open_rows], logprob[open_rows]
        lengths[live] = t + 1
        open_rows &= ~torch.isin(drawn, stops) & (t + 1 < rows.limits[held])
        if not bool(open_rows.any()):
            break
        if open_rows.sum() <= (1 - _DROP_SHARE) * len(held):
            index = open_rows.nonzero()[:, 0]
            cache.keep(index)
            held, drawn, open_rows = held[index], drawn[index], open_rows[index]
        hidden = engine.step(drawn, rows.lengths[held] + t, valid[held], cache)
    return _Finished(tokens, logprobs, lengths)


def _collect(
    engine: TorchEngine, requests: Sequence[Request], finished: _Finished
) -> list[tuple[Sample, ...]]:
    row = iter(range(len(finished.lengths)))
    return [
        tuple(_sample(engine, finished, next(row), i) for i in range(len(r.temperatures))) for r in requests
    ]


def _sample(engine: TorchEngine, finished: _Finished, row: int, index: int) -> Sample:
    length = int(finished.lengths[row])
    ids = tuple(finished.tokens[row, :length].tolist())
    return Sample(
        text=engine.policy.decode(ids),
        index=index,
        token_ids=ids,
        logprobs=tuple(finished.logprobs[row, :length].tolist()),
        versions=(engine.version,) * length,
        stop=StopReason.EOS if ids[-1] in engine.policy.stop_ids else StopReason.LENGTH,
    )


def row_batches(requests: Sequence[Request], batch_rows: int) -> list[list[int]]:
    """Fixed batches of request numbers: by prompt length, then by number, up to `batch_rows` rows each."""
    batches: list[list[int]] = []
    used = batch_rows
    for i in sorted(range(len(requests)), key=lambda i: (len(requests[i].prompt_ids), i)):
        rows = len(requests[i].temperatures)
        if used + rows > batch_rows:
            batches.append([])
            used = 0
        batches[-1].append(i)
        used += rows
    return batches


def _prefill_parts(requests: Sequence[Request]) -> list[list[Request]]:
    """Consecutive requests whose padded prompts stay under a token budget, to bound memory."""
    parts: list[list[Request]] = []
    width = 0
    for request in requests:
        width = max(width, len(request.prompt_ids))
        if not parts or width * (len(parts[-1]) + 1) > _PREFILL_TOKENS:
            parts.append([])
            width = len(request.prompt_ids)
        parts[-1].append(request)
    return parts
