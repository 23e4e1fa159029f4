"""A consistent copy of weights and optimiser, taken between two steps, that can be written at leisure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor

from burnish.models.export import Shadow
from burnish.models.policy import Policy


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a checkpoint holds of the model; nothing of it changes while it is written."""

    shadow: Shadow
    """The model around `masters`."""
    masters: Mapping[str, Tensor]
    """Float32 value of every trainable parameter."""
    optimiser: Mapping[str, Tensor] | None
    """Moments and step count, or None at the end of a stage."""
    tokenizer: Mapping[str, bytes]
    """Files of the tokenizer."""


class Snapshots:
    """Takes snapshots; its buffers are kept, because touching new memory costs far more than copying."""

    def __init__(self, policy: Policy) -> None:
        """Allocate nothing yet."""
        self._policy = policy
        self._tokenizer = tokenizer_files(policy)
        self._buffers: dict[str, Tensor] = {}
        self._shadow: Shadow | None = None

    def prepare(self, masters: Mapping[str, Tensor], optimiser: Mapping[str, Tensor]) -> None:
        """Allocate and touch the buffers that `copy` needs; may run beside training."""
        for name, tensor in _named(masters, optimiser).items():
            if name not in self._buffers:
                self._buffers[name] = torch.empty_like(tensor).zero_()

    @torch.no_grad()
    def copy(self, masters: Mapping[str, Tensor], optimiser: Mapping[str, Tensor]) -> Snapshot:
        """A copy of this moment; the one taken before it becomes invalid."""
        self.prepare(masters, optimiser)
        named = _named(masters, optimiser)
        for name, tensor in named.items():
            self._buffers[name].copy_(tensor)
        kept = {n: self._buffers[f"master/{n}"] for n in masters}
        if self._shadow is None:
            self._shadow = Shadow(self._policy, kept)
        moments = {n: self._buffers[n] for n in optimiser if not n.startswith("master/")}
        return Snapshot(self._shadow, kept, moments, self._tokenizer)

    def view(self, masters: Mapping[str, Tensor], optimiser: Mapping[str, Tensor] | None) -> Snapshot:
        """The tensors themselves: for a caller that changes nothing until they are written."""
        moments = {n: t for n, t in (optimiser or {}).items() if not n.startswith("master/")}
        shadow = Shadow(self._policy, masters)
        return Snapshot(shadow, masters, None if optimiser is None else moments, self._tokenizer)


def _named(masters: Mapping[str, Tensor], optimiser: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Every tensor once: the optimiser's own masters are those of the run."""
    return {**{f"master/{n}": t for n, t in masters.items()}, **optimiser}


def tokenizer_files(policy: Policy) -> dict[str, bytes]:
    """What the tokenizer saves, by file name; read once, so that no other thread has to touch it."""
    with TemporaryDirectory(prefix="burnish-") as folder:
        policy.tokenizer.save_pretrained(folder)
        files = sorted(p for p in Path(folder).rglob("*") if p.is_file())
        return {str(p.relative_to(folder)): p.read_bytes() for p in files}
