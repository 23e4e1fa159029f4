"""Invariants between checkpoints and database: a checkpoint and the rows up to it are of the same run."""

from __future__ import annotations

from collections.abc import Iterator

from burnish.store.check.evidence import Evidence
from burnish.store.check.facts import LEDGER_STAGE
from burnish.store.check.groups import OPEN
from burnish.store.check.saved import SavedLedger, SavedState
from burnish.store.check.verdict import Finding, finding
from burnish.store.ledger import LedgerEntry


def manifests(run: Evidence) -> Finding:
    """Every checkpoint is what was written."""
    statement = "every file of every checkpoint has the hash in its manifest"
    wrong = [f"{s.name}: {s.damage}" for s in run.saved if s.damage]
    if run.finished and not run.saved:
        wrong.append("a finished run has no checkpoint")
    return finding("manifests", statement, len(run.saved), wrong)


def checkpoints(run: Evidence) -> Finding:
    """The state in every checkpoint agrees with the rows up to it."""
    whole = [s for s in run.saved if s.damage is None]
    statement = "frontier, open groups and step of every checkpoint agree with the database"
    wrong = [f"{s.name}: {w}" for s in whole for w in _disagreements(run, s)]
    if run.finished and whole:
        wrong += [f"{whole[-1].name}: {w}" for w in _end(run, whole[-1])]
    return finding("checkpoints", statement, len(whole), wrong)


def _disagreements(run: Evidence, saved: SavedState) -> Iterator[str]:
    recorded = run.facts.last_metric(saved.stage)
    if saved.step > recorded:
        yield f"{saved.stage} step {saved.step} is saved, but the last one in the database is {recorded}"
    if saved.ledger is None:
        return
    if saved.ledger.frontier > max(run.rows, default=run.first - 1) + 1:
        yield f"its frontier is {saved.ledger.frontier}, but the ledger ends before it"
    if saved.stage == LEDGER_STAGE:
        yield from _pending(saved.ledger)
    step = saved.step if saved.stage == LEDGER_STAGE else 0
    for ordinal, row in run.rows.items():
        wrong = _row(row.entry, saved.ledger, step)
        if wrong:
            yield f"group {ordinal} {wrong}"


def _row(entry: LedgerEntry, ledger: SavedLedger, step: int) -> str | None:
    trained_by_then = entry.trained_step is not None and entry.trained_step <= step
    if entry.ordinal >= ledger.frontier:
        return (
            f"is past its frontier, yet trained on at step {entry.trained_step}" if trained_by_then else None
        )
    if entry.ordinal in ledger.open:
        return f"is open in it, yet trained on at step {entry.trained_step}" if trained_by_then else None
    if entry.state in OPEN:
        return f"is settled in it, yet {entry.state} in the database"
    if entry.state == "trained" and not trained_by_then:
        return f"is settled in it, yet trained on only at step {entry.trained_step}"
    return None


def _pending(ledger: SavedLedger) -> Iterator[str]:
    lost = sorted(ledger.open.keys() - ledger.pending)
    unknown = sorted(ledger.pending - ledger.open.keys())
    if lost:
        yield f"group {lost[0]} is open in it, but its samples are not saved"
    if unknown:
        yield f"it holds samples of group {unknown[0]}, which is not open in it"


def _end(run: Evidence, saved: SavedState) -> Iterator[str]:
    if not saved.finished:
        yield "the run is finished, but its last checkpoint is not the end of a stage"
    if not isinstance(run.rules, str) and run.rules.stages and saved.stage != run.rules.stages[-1]:
        yield f"the run is finished, but its last checkpoint is of {saved.stage}"
    if saved.stage == LEDGER_STAGE and saved.step != run.facts.last_step:
        yield f"it is of step {saved.step}, but the database goes to step {run.facts.last_step}"
    end = max(run.rows, default=run.first - 1) + 1
    if saved.ledger is not None and saved.ledger.frontier != end:
        yield f"its frontier is {saved.ledger.frontier}, but the ledger ends at {end}"
