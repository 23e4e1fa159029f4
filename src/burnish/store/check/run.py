"""The whole check of one run directory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from burnish.store.check import against, groups, records
from burnish.store.check.evidence import Evidence, read_rules
from burnish.store.check.facts import missing_database, read_facts
from burnish.store.check.saved import read_saved
from burnish.store.check.verdict import Finding, finding, unproven
from burnish.store.rundir import RunDir

_ON_LEDGER: tuple[tuple[str, Callable[[Evidence], Finding]], ...] = (
    ("ordinals", groups.ordinals),
    ("trained once", groups.trained_once),
    ("tasks", groups.tasks),
    ("staleness", groups.staleness),
    ("versions", groups.versions),
    ("samples", records.samples),
    ("checkpoints", against.checkpoints),
    ("length bias", groups.length_bias),
)


def check_run(path: Path) -> list[Finding]:
    """Every invariant of the run at `path` and how it stands; nothing is changed.

    Raises:
        RunError: there is no run at `path`, or its status cannot be read.
        StoreError: its database is missing, foreign or from a newer version.
    """
    folder = RunDir.open(path)
    finished = folder.read_status().state == "finished"
    # Checkpoints first: rows are on disk before the checkpoint that counts on them.
    saved = read_saved(folder.checkpoints)
    if not folder.database.is_file():
        raise missing_database(folder.database)
    facts = read_facts(folder.database)
    run = Evidence(finished, read_rules(folder.recipe), facts, saved)
    whole = finding("database", "the database file is sound", 1, facts.integrity)
    manifests = against.manifests(run)
    if facts.integrity:
        names = ("metrics", *(name for name, _ in _ON_LEDGER))
        return [whole, manifests, *(unproven(n, "", ["the database is damaged"]) for n in names)]
    if not facts.has_ledger:
        why = ["the run was recorded before there was a ledger"]
        rest = [unproven(name, "", why) for name, _ in _ON_LEDGER]
    else:
        rest = [_guarded(name, check, run) for name, check in _ON_LEDGER]
    return [whole, manifests, _guarded("metrics", records.metrics, run), *rest]


def _guarded(name: str, check: Callable[[Evidence], Finding], run: Evidence) -> Finding:
    """SQLite keeps any type in any column, so rows of a damaged run may hold what no check can compare."""
    try:
        return check(run)
    except (TypeError, ValueError, LookupError, ArithmeticError) as error:
        return unproven(name, "", [f"a row holds what was never written ({type(error).__name__}: {error})"])
