"""How an evaluation is sized and seeded, and the functions that callers hand to this room."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from burnish.domains.base import Domain
from burnish.errors import RecipeError
from burnish.records import Sample, Split, Task, Verdict

Encode = Callable[[Task], tuple[int, ...]]
"""The prompt of a task as token ids."""
Judge = Callable[[Domain, Task, Sample], Verdict]
"""Grades one completion; what breaks inside comes back as `Faulted`."""
Fetch = Callable[[Domain, Split, int, int], Sequence[Task]]
"""(domain, split, level, count) to the first `count` tasks, or fewer where some cannot be made."""


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What to draw for each domain, and how sure the intervals should be.

    Raises:
        RecipeError: a value is out of its range.
    """

    tasks: int = 64
    """Tasks per domain; fewer when the domain has fewer."""
    samples: int = 8
    """Sampled completions per task, beside one greedy completion."""
    split: Split = Split.EVAL
    seed: int = 0
    """Seeds the tokens drawn and the resampling; two evaluations to be paired share it."""
    max_tokens: int = 24
    """Completion tokens at most."""
    temperature: float = 1.0
    """Temperature of the sampled completions."""
    confidence: float = 0.95
    """Of every interval, and 1 minus the family-wise error of the tests."""
    resamples: int = 10_000
    """Bootstrap resamples."""
    batch_requests: int = 256
    """Prompts handed to the engine at once."""

    def __post_init__(self) -> None:
        _require(self.split in list(Split), "split", self.split, " or ".join(Split))
        object.__setattr__(self, "split", Split(self.split))  # a recipe gives plain text
        for name in ("tasks", "samples", "max_tokens", "resamples", "batch_requests"):
            _require(getattr(self, name) >= 1, name, getattr(self, name), "at least 1")
        _require(self.temperature > 0, "temperature", self.temperature, "above 0 (greedy is always drawn)")
        _require(0 < self.confidence < 1, "confidence", self.confidence, "between 0 and 1, such as 0.95")

    def to_dict(self) -> dict[str, object]:
        """Plain values, for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def _require(holds: bool, name: str, got: object, expected: str) -> None:
    if not holds:
        raise RecipeError(f"evaluation setting {name!r} is out of range", got=got, expected=expected)
