"""What the [rollout] table of a recipe may say."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class RolloutSettings(BaseModel):
    """How completions are drawn during reinforcement learning."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)

    samples: int = Field(default=8, ge=1)
    """Completions drawn for each prompt: the size of a group."""
    temperature: float = Field(default=1.0, gt=0)
    """Softmax temperature of the draws."""
    max_tokens: int = Field(default=24, ge=1)
    """Longest completion, in tokens, the end-of-sequence token included; evaluation uses it too."""
    batch_rows: int = Field(default=128, ge=1)
    """Completions decoded together; memory of the key-value cache grows with it."""
    grading_workers: int = Field(default=1, ge=1)
    """Threads that grade completions, for graders that wait for something; 1 grades one after another."""
    grading_seconds: float = Field(default=60.0, gt=0)
    """Longest time for the verdict on one completion; past it the grader has faulted, never scored zero."""
    staleness: int = Field(default=0, ge=0, le=8)
    """Most optimiser steps between the weights that draw a completion and those that learn from it. 0 draws
    every step with the weights of that step; 1 or more lets workers draw ahead while the update computes."""
    partial: bool = False
    """Draw each completion in staleness + 1 parts, each with the newest weights of its time."""
    workers: int = Field(default=0, ge=0)
    """Processes that draw completions, each with its own copy of the model; 0 draws in the training process.
    The same bits come out whatever their number."""
    worker_threads: int = Field(default=0, ge=0)
    """Arithmetic threads of the drawing of one unit, also without workers; 0 = as many as training has."""
    unit_prompts: int = Field(default=0, ge=0)
    """Prompts in the unit of work that one worker draws at a time; 0 = all prompts of a step in one unit."""
    lease_seconds: float = Field(default=600.0, gt=0)
    """A worker that keeps a unit longer than this is replaced, and the unit is drawn again."""
    task_workers: int = Field(default=1, ge=0)
    """Processes that make tasks ahead of the loop; 0 makes them in the training process."""
