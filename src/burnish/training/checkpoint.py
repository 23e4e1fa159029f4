"""Checkpoints: a fresh directory each, whose manifest comes last, then a rename. Nothing is overwritten.

    step_000120/
      hf/                float32 safetensors, config and tokenizer: plain `transformers` loads it
      adapter/           with LoRA: the adapter alone, for peft
      masters.safetensors     float32 trainable parameters, where hf/ does not hold them by name
      optimiser.safetensors   moments and step count, when the stage goes on from here
      state.json         the RunState
      pending.json       batches under way at that moment, in an asynchronous run
      manifest.json      size and SHA-256 of every file above

A directory without a manifest that matches is not a checkpoint. No pickle is written or read. Hidden names
(`.writing_*`, `.replaced_*`, `.trash_*`) are what a killed process leaves; `clear_leftovers` deals with them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from burnish.errors import RunError
from burnish.faults import fault_point
from burnish.training.retention import TRASH, Saved
from burnish.training.snapshot import Snapshot
from burnish.training.state import RunState

MANIFEST = "manifest.json"
FORMAT = 2
"""1 held the masters a second time in optimiser.safetensors; it can still be read."""
MASTERS = "masters.safetensors"
_OLD_MASTERS = "adapter_masters.safetensors"
_WRITING, _REPLACED = ".writing_", ".replaced_"

Pending = Callable[[], Sequence[Any]]
"""Gives the batches under way as JSON data; may wait for them, and raises when they will never come."""


def save_checkpoint(
    directory: Path,
    snapshot: Snapshot,
    state: RunState,
    *,
    pending: Pending | None = None,
    score: float | None = None,
) -> Path:
    """Write `directory/step_<version>`; a complete one of that moment is left as it is.

    Args:
        directory: the run's `checkpoints` folder.
        snapshot: weights, optimiser and tokenizer.
        state: where the run stands.
        pending: batches under way.
        score: what retention compares; kept in the manifest.

    Raises:
        RunError: the disk is full or cannot be written; earlier checkpoints are untouched.
    """
    target = directory / f"step_{state.version:06d}"
    if is_complete(target) and _same(read_state(target), state):
        return target
    aside = directory / f"{_WRITING}{target.name}"
    try:
        fault_point("checkpoint.start")
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        _write_files(aside, snapshot, state)
        if pending is not None:
            _write_json(aside / "pending.json", list(pending()))
        _commit(aside, target, {"stage": state.stage, "step": state.step, "score": score})
    except (OSError, SafetensorError) as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise RunError(
            f"the checkpoint {str(target)!r} cannot be written",
            got=error,
            expected="room and permission to write there",
            next_step="free some space, then continue with: burnish train --resume " + str(directory.parent),
        ) from error
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    return target


def _same(saved: RunState, state: RunState) -> bool:
    """Whether two states are of one moment; only the clock may tell them apart."""
    return replace(saved, seconds=0.0).to_json() == replace(state, seconds=0.0).to_json()


def _write_files(aside: Path, snapshot: Snapshot, state: RunState) -> None:
    hf = aside / "hf"
    snapshot.shadow.write(hf)
    fault_point("checkpoint.file")
    for name, content in snapshot.tokenizer.items():
        (hf / name).parent.mkdir(parents=True, exist_ok=True)
        (hf / name).write_bytes(content)
    if not snapshot.masters.keys() <= _names_in(hf / "model.safetensors"):
        _write_tensors(aside / MASTERS, snapshot.masters)
    if snapshot.optimiser is not None:
        _write_tensors(aside / "optimiser.safetensors", snapshot.optimiser)
    _write_json(aside / "state.json", state.to_json())


def _write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    save_file({n: t.detach().contiguous() for n, t in tensors.items()}, path)
    fault_point("checkpoint.file")


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
    fault_point("checkpoint.file")


def _names_in(path: Path) -> set[str]:
    if not path.is_file():
        return set()
    with safe_open(path, "pt") as file:
        return set(file.keys())


def _commit(aside: Path, target: Path, facts: Mapping[str, Any]) -> None:
    """Hashes, fsync, manifest, rename; from the rename on the checkpoint exists."""
    files = sorted(p for p in aside.rglob("*") if p.is_file())
    entries = {str(p.relative_to(aside)): {"size": p.stat().st_size, "sha256": _digest(p)} for p in files}
    for path in files:
        _sync(path)
    fault_point("checkpoint.before_manifest")
    manifest = aside / MANIFEST
    _write_json(manifest, {"format": FORMAT, **facts, "files": entries})
    for path in (manifest, *(p for p in aside.rglob("*") if p.is_dir()), aside):
        _sync(path)
    fault_point("checkpoint.before_rename")
    replaced = target.with_name(f"{_REPLACED}{target.name}")
    if target.exists():  # the same step saved again with the end of its stage marked
        shutil.rmtree(replaced, ignore_errors=True)
        target.rename(replaced)
        fault_point("checkpoint.between_renames")
    aside.rename(target)
    _sync(target.parent)
    fault_point("checkpoint.after_rename")
    shutil.rmtree(replaced, ignore_errors=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def clear_leftovers(directory: Path) -> list[str]:
    """Remove what a killed process left half done; returns the names.

    A checkpoint that was being replaced comes back if the new one had not taken its place yet.

    Raises:
        RunError: the folder cannot be written.
    """
    found = [p for prefix in (_WRITING, _REPLACED, TRASH) for p in directory.glob(f"{prefix}*")]
    try:
        for path in found:
            target = path.with_name(path.name.removeprefix(_REPLACED))
            if path.name.startswith(_REPLACED) and not target.exists():
                path.rename(target)
            else:
                shutil.rmtree(path)
    except OSError as error:
        raise _cannot_tidy(directory, error) from error
    return [p.name for p in found]


def set_aside(path: Path) -> Path:
    """Rename a damaged checkpoint to `damaged_step_...`, so that nobody takes it for the newest.

    Raises:
        RunError: the folder cannot be written.
    """
    number, target = 1, path.with_name(f"damaged_{path.name}")
    while target.exists():
        number += 1
        target = path.with_name(f"damaged_{path.name}-{number}")
    try:
        path.rename(target)
    except OSError as error:
        raise _cannot_tidy(path.parent, error) from error
    return target


def _cannot_tidy(directory: Path, error: OSError) -> RunError:
    return RunError(
        f"the folder {str(directory)!r} cannot be written",
        got=error,
        expected="permission to write there",
        next_step="make it writable, or copy the run to a disk that is; nothing has been changed",
    )


def damage(path: Path, *, hashes: bool = True) -> str | None:
    """What is wrong with a checkpoint, in words; None when it is whole.

    Args:
        path: its folder.
        hashes: read every byte; without, only sizes are compared.

    Raises:
        RunError: it was written by a newer version.
    """
    try:
        for name, entry in _manifest(path)["files"].items():
            size = (path / name).stat().st_size
            if size != entry["size"]:
                return f"{name} has {size} bytes instead of {entry['size']}"
            if hashes and _digest(path / name) != entry["sha256"]:
                return f"the content of {name} is not what was written"
    except FileNotFoundError as error:
        return f"{Path(error.filename).name} is missing"
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"{MANIFEST} cannot be read ({type(error).__name__})"
    return None


def _manifest(path: Path) -> dict[str, Any]:
    manifest = json.loads((path / MANIFEST).read_text(encoding="utf-8"))
    if int(manifest["format"]) > FORMAT:
        raise RunError(
            f"the checkpoint {str(path)!r} was written by a newer version of burnish",
            got=f"format {manifest['format']}",
            expected=f"format {FORMAT} or older",
            next_step="upgrade burnish; nothing has been changed",
        )
    return manifest


def is_complete(path: Path, *, hashes: bool = False) -> bool:
    """Whether the manifest is there and matches the files; `hashes` also reads every byte."""
    return damage(path, hashes=hashes) is None


def checkpoint_paths(directory: Path) -> list[Path]:
    """Folders `step_<version>`, the newest first."""
    numbered = [(p.name.removeprefix("step_"), p) for p in directory.glob("step_*")]
    return [p for _, p in sorted(((int(n), p) for n, p in numbered if n.isdigit()), reverse=True)]


def newest_checkpoint(
    directory: Path, *, hashes: bool = True, on_damaged: Callable[[Path, str], None] | None = None
) -> Path | None:
    """The checkpoint with the most steps that verifies; `on_damaged` hears of those passed over.

    Raises:
        RunError: one was written by a newer version.
    """
    for path in checkpoint_paths(directory):
        wrong = damage(path, hashes=hashes)
        if wrong is None:
            return path
        if on_damaged is not None:
            on_damaged(path, wrong)
    return None


def saved_checkpoints(directory: Path) -> list[Saved]:
    """The complete checkpoints of a run with what retention needs to know, the newest first."""
    return [_saved(path) for path in checkpoint_paths(directory) if is_complete(path)]


def _saved(path: Path) -> Saved:
    state = read_state(path)
    value = _manifest(path).get("score")
    score = None if value is None else float(value)
    return Saved(path, state.version, state.stage, state.step, state.finished, score)


def read_state(path: Path) -> RunState:
    """The state saved in a checkpoint.

    Raises:
        RunError: it was written by a newer version, or cannot be read.
    """
    try:
        _manifest(path)
        return RunState.from_json(_read_json(path / "state.json"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError(
            f"the checkpoint {str(path)!r} cannot be read", got=error, expected="state.json and manifest.json"
        ) from error


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def read_pending(path: Path) -> list[Any]:
    """Batches that were under way when the checkpoint was taken; empty in a synchronous run."""
    file = path / "pending.json"
    return _read_json(file) if file.is_file() else []


def read_optimiser(path: Path) -> dict[str, Tensor] | None:
    """Tensors for `MasterOptimiser.restore`, or None when the checkpoint ends a stage."""
    file = path / "optimiser.safetensors"
    if not file.is_file():
        return None
    moments = load_file(file)
    if any(name.startswith("master/") for name in moments):
        return moments
    return {**moments, **{f"master/{n}": t for n, t in read_masters(path).items()}}


def read_masters(path: Path) -> dict[str, Tensor]:
    """Float32 values of the trainable parameters by name: the adapter's if there is one."""
    own = [file for name in (MASTERS, _OLD_MASTERS) if (file := path / name).is_file()]
    return load_file(own[0] if own else path / "hf" / "model.safetensors")
