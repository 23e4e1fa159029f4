"""Which arithmetic this processor is fast at."""

from __future__ import annotations

import torch


def has_fast_bfloat16() -> bool:
    """Whether matrix products run in bfloat16 hardware (AVX-512 BF16, AMX, or a recent accelerator)."""
    if torch.cuda.is_available():
        return torch.cuda.is_bf16_supported()
    capability = torch.cpu.get_capabilities()
    return bool(capability.get("avx512_bf16") or capability.get("amx_bf16"))


def arithmetic_type(name: str) -> torch.dtype:
    """The type for `auto`, `float32` or `bfloat16`; `auto` takes bfloat16 where it is fast."""
    if name == "auto":
        return torch.bfloat16 if has_fast_bfloat16() else torch.float32
    return {"float32": torch.float32, "bfloat16": torch.bfloat16}[name]
