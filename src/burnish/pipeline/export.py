"""Copy the trained model out of a run."""

from __future__ import annotations

import shutil
from pathlib import Path

from burnish.errors import RunError
from burnish.store.rundir import RunDir
from burnish.training.checkpoint import is_complete, read_state


def export(run_dir: Path, dest: Path, stage: str | None = None) -> Path:
    """Copy a checkpoint's model to a new folder, loadable by plain `transformers`.

    Args:
        run_dir: the run.
        dest: folder to create; never overwritten.
        stage: take the end of this stage (`sft`, `rl`); the newest checkpoint by default.

    Raises:
        RunError: there is no such checkpoint, or `dest` is taken or cannot be written.
    """
    folder = RunDir.open(run_dir)
    source = _checkpoint(folder, stage)
    if dest.exists() and (not dest.is_dir() or any(dest.iterdir())):
        raise RunError(
            f"{str(dest)!r} already exists",
            expected="a new or empty folder",
            next_step="choose another destination",
        )
    try:
        shutil.copytree(source / "hf", dest, dirs_exist_ok=True)
    except OSError as error:
        raise RunError(
            f"the model cannot be copied to {str(dest)!r}",
            got=error,
            expected="a folder that can be written, with room",
            next_step="choose another destination",
        ) from error
    return dest


def _checkpoint(folder: RunDir, stage: str | None) -> Path:
    found = [p for p in reversed(folder.checkpoint_paths()) if is_complete(p, hashes=True)]
    states = {p: read_state(p) for p in found}
    chosen = [p for p, s in states.items() if stage is None or (s.stage == stage and s.finished)]
    if chosen:
        return chosen[0]
    raise RunError(
        f"the run {str(folder.path)!r} has no checkpoint"
        + (f" that ends the stage {stage!r}" if stage else ""),
        got=[f"{p.name} ({s.stage})" for p, s in states.items()] or "no complete checkpoint",
        next_step="let the run finish: burnish train --resume " + str(folder.path),
    )
