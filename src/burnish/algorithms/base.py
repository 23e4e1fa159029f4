"""What an algorithm takes and gives: rewards to advantages, token log-probs to token losses.

Shapes: G groups, N samples a group, T completion tokens of S samples, flattened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from burnish.algorithms.controls import AT_REST, Controls
from burnish.algorithms.scales import DomainScales
from burnish.errors import DomainError


@dataclass(frozen=True)
class RewardBatch:
    """The rewards of one training step.

    Raises:
        ValueError: shapes or dtypes do not fit.
        DomainError: a scored reward is not finite.
    """

    rewards: Tensor
    """[G, N] floating point; anything where `valid` is false."""
    valid: Tensor
    """[G, N] bool: the verdict was `Scored`."""
    domains: tuple[str, ...]
    """Domain of each group."""
    lengths: Tensor | None = None
    """[G, N] int64, completion tokens; what weighs by length or penalises it needs them."""
    cut: Tensor | None = None
    """[G, N] bool: the completion reached the most tokens allowed before it ended."""
    greedy: bool = False
    """The last sample of each group was drawn greedily: a baseline, not a sample of the policy."""

    def __post_init__(self):
        expect_shape("rewards", self.rewards, (len(self.domains), -1))
        for name, tensor in (("valid", self.valid), ("lengths", self.lengths), ("cut", self.cut)):
            if tensor is not None:
                expect_shape(name, tensor, tuple(self.rewards.shape))
        expect_floating("rewards", self.rewards)
        expect_bool("valid", self.valid)
        self._expect_finite()

    def _expect_finite(self):
        bad = self.valid & ~torch.isfinite(self.rewards)
        if not bad.any():
            return
        group, sample = (int(i) for i in bad.nonzero()[0])
        raise DomainError(
            f"a reward of domain {self.domains[group]!r} is not a finite number",
            got=f"{float(self.rewards[group, sample])} for sample {sample} of group {group}",
            expected="a finite value, normally in [0, 1]",
            next_step="make the domain's grader return a number, or Abstained when it cannot tell",
        )


@dataclass(frozen=True)
class TokenBatch:
    """Completion tokens of a micro-batch, sample after sample; [T] and of one floating dtype, where not said.

    Raises:
        ValueError: shapes or dtypes do not fit.
    """

    logprobs: Tensor
    """Natural log-probs under the current policy (pi); carries gradient."""
    behaviour: Tensor
    """Log-probs under the distribution that drew the tokens (mu)."""
    reference: Tensor | None
    """Log-probs under the frozen reference, or None without KL."""
    advantages: Tensor
    """Advantage of each token, detached."""
    lengths: Tensor | None = None
    """[S] int64, tokens of each sample; ratios of whole samples and sums along them need it."""
    domains: tuple[str, ...] = ()
    """Domain of each sample; needed where they have algorithms of their own."""
    entropy: Tensor | None = None
    """Entropy in nats of the distribution that each token was drawn from under pi; carries gradient."""
    controls: Controls = AT_REST
    """Where the controllers of the coefficients stand."""

    def __post_init__(self):
        expect_floating("logprobs", self.logprobs)
        expect_shape("logprobs", self.logprobs, (-1,))
        others = {
            "behaviour": self.behaviour, "reference": self.reference, "advantages": self.advantages,
            "entropy": self.entropy,
        }  # fmt: skip
        for name, tensor in others.items():
            if tensor is not None:
                expect_shape(name, tensor, tuple(self.logprobs.shape))
                expect_dtype(name, tensor, self.logprobs.dtype)
        if self.lengths is not None and int(self.lengths.sum()) != len(self.logprobs):
            total, count = int(self.lengths.sum()), len(self.lengths)
            raise ValueError(
                f"lengths of {count} samples sum to {total}, expected {len(self.logprobs)} tokens"
            )

    @property
    def bounds(self) -> Tensor:
        """`lengths`, or ValueError where the caller left them out."""
        if self.lengths is None:
            raise ValueError(f"a batch of {len(self.logprobs)} tokens has no lengths, which this loss needs")
        return self.lengths


@dataclass(frozen=True)
class TokenLoss:
    """Loss of each token, to be weighted by `Algorithm.weights` and summed."""

    loss: Tensor
    """[T], carries gradient."""
    metrics: Mapping[str, Tensor]
    """Each [T] and detached: `clipped` (0 or 1), `ratio`, `mismatch_k3`, and `kl` with a reference."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What an algorithm asks of those who call it."""

    reference: bool = False
    """Log-probs of a reference policy."""
    entropy: bool = False
    """Entropy of every token's distribution."""
    greedy: bool = False
    """One greedy completion a group, after its samples."""
    critic: bool = False
    """A critic that turns rewards of samples into advantages of tokens."""


class Algorithm(Protocol):
    """One way to turn rewards into an update; stateless, all state is `DomainScales` and `Controls`."""

    @property
    def name(self) -> str:
        """Name of the preset."""
        ...

    @property
    def needs(self) -> Needs:
        """What it asks for."""
        ...

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Advantages [G, N], 0 where not active, and the new scales."""
        ...

    def active(self, batch: RewardBatch) -> Tensor:
        """[G, N] bool: the sample takes part in the loss, because its group has signal."""
        ...

    def token_loss(self, batch: TokenBatch) -> TokenLoss:
        """Loss and metrics of each token, before aggregation."""
        ...

    def weights(self, lengths: Tensor, active: Tensor, domains: Sequence[str] = ()) -> Tensor:
        """Weight of each token of a sample in the step's loss, [G, N] float32.

        The loss of the step is the sum over tokens of weight times token loss. Denominators cover the whole
        step, so micro-batches may be cut anywhere.

        Args:
            lengths: [G, N] completion tokens.
            active: [G, N] bool, from `active`.
            domains: of each group; needed where they have algorithms of their own.
        """
        ...


class Preset(Protocol):
    """The part of an algorithm that is its own: a short file. `Objective` adds what all presets share."""

    @property
    def name(self) -> str:
        """Its name in the catalogue."""
        ...

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Advantages [G, N], 0 where not active, and the new scales."""
        ...

    def active(self, batch: RewardBatch) -> Tensor:
        """[G, N] bool: which samples take part in the loss."""
        ...

    def surrogate(self, batch: TokenBatch) -> tuple[Tensor, Tensor]:
        """Loss of each token without pulls, and where it was clipped: [T] with gradient, [T] bool."""
        ...

    def weights(self, lengths: Tensor, active: Tensor) -> Tensor:
        """Weight of each token of a sample in the step's loss, [G, N] float32."""
        ...


def expect_shape(name: str, tensor: Tensor, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless the shape fits; -1 stands for any size."""
    got = tuple(tensor.shape)
    if len(got) != len(shape) or any(want not in (-1, have) for want, have in zip(shape, got, strict=True)):
        want = ", ".join("any" if size == -1 else str(size) for size in shape)
        raise ValueError(f"{name} has shape {list(got)}, expected [{want}]")


def expect_dtype(name: str, tensor: Tensor, dtype: torch.dtype) -> None:
    """Raise ValueError unless the dtype is exactly `dtype`."""
    if tensor.dtype != dtype:
        raise ValueError(f"{name} has dtype {tensor.dtype} and shape {list(tensor.shape)}, expected {dtype}")


def expect_bool(name: str, tensor: Tensor) -> None:
    """Raise ValueError unless the tensor is boolean."""
    expect_dtype(name, tensor, torch.bool)


def expect_floating(name: str, tensor: Tensor) -> None:
    """Raise ValueError unless the tensor is float32 or float64; log-ratios need that precision."""
    if tensor.dtype not in (torch.float32, torch.float64):
        shape = list(tensor.shape)
        raise ValueError(f"{name} has dtype {tensor.dtype} and shape {shape}, expected float32 or float64")
