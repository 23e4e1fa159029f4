"""Estimators of KL(pi || ref) per token, from l = log pi - log ref at the sampled token.

As a value under samples of pi, k1 and k3 are unbiased and k2 is not. As a loss under samples of pi, the
expected gradient of k2 is that of KL(pi || ref), of k1 it is 0, and of k3 it is that of KL(ref || pi)
(2510.01555). Under samples of another policy mu, weight k2 by the stopped ratio pi/mu.
"""

from __future__ import annotations

import torch
from torch import Tensor


def k1(logprobs: Tensor, reference: Tensor) -> Tensor:
    """The log-ratio l, in nats."""
    return logprobs - reference


def k2(logprobs: Tensor, reference: Tensor) -> Tensor:
    """l^2 / 2."""
    return 0.5 * (logprobs - reference).square()


def k3(logprobs: Tensor, reference: Tensor) -> Tensor:
    """e^-l - 1 + l, never negative; accurate near l = 0."""
    gap = logprobs - reference
    return torch.expm1(-gap) + gap


def mismatch_k3(logprobs: Tensor, behaviour: Tensor) -> Tensor:
    """Estimate of KL(mu || pi) for tokens drawn from mu: r - 1 - log r with r = pi/mu."""
    return k3(behaviour, logprobs)


ESTIMATORS = {"k1": k1, "k2": k2, "k3": k3}
"""By the name that `kl_estimator` gives them."""
