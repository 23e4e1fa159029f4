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
    task_workers: int = Field(default=1, ge=0)
    """Processes that make tasks ahead of the loop; 0 makes them in the training process."""
