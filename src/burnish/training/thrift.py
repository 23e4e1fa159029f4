"""An update that runs out of memory is done again in smaller pieces: the same gradient, more slowly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch

from burnish.errors import TrainingError

T = TypeVar("T")

_SIGNS = ("not enough memory", "can't allocate memory", "out of memory", "failed to allocate")
_LEAST_BUDGET = 16


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory could not be had; the CPU allocator has no type of its own for it."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _SIGNS)


def with_less_memory(
    work: Callable[[int], T], budget: int, forget: Callable[[], None], say: Callable[[str], None]
) -> T:
    """The result of `work(budget)`; when memory runs out, that of half the budget, and so on.

    Args:
        work: computes gradients with at most so many tokens at a time.
        budget: tokens to begin with; later calls begin with it again.
        forget: undoes what `work` had done so far.
        say: hears of every retry.

    Raises:
        TrainingError: a handful of tokens at a time is still too much.
    """
    while True:
        try:
            return work(budget)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if budget // 2 < _LEAST_BUDGET:
                raise _hopeless(error, budget) from error
        forget()
        say(f"out of memory with {budget} tokens in one pass; the update is done again with {budget // 2}")
        budget //= 2


def _hopeless(error: BaseException, budget: int) -> TrainingError:
    return TrainingError(
        "there is not enough memory for an update; the weights before this step are kept",
        got=f"{type(error).__name__} with {budget} tokens in one pass",
        expected="memory for one prompt with its completions",
        next_step="free memory, lower rollout.max_tokens or rollout.samples, or train an adapter "
        "(model.lora_rank); then resume",
    )
