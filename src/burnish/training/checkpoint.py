"""Checkpoints: a fresh directory each, whose manifest comes last, then a rename. Nothing is overwritten.

    step_000120/
      hf/                float32 safetensors, config and tokenizer: plain `transformers` loads it
      adapter/           with LoRA: the adapter alone, for peft
      state.json         the RunState
      optimiser.safetensors   masters and moments, when the stage goes on from here
      manifest.json      size and SHA-256 of every file above

A directory without a manifest that matches is not a checkpoint. No pickle is written or read.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor

from burnish.errors import RunError
from burnish.models.export import save_pretrained
from burnish.models.policy import Policy
from burnish.training.state import RunState

MANIFEST = "manifest.json"
FORMAT = 1
ADAPTER_MASTERS = "adapter_masters.safetensors"


def save_checkpoint(
    directory: Path,
    policy: Policy,
    masters: Mapping[str, Tensor],
    state: RunState,
    optimiser: Mapping[str, Tensor] | None,
) -> Path:
    """Write `directory/step_<version>`; an existing complete one of that version is left as it is.

    Args:
        directory: the run's `checkpoints` folder.
        policy: model and tokenizer.
        masters: float32 value of every trainable parameter.
        state: where the run stands.
        optimiser: its tensors, or None at the end of a stage.

    Raises:
        RunError: the disk is full or cannot be written; earlier checkpoints are untouched.
    """
    target = directory / f"step_{state.version:06d}"
    if target.exists() and is_complete(target) and read_state(target) == state:
        return target
    aside = directory / f".writing_{target.name}_{os.getpid()}"
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        save_pretrained(policy, masters, aside / "hf")
        if policy.model is not policy.causal:
            save_file({n: t.detach().contiguous() for n, t in masters.items()}, aside / ADAPTER_MASTERS)
        if optimiser is not None:
            tensors = {n: t.detach().contiguous() for n, t in optimiser.items()}
            save_file(tensors, aside / "optimiser.safetensors")
        (aside / "state.json").write_text(json.dumps(state.to_json(), indent=1))
        _commit(aside, target)
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise RunError(
            f"the checkpoint {str(target)!r} cannot be written",
            got=error,
            expected="room and permission to write there",
            next_step="free some space, then continue with: burnish train --resume " + str(directory.parent),
        ) from error
    return target


def _commit(aside: Path, target: Path) -> None:
    files = sorted(p for p in aside.rglob("*") if p.is_file())
    entries = {str(p.relative_to(aside)): {"size": p.stat().st_size, "sha256": _digest(p)} for p in files}
    manifest = aside / MANIFEST
    manifest.write_text(json.dumps({"format": FORMAT, "files": entries}, indent=1))
    for path in (*files, manifest):
        _sync(path)
    if target.exists():  # the same step saved again with the end of its stage marked, or a damaged one
        shutil.rmtree(target)
    aside.rename(target)
    _sync(target.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_complete(path: Path, *, hashes: bool = False) -> bool:
    """Whether the manifest is there and matches the files; `hashes` also reads every byte."""
    try:
        manifest = json.loads((path / MANIFEST).read_text())
        files = manifest["files"]
        sizes = all((path / name).stat().st_size == entry["size"] for name, entry in files.items())
        return sizes and (
            not hashes or all(_digest(path / name) == entry["sha256"] for name, entry in files.items())
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def newest_checkpoint(directory: Path, *, hashes: bool = True) -> Path | None:
    """The checkpoint with the most steps that verifies; damaged ones are passed over."""
    for path in sorted(directory.glob("step_*"), reverse=True):
        if is_complete(path, hashes=hashes):
            return path
    return None


def read_state(path: Path) -> RunState:
    """The state saved in a checkpoint.

    Raises:
        RunError: it was written by a newer version, or cannot be read.
    """
    try:
        manifest = json.loads((path / MANIFEST).read_text())
        if manifest["format"] > FORMAT:
            raise RunError(
                f"the checkpoint {str(path)!r} was written by a newer version of burnish",
                got=f"format {manifest['format']}",
                expected=f"format {FORMAT} or older",
                next_step="upgrade burnish",
            )
        return RunState.from_json(json.loads((path / "state.json").read_text()))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(
            f"the checkpoint {str(path)!r} cannot be read", got=error, expected="state.json and manifest.json"
        ) from error


def read_optimiser(path: Path) -> dict[str, Tensor] | None:
    """Tensors of the optimiser, or None when the checkpoint ends a stage."""
    file = path / "optimiser.safetensors"
    return load_file(file) if file.is_file() else None


def read_masters(path: Path) -> dict[str, Tensor]:
    """Float32 values of the trainable parameters by name: the adapter's if there is one."""
    adapter = path / ADAPTER_MASTERS
    return load_file(adapter if adapter.is_file() else path / "hf" / "model.safetensors")


def prune(directory: Path, keep: int, stage_ends: set[str]) -> None:
    """Delete all but the newest `keep` checkpoints that do not end a stage."""
    passing = [p for p in sorted(directory.glob("step_*")) if p.name not in stage_ends]
    for path in passing[: max(0, len(passing) - keep)]:
        shutil.rmtree(path, ignore_errors=True)
