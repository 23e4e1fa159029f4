"""Figures of one training step, per domain and over all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from burnish.records import Abstained, Faulted, Group, Scored, StopReason

Figures = dict[str, float]


def by_domain(groups: Sequence[Group], advantages: Tensor, signal: Tensor) -> dict[str, Figures]:
    """Per domain: `success`, `reward`, `advantage_mass`, `zero_signal`, `length`, `truncated`, `entropy`, ...

    Args:
        groups: G graded groups of N samples.
        advantages: [G, N].
        signal: [G] bool, whether a group reaches the loss.

    Returns:
        Figures by domain, and under the empty name those over all groups.
    """
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for i, group in enumerate(groups):
        rows[group.task.domain].append(i)
    mass = advantages.abs().sum(dim=1)
    table = {d: _figures([groups[i] for i in index], mass[index], signal[index]) for d, index in rows.items()}
    total = max(float(mass.sum()), 1e-12)
    for domain, index in rows.items():
        table[domain]["advantage_share"] = float(mass[index].sum()) / total
    return {"": _figures(groups, mass, signal), **table}


def _figures(groups: Sequence[Group], mass: Tensor, signal: Tensor) -> Figures:
    samples = [s for g in groups for s in g.samples]
    verdicts = [v for g in groups for v in g.verdicts]
    scored = [v for v in verdicts if isinstance(v, Scored)]
    tokens = sum(len(s.token_ids) for s in samples)
    return {
        "success": _mean([float(v.passed) for v in scored]),
        "reward": _mean([v.value for v in scored]),
        "advantage_mass": float(mass.sum()) / max(len(samples), 1),
        "zero_signal": 1.0 - float(signal.float().mean()),
        "length": tokens / max(len(samples), 1),
        "truncated": _mean([float(s.stop is StopReason.LENGTH) for s in samples]),
        "entropy": -sum(sum(s.logprobs) for s in samples) / max(tokens, 1),
        "groups": float(len(groups)),
        "faults": float(sum(isinstance(v, Faulted) for v in verdicts)),
        "abstained": float(sum(isinstance(v, Abstained) for v in verdicts)),
    }


def merge_update(table: dict[str, Figures], update: Mapping[str, Figures]) -> None:
    """Add the figures of the update (`clipped`, `kl`, `ratio`, ...) to those of the rollout, in place."""
    names = {n for row in update.values() for n in row} - {"tokens", "loss"}
    tokens = sum(row["tokens"] for row in update.values())
    for domain, row in update.items():
        table[domain] |= {n: row[n] for n in names if n in row}
    for name in names:
        weighted = sum(row[name] * row["tokens"] for row in update.values() if name in row)
        table[""][name] = weighted / max(tokens, 1.0)
    table[""]["loss"] = sum(row["loss"] for row in update.values())
    table[""]["update_tokens"] = tokens


def _mean(values: Sequence[float]) -> float:
    return float(torch.tensor(values).mean()) if values else float("nan")
