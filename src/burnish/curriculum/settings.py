"""The `[curriculum]` table of a recipe."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class CurriculumSettings(BaseModel):
    """How training prompts are spread over domains."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)

    mixture: Literal["stratified"] = "stratified"
    """Policy: `stratified` draws every domain in turn, in proportion to its weight."""
    weights: dict[str, float] = Field(default_factory=dict)
    """Weight by domain name or pattern (`reasoning-gym/games/*`), 1 where nothing matches; of several
    matches the last counts; 0 leaves a domain out."""
