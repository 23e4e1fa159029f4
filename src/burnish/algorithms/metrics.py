"""Per-token quantities to log, the same for every preset."""

from __future__ import annotations

from torch import Tensor

from burnish.algorithms.base import TokenBatch
from burnish.algorithms.kl import k3, mismatch_k3


def token_metrics(batch: TokenBatch, clipped: Tensor) -> dict[str, Tensor]:
    """`clipped` (0 or 1), `ratio` pi/mu, `mismatch_k3` (mu, pi), and `kl` (k3 to the reference, if any)."""
    logprobs, behaviour = batch.logprobs.detach(), batch.behaviour.detach()
    metrics = {
        "clipped": clipped.to(logprobs.dtype),
        "ratio": (logprobs - behaviour).exp(),
        "mismatch_k3": mismatch_k3(logprobs, behaviour),
    }
    if batch.reference is not None:
        metrics["kl"] = k3(logprobs, batch.reference.detach())
    return metrics
