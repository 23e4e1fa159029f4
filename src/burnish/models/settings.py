"""What the [model] table of a recipe may say."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator


class ModelSettings(BaseModel):
    """The model to start from and how its weights are trained."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)

    name: str = Field(default="tiny", min_length=1)
    """`tiny`, `package:NAME` (a GGUF file in an installed package), a directory, or a hub id."""
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """Arithmetic; master weights are always float32. `auto` is bfloat16 where the processor has it."""
    gradient_checkpointing: bool = False
    """Keep only the input of each layer for the backward pass and compute the rest again: about a third more
    time for an update, far less memory; gradients keep every bit."""

    lora_rank: int = Field(default=0, ge=0)
    """Rank of the LoRA adapter; 0 trains every weight."""
    lora_alpha: float = Field(default=32.0, gt=0)
    """Scale of the adapter; its update is multiplied by lora_alpha / lora_rank."""
    lora_target: str | tuple[str, ...] = "all-linear"
    """Modules that get an adapter: `all-linear`, or a list of names such as ["q_proj", "v_proj"]."""

    tiny_layers: int = Field(default=4, ge=1)
    """Layers of the `tiny` model."""
    tiny_hidden: int = Field(default=192, ge=8)
    """Width of the `tiny` model; a multiple of twice tiny_heads."""
    tiny_heads: int = Field(default=4, ge=1)
    """Attention heads of the `tiny` model."""
    tiny_intermediate: int = Field(default=512, ge=8)
    """Width of the feed-forward layers of the `tiny` model."""
    tiny_context: int = Field(default=512, ge=16)
    """Longest sequence of the `tiny` model, in tokens."""

    @model_validator(mode="after")
    def _heads_divide_width(self) -> ModelSettings:
        if self.tiny_hidden % (2 * self.tiny_heads):
            raise ValueError(
                f"tiny_hidden = {self.tiny_hidden} must be a multiple of twice tiny_heads = {self.tiny_heads}"
            )
        return self
