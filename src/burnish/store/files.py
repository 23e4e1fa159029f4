"""Whole files, written so that a reader never sees half of one."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from burnish.errors import RunError


def write_text_atomic(path: Path, text: str) -> None:
    """Write aside, fsync, rename: `path` holds the old text or the new, even after a power cut.

    Raises:
        RunError: the folder cannot be written or its disk is full.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.aside")
    try:
        with aside.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise cannot_write(path, error) from error


def write_json_atomic(path: Path, value: object) -> None:
    """`value` as JSON, atomically; NaN and infinities become null, because JSON has neither.

    Raises:
        RunError: the folder cannot be written or its disk is full.
        TypeError: something in `value` has no JSON form.
    """
    text = json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False)
    write_text_atomic(path, text + "\n")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        RunError: the file is missing, unreadable or holds something else.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RunError(f"no file {path}", next_step="check that the run got this far") from error
    except (OSError, ValueError) as error:
        raise RunError(f"cannot read {path}", got=error, next_step="restore or delete the file") from error
    if not isinstance(value, dict):
        raise RunError(f"cannot read {path}", got=type(value).__name__, expected="a JSON object")
    return value


def cannot_write(path: Path, error: OSError) -> RunError:
    """The error for a file or folder that could not be written."""
    return RunError(
        f"cannot write {path}",
        got=error.strerror or str(error),
        expected="a folder that you may write, on a disk with free space",
        next_step="free some space, or choose another folder with --run-dir",
    )


def _plain(value: object) -> object:
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
