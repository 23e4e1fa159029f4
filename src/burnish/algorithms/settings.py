"""The `[algorithm]` table of a recipe."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class AlgorithmSettings(BaseModel):
    """How rewards become a policy update."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)

    name: Literal["dppo", "grpo", "rloo"] = "dppo"
    """Preset: `dppo` (default), `grpo` or `rloo`."""
    trust_region: float = Field(default=0.2, gt=0, le=1)
    """dppo: a token leaves the loss once its probability moved this far in the direction of its update."""
    ratio_cap: float = Field(default=20.0, ge=1)
    """dppo, rloo: largest importance weight policy/sampler of a token."""
    std_floor: float = Field(default=0.1, gt=0)
    """dppo: advantages are divided by the domain's running reward std, or by this if it is smaller."""
    std_decay: float = Field(default=0.9, ge=0, lt=1)
    """dppo: what remains of a domain's old rewards in its running std after each new group of that domain."""
    advantage_clip: float = Field(default=5.0, gt=0)
    """dppo: largest absolute advantage."""
    kl_coef: float = Field(default=1e-3, ge=0)
    """Strength of the pull towards the frozen reference; 0 needs no reference."""
    behaviour_coef: float = Field(default=1e-3, ge=0)
    """dppo: strength of the pull towards the sampler, the square of log(policy/sampler)."""
    clip_low: float = Field(default=0.2, gt=0, le=1)
    """grpo: the ratio policy/sampler is clipped below at 1 - clip_low."""
    clip_high: float = Field(default=0.28, gt=0)
    """grpo: the ratio policy/sampler is clipped above at 1 + clip_high."""
