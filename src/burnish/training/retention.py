"""Which checkpoints stay on disk: the last ones, the best ones, every Nth, and the end of every stage."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from burnish.recipe import RlSettings, SftSettings

WINDOW = 10
"""Steps over which the figure that marks the best checkpoint is averaged."""

TRASH = ".trash_"


@dataclass(frozen=True, slots=True)
class Retention:
    """What to keep; everything else is deleted after the next good checkpoint."""

    last: int = 2
    """Newest checkpoints, to resume from."""
    best: int = 0
    """Checkpoints with the highest score."""
    every: int = 0
    """Keep those whose step is a multiple of this; 0 keeps none for that reason."""
    metric: str = ""
    """Figure of a step whose mean over the last steps is the score; empty scores nothing."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A checkpoint as retention sees it."""

    path: Path
    version: int
    stage: str
    step: int
    finished: bool
    """Whether it ends its stage; such a one always stays."""
    score: float | None


def retention_of(settings: RlSettings | SftSettings) -> Retention:
    """What the recipe wants to keep of a stage."""
    if isinstance(settings, SftSettings):
        return Retention(last=settings.keep_checkpoints)
    return Retention(settings.keep_checkpoints, settings.keep_best, settings.keep_every, settings.best_metric)


def score(curve: Sequence[tuple[int, float]], step: int) -> float | None:
    """Mean of a figure over the last steps up to `step`; None where it was never measured.

    Args:
        curve: (step, value) in order of step.
        step: of the checkpoint.
    """
    values = [v for s, v in curve if step - WINDOW < s <= step and math.isfinite(v)]
    return sum(values) / len(values) if values else None


def surplus(checkpoints: Iterable[Saved], keep: Retention) -> list[Saved]:
    """Checkpoints that nothing asks to keep, oldest first."""
    passing = sorted((c for c in checkpoints if not c.finished), key=lambda c: c.version)
    scored = [c for c in passing if c.score is not None]
    ranked = sorted(scored, key=lambda c: (c.score or 0.0, c.version), reverse=True)
    kept = {c.version for c in (*passing[-keep.last :], *ranked[: keep.best])}
    if keep.every:
        kept |= {c.version for c in passing if c.step % keep.every == 0}
    return [c for c in passing if c.version not in kept]


def prune(checkpoints: Sequence[Saved], keep: Retention, verified: Callable[[Path], bool]) -> list[Path]:
    """Delete the surplus, unless no checkpoint that would remain can be verified.

    Args:
        checkpoints: all of the run.
        keep: what stays.
        verified: reads a checkpoint back and tells whether it is whole.

    Returns:
        What was deleted.
    """
    doomed = surplus(checkpoints, keep)
    remaining = sorted((c for c in checkpoints if c not in doomed), key=lambda c: -c.version)
    if not doomed or not any(verified(c.path) for c in remaining):
        return []
    for checkpoint in doomed:
        discard(checkpoint.path)
    return [c.path for c in doomed]


def discard(path: Path) -> None:
    """Rename, so that nobody takes a half-deleted checkpoint for a whole one, then remove."""
    trash = path.with_name(f"{TRASH}{path.name}")
    with suppress(OSError):  # what is left is removed when the run is resumed
        shutil.rmtree(trash, ignore_errors=True)
        path.rename(trash)
        shutil.rmtree(trash)
