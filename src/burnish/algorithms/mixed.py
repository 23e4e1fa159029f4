"""Other algorithms for some domains of a run.

Each algorithm sees the groups of its own domains only; what it normalises, it normalises over those. The
losses of the step are averaged by the groups that carry signal, so that an algorithm weighs as much as its
share of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import torch
from torch import Tensor

from burnish.algorithms.base import Algorithm, Needs, RewardBatch, TokenBatch, TokenLoss
from burnish.algorithms.scales import DomainScales


@dataclass(frozen=True)
class PerDomain:
    """Routes groups and tokens to the algorithm of their domain."""

    default: Algorithm
    others: tuple[tuple[tuple[str, ...], Algorithm], ...]
    """Patterns of domain names, and the algorithm of those that match; the last match counts."""

    @property
    def name(self) -> str:
        """Name of the default."""
        return self.default.name

    @property
    def needs(self) -> Needs:
        """All that any of them needs; those that need more are for whole runs."""
        needs = [a.needs for a in (self.default, *(other for _, other in self.others))]
        return Needs(reference=any(n.reference for n in needs), entropy=any(n.entropy for n in needs))

    def of(self, domain: str) -> int:
        """Number of the algorithm of a domain: 0 is the default, then the others in order."""
        found = [i for i, (patterns, _) in enumerate(self.others, 1) if _matches(domain, patterns)]
        return found[-1] if found else 0

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Those of each algorithm on its own groups."""
        result = torch.zeros_like(batch.rewards)
        for algorithm, rows in self._parts(batch.domains):
            result[rows], scales = algorithm.advantages(_rows(batch, rows), scales)
        return result, scales

    def active(self, batch: RewardBatch) -> Tensor:
        """Those of each algorithm on its own groups."""
        result = torch.zeros_like(batch.valid)
        for algorithm, rows in self._parts(batch.domains):
            result[rows] = algorithm.active(_rows(batch, rows))
        return result

    def weights(self, lengths: Tensor, active: Tensor, domains: Sequence[str] = ()) -> Tensor:
        """Those of each algorithm on its own groups, times its share of the groups that count."""
        if len(domains) != len(lengths):
            raise ValueError(f"{len(domains)} domains for {len(lengths)} groups")
        counts = (active & (lengths > 0)).any(dim=1)
        total = max(int(counts.sum()), 1)
        result = torch.zeros(lengths.shape, dtype=torch.float32)
        for algorithm, rows in self._parts(domains):
            share = int(counts[rows].sum()) / total
            result[rows] = share * algorithm.weights(lengths[rows], active[rows])
        return result

    def token_loss(self, batch: TokenBatch) -> TokenLoss:
        """The loss of each token by the algorithm of its domain."""
        if len(batch.domains) != len(batch.bounds):
            raise ValueError(f"{len(batch.domains)} domains for {len(batch.bounds)} samples")
        places = torch.arange(len(batch.bounds)).repeat_interleave(batch.bounds)
        loss = torch.zeros_like(batch.logprobs)
        metrics: dict[str, Tensor] = {}
        for algorithm, samples in self._parts(batch.domains):
            chosen = torch.isin(places, torch.tensor(samples)).nonzero()[:, 0]
            own = algorithm.token_loss(_tokens(batch, chosen, samples))
            loss = loss.index_copy(0, chosen, own.loss)
            for name, values in own.metrics.items():
                metrics.setdefault(name, torch.zeros_like(loss.detach()))[chosen] = values
        return TokenLoss(loss, metrics)

    def _parts(self, domains: Sequence[str]) -> list[tuple[Algorithm, list[int]]]:
        """Every algorithm with the places of its domains, those without any left out."""
        numbers = [self.of(domain) for domain in domains]
        algorithms = (self.default, *(other for _, other in self.others))
        parts = [(a, [i for i, n in enumerate(numbers) if n == k]) for k, a in enumerate(algorithms)]
        return [(algorithm, places) for algorithm, places in parts if places]


def _matches(domain: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(domain, pattern) for pattern in patterns)


def _rows(batch: RewardBatch, rows: list[int]) -> RewardBatch:
    return replace(
        batch,
        rewards=batch.rewards[rows],
        valid=batch.valid[rows],
        domains=tuple(batch.domains[i] for i in rows),
        lengths=_pick(batch.lengths, rows),
        cut=_pick(batch.cut, rows),
    )


def _pick(tensor: Tensor | None, rows: list[int]) -> Tensor | None:
    return None if tensor is None else tensor[rows]


def _tokens(batch: TokenBatch, chosen: Tensor, samples: list[int]) -> TokenBatch:
    take: Callable[[Tensor | None], Tensor | None] = lambda x: None if x is None else x[chosen]  # noqa: E731
    return replace(
        batch,
        logprobs=batch.logprobs[chosen],
        behaviour=batch.behaviour[chosen],
        reference=take(batch.reference),
        advantages=batch.advantages[chosen],
        entropy=take(batch.entropy),
        lengths=batch.bounds[samples],
        domains=tuple(batch.domains[i] for i in samples),
    )
