"""How far the policy being trained has moved from the one that drew the tokens.

With rho = pi / mu for each token, pi the policy of the update's first pass and mu the sampler:

    ess             (sum rho)^2 / (n sum rho^2): 1 on-policy; the share of tokens that really count
    mismatch_k3     mean of rho - log rho - 1, the k3 estimate of KL(mu || pi) in nats (by domain too)
    max_log_ratio   largest |log rho|
    staleness       mean over tokens of the weight version trained minus the one that drew the token
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from burnish.records import Group, WeightVersion

LEAST_ESS = 0.5
"""Below this share of effective tokens a step is warned about."""
MOST_MISMATCH = (0.01, 0.05)
"""Mean mismatch in nats that is warned about: at a staleness of up to 1, and of 8; linear between."""
MOST_LOG_RATIO = 1e-3
"""On-policy in float32, sampler and trainer compute the same number; a larger |log rho| is warned about."""


@dataclass
class Mismatch:
    """Sums over the tokens of an update."""

    tokens: float = 0.0
    ratios: float = 0.0
    squares: float = 0.0
    largest: float = 0.0

    @torch.no_grad()
    def add(self, logprobs: Tensor, behaviour: Tensor, counts: Tensor) -> None:
        """Take in tokens.

        Args:
            logprobs: [T] log pi.
            behaviour: [T] log mu.
            counts: [T] how often each token was drawn; equal completions are computed once.
        """
        log_ratio = (logprobs.detach() - behaviour).double()
        ratio = log_ratio.exp()
        self.tokens += float(counts.sum())
        self.ratios += float((ratio * counts).sum())
        self.squares += float((ratio.square() * counts).sum())
        self.largest = max(self.largest, float(log_ratio.abs().max()))

    def figures(self) -> dict[str, float]:
        """Metrics of the step; empty when nothing was trained."""
        if not self.tokens:
            return {}
        return {
            "ess": self.ratios**2 / max(self.tokens * self.squares, 1e-300),
            "max_log_ratio": self.largest,
        }


def mean_staleness(groups: Sequence[Group], version: WeightVersion) -> float:
    """Mean age of the tokens of a batch, in optimiser steps."""
    ages = [version - v for g in groups for s in g.samples for v in s.versions]
    return sum(ages) / len(ages) if ages else 0.0


def most_mismatch(bound: int) -> float:
    """The mismatch to warn about at a staleness bound."""
    low, high = MOST_MISMATCH
    return low + (high - low) * max(0, bound - 1) / 7


def warnings(figures: Mapping[str, float], bound: int, *, exact: bool) -> dict[str, str]:
    """What is odd about a step's figures, in words, by kind.

    Args:
        figures: of the step.
        bound: staleness bound of the run.
        exact: sampler and trainer compute the same number but for float32 rounding.
    """
    if "ess" not in figures:
        return {}
    ess, mismatch, largest = (figures[n] for n in ("ess", "mismatch_k3", "max_log_ratio"))
    most = most_mismatch(bound)
    said: dict[str, str] = {}
    if ess < LEAST_ESS:
        said["ess"] = f"effective sample size {ess:.2f} of the importance ratios is below {LEAST_ESS}"
    if mismatch > most:
        said["mismatch"] = f"sampler and trainer differ by {mismatch:.3g} nats a token, above {most:.3g}"
    if bound == 0 and exact and largest > MOST_LOG_RATIO:
        said["log_ratio"] = f"on-policy |log ratio| reaches {largest:.3g}, above {MOST_LOG_RATIO:g}"
    return said
