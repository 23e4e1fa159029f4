"""The checkpoints of a run as files: hashes, the state they hold, and the batches that were under way."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class SavedLedger:
    """The ledger in a checkpoint's state."""

    frontier: int
    first: int
    open: Mapping[int, str]
    """State of each open group."""
    pending: frozenset[int]
    """Groups whose samples the checkpoint holds."""


@dataclass(frozen=True, slots=True)
class SavedState:
    """One checkpoint."""

    name: str
    damage: str | None
    """What is wrong with it, in words."""
    stage: str = ""
    step: int = 0
    version: int = 0
    finished: bool = False
    ledger: SavedLedger | None = None
    """None in a checkpoint from before there was a ledger."""


def read_saved(directory: Path) -> list[SavedState]:
    """Every folder `step_<version>`, oldest first; one that retention removes meanwhile is left out."""
    numbered = [(p.name.removeprefix("step_"), p) for p in directory.glob("step_*")]
    paths = [p for _, p in sorted((int(n), p) for n, p in numbered if n.isdigit())]
    return [state for state in map(_read, paths) if state is not None]


def _read(path: Path) -> SavedState | None:
    try:
        damage = _damage(path)
        state = None if damage else _state(path)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        damage, state = f"cannot be read ({type(error).__name__}: {error})", None
    if not path.is_dir():
        return None
    return state or SavedState(path.name, damage)


def _damage(path: Path) -> str | None:
    if not (path / MANIFEST).is_file():
        return f"{MANIFEST} is missing"
    listed: Mapping[str, Mapping[str, Any]] = _json(path / MANIFEST)["files"]
    found = {str(p.relative_to(path)) for p in path.rglob("*") if p.is_file()} - {MANIFEST}
    odd = sorted(found ^ listed.keys())
    if odd:
        return f"{odd[0]} is {'not in the manifest' if odd[0] in found else 'missing'}"
    for name, entry in listed.items():
        with (path / name).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != entry["sha256"]:
                return f"the content of {name} is not what its hash says"
    return None


def _state(path: Path) -> SavedState:
    data = _json(path / "state.json")
    ledger = data.get("ledger")
    return SavedState(
        path.name,
        None,
        data["stage"],
        data["step"],
        data["version"],
        data["finished"],
        None if ledger is None else _ledger(ledger, path / "pending.json"),
    )


def _ledger(data: Mapping[str, Any], pending: Path) -> SavedLedger:
    batches: Sequence[Mapping[str, Any]] = _json(pending) if pending.is_file() else []
    return SavedLedger(
        int(data["frontier"]),
        int(data["first"]),
        {int(e["ordinal"]): str(e["state"]) for e in data["open"]},
        frozenset(int(g["ordinal"]) for batch in batches for g in batch["groups"]),
    )


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
