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
