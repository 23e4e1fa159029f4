"""What a run would cost, from the speed and the lengths that a probe measured."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunShape:
    """The size of the run that a cost is wanted for."""

    steps: int = 100
    prompts_per_step: int = 16
    samples: int = 8
    """Completions per prompt: the size of a group."""
    update_tokens_per_second: float | None = None
    """Measured speed of the update over prompt and completion tokens; None leaves its time out."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Work and time of a run; a time is None where there is no measured speed behind it."""

    groups_per_step: int
    completion_tokens_per_step: float
    update_tokens_per_step: float
    """Tokens of the forward and backward pass, each prompt counted once for its group."""
    tokens_per_second: float | None
    """Completion tokens generated per second in the probe, prefill included."""
    rollout_seconds_per_step: float | None
    update_seconds_per_step: float | None
    rollout_hours: float | None
    total_hours: float | None
    """Generation and update; grading, evaluation and start-up are not in it."""

    def to_dict(self) -> dict[str, float | None]:
        """Plain values, for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def _per(amount: float, speed: float | None) -> float | None:
    return amount / speed if speed else None


def _hours(seconds_per_step: float | None, steps: int) -> float | None:
    return None if seconds_per_step is None else steps * seconds_per_step / 3600


def estimate(
    shape: RunShape, prompt_length: float, completion_length: float, tokens_per_second: float | None
) -> Cost:
    """The cost of a run whose prompts and completions have these mean lengths in tokens."""
    if math.isnan(prompt_length) or math.isnan(completion_length):
        prompt_length = completion_length = 0.0
    completions = shape.prompts_per_step * shape.samples * completion_length
    update = completions + shape.prompts_per_step * prompt_length
    rollout_seconds = _per(completions, tokens_per_second)
    update_seconds = _per(update, shape.update_tokens_per_second)
    total = None if rollout_seconds is None or update_seconds is None else rollout_seconds + update_seconds
    return Cost(
        groups_per_step=shape.prompts_per_step,
        completion_tokens_per_step=completions,
        update_tokens_per_step=update,
        tokens_per_second=tokens_per_second,
        rollout_seconds_per_step=rollout_seconds,
        update_seconds_per_step=update_seconds,
        rollout_hours=_hours(rollout_seconds, shape.steps),
        total_hours=_hours(total, shape.steps),
    )
