"""Models read from GGUF files, kept as safetensors: the first reading takes half a minute, others a second.

A folder of the cache is named by the hash of the file and the versions of the programs that read it, and
appears by a rename when it is whole. `BURNISH_CACHE` moves the cache; it can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from transformers import PreTrainedModel, PreTrainedTokenizerBase

Loaded = tuple[PreTrainedModel, PreTrainedTokenizerBase]

VARIABLE = "BURNISH_CACHE"
_READERS = ("transformers", "gguf", "tokenizers")
_FREE_BYTES = 4 << 30
"""Disk space that must be left for the cache to grow."""


def cache_folder() -> Path:
    """Where converted models are kept."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "burnish"


def load_converted(path: Path, read: Callable[[Path], Loaded], load: Callable[[Path], Loaded]) -> Loaded:
    """The model of a file: from the cache, else read, and then kept if there is room.

    Args:
        path: the file.
        read: reads the file.
        load: loads a folder that `save_pretrained` wrote.
    """
    folder = cache_folder() / "models" / _name(path)
    if folder.is_dir():
        try:
            model, tokenizer = load(folder)
            model.config._name_or_path = ""  # where the cache lies says nothing about the model
            return model, tokenizer
        except Exception:  # damaged: read the file again, and put the folder right
            shutil.rmtree(folder, ignore_errors=True)
    loaded = read(path)
    with contextlib.suppress(OSError):  # no home, no rights, no room: the next run reads the file again
        _keep(loaded, folder)
    return loaded


def _name(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    digest.update(repr([(name, version(name)) for name in _READERS]).encode())
    return f"{path.stem}-{digest.hexdigest()[:24]}"


def _keep(loaded: Loaded, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(folder.parent).free < _FREE_BYTES:
        return
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".partial-") as aside:
        whole = Path(aside) / "model"
        for part in loaded:
            part.save_pretrained(whole)
        whole.rename(folder)
