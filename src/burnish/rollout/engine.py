"""The protocol of a rollout engine: token ids in, samples out, weights loaded by version."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from burnish.records import Sample, WeightVersion


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt and the samples wanted for it; the prompt is prefilled once for all of them."""

    prompt_ids: tuple[int, ...]
    temperatures: tuple[float, ...]
    """One sample is drawn per entry; 0 is greedy."""
    max_tokens: int
    """Completion tokens at most, the end-of-sequence token included."""
    stream: tuple[str | int, ...]
    """Key of the randomness, such as (seed, "rollout", step, group); the engine adds sample and position."""


class Engine(Protocol):
    """Draws completions from a policy."""

    @property
    def version(self) -> WeightVersion:
        """Version of the weights in use."""
        ...

    def generate(
        self, requests: Sequence[Request], on_done: Callable[[int], None] | None = None
    ) -> list[tuple[Sample, ...]]:
        """Samples for every request, in order; `on_done` is told how many requests have just finished.

        Raises:
            ModelError: a prompt and its completion do not fit the model's context.
        """
        ...

    def load(self, weights: Mapping[str, Tensor], version: WeightVersion) -> None:
        """Take over new weights; tensors are copied, the caller keeps its own."""
        ...

    def score(self, prompt_ids: Sequence[int], completion_ids: Sequence[int]) -> list[float]:
        """Natural-log probability of each completion token at temperature 1, by a plain forward pass."""
        ...

    def checksums(self) -> dict[str, str]:
        """Checksum of every parameter as the engine holds it, by its name in the policy's model."""
        ...


@dataclass(frozen=True, slots=True)
class Unit:
    """Groups that one engine draws in one call: what rollout workers are handed, whatever their number."""

    step: int
    """Step of the stage that the groups are for, counted from 0."""
    number: int
    """Position within the step."""
    segment: int
    """Position in the course of the completions; 0 unless they are drawn in parts."""
    version: WeightVersion
    """Weights to draw with."""
    requests: tuple[Request, ...]

    @property
    def key(self) -> tuple[int, int, int]:
        """Identity of the unit within a stage, in the order in which units are needed."""
        return self.step, self.segment, self.number


@dataclass(frozen=True, slots=True)
class Drawn:
    """What was drawn for a unit."""

    key: tuple[int, int, int]
    attempt: int
    """Counts up from 1 each time the unit was taken from a worker and given to another."""
    samples: tuple[tuple[Sample, ...], ...]
    """Of each request."""
