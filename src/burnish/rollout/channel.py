"""Weights from the trainer to workers: one safetensors file a version, in shared memory where it fits.

    burnish-weights-<process id>-xxxx/
      00000012.safetensors      trainable parameters in the model's arithmetic type

A file is complete before its name appears. Folders that a killed process left behind are removed by the
next one that opens a channel.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor

from burnish.records import WeightVersion

_MEMORY = Path("/dev/shm")  # noqa: S108 - a private folder is made inside
_PREFIX = "burnish-weights-"
_SPARE = 256 << 20
"""Bytes of shared memory left to others."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A published version."""

    version: WeightVersion
    path: Path

    def read(self) -> dict[str, Tensor]:
        """The tensors, by name."""
        return load_file(self.path)


class WeightChannel:
    """Publishes versions; keeps the newest few, because a unit that is begun again needs its old ones."""

    def __init__(self, keep: int):
        """Make nothing yet.

        Args:
            keep: newest versions whose files stay.
        """
        self._keep = keep
        self._folder: Path | None = None

    def publish(self, tensors: Mapping[str, Tensor], version: WeightVersion) -> Weights:
        """Write a version and forget those that nobody can need any more."""
        folder = self._home(sum(t.numel() * t.element_size() for t in tensors.values()))
        path = folder / f"{version:08d}.safetensors"
        writing = path.with_suffix(".writing")
        save_file({n: t.detach().contiguous() for n, t in tensors.items()}, writing)
        writing.rename(path)
        for old in sorted(folder.glob("*.safetensors"))[: -self._keep]:
            old.unlink()
        return Weights(version, path)

    def close(self) -> None:
        """Remove the files."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _home(self, size: int) -> Path:
        if self._folder is None:
            parent = _parent(size * (self._keep + 1))
            sweep(parent)
            self._folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))
        return self._folder


def _parent(need: int) -> Path:
    """Shared memory if all versions fit there, else the folder for temporary files."""
    fits = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)
    roomy = fits and shutil.disk_usage(_MEMORY).free > need + _SPARE
    return _MEMORY if roomy else Path(tempfile.gettempdir())


def sweep(parent: Path) -> None:
    """Remove the folders of processes that are gone."""
    for folder in parent.glob(f"{_PREFIX}*"):
        match = re.match(rf"{_PREFIX}(\d+)-", folder.name)
        if match and not Path(f"/proc/{match[1]}").exists() and Path("/proc/self").exists():
            shutil.rmtree(folder, ignore_errors=True)
