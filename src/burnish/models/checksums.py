"""Exact checksums of weights, cheap enough for every step: one pass over the bits of each tensor."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

_WORD = 8


@torch.no_grad()
def checksum(tensor: Tensor) -> str:
    """Type, shape and the sum of the tensor's bits as 64-bit integers modulo 2^64.

    Any single changed bit changes it, and so does a change of type.
    """
    raw = tensor.detach().reshape(-1).contiguous().view(torch.uint8)
    whole = len(raw) // _WORD * _WORD
    total = int(raw[whole:].long().sum())
    if raw.data_ptr() % _WORD:
        raw = raw.clone()
    total += int(raw[:whole].view(torch.int64).sum())
    kind = str(tensor.dtype).removeprefix("torch.")
    return f"{kind} {list(tensor.shape)} {total % 2**64:016x}"


def checksums(tensors: Mapping[str, Tensor]) -> dict[str, str]:
    """Checksum of each tensor, by name."""
    return {name: checksum(tensor) for name, tensor in tensors.items()}
