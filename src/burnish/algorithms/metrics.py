"""Per-token quantities to log, the same for every preset."""

from __future__ import annotations

from torch import Tensor

from burnish.algorithms.base import TokenBatch
from burnish.algorithms.kl import k3, mismatch_k3


def token_metrics(batch: TokenBatch, clipped: Tensor) -> dict[str, Tensor]:
    """By name, each [T] and detached.

    `clipped` (0 or 1), `ratio` pi/mu, `mismatch_k3` (mu, pi), with a reference `kl` (k3), and `exact_entropy`
    in nats where it was computed.
    """
    logprobs, behaviour = batch.logprobs.detach(), batch.behaviour.detach()
    metrics = {
        "clipped": clipped.to(logprobs.dtype),
        "ratio": (logprobs - behaviour).exp(),
        "mismatch_k3": mismatch_k3(logprobs, behaviour),
    }
    if batch.reference is not None:
        metrics["kl"] = k3(logprobs, batch.reference.detach())
    if batch.entropy is not None:
        metrics["exact_entropy"] = batch.entropy.detach()
    return metrics
