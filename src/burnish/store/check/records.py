"""Invariants between tables: samples and metrics tell the same story as the ledger."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from burnish.store.check.evidence import Evidence
from burnish.store.check.facts import DOMAIN_METRIC, LEDGER_STAGE, STEP_METRICS, DrawnGroup
from burnish.store.check.groups import OPEN
from burnish.store.check.verdict import Finding, finding, unproven
from burnish.store.ledger import LedgerEntry


def samples(run: Evidence) -> Finding:
    """Every trained group has all its samples, and every sample belongs to a group."""
    statement = "every trained group has its samples, every sample a group, and both agree"
    if isinstance(run.rules, str):
        return unproven("samples", statement, [run.rules])
    return finding("samples", statement, len(run.facts.drawn), _samples(run, run.rules.group_size))


def _samples(run: Evidence, size: int) -> Iterator[str]:
    drawn = {(d.ordinal, d.step): d for d in run.facts.drawn}
    for row in run.settled():
        e = row.entry
        if e.state == "trained" and (e.ordinal, e.trained_step) not in drawn:
            yield f"group {e.ordinal} was trained on at step {e.trained_step} but has no samples there"
    for d in run.facts.drawn:
        if d.ordinal < run.first:
            continue
        row = run.rows.get(d.ordinal)
        wrong = "is not in the ledger" if row is None else _difference(d, row.entry, size)
        if wrong:
            yield f"group {d.ordinal} of the samples of step {d.step} {wrong}"


def _difference(drawn: DrawnGroup, entry: LedgerEntry, size: int) -> str | None:
    if entry.state in OPEN:
        return f"is still {entry.state}"
    if entry.trained_step not in (None, drawn.step):
        return f"was trained on at step {entry.trained_step}"
    if drawn.samples != size:
        return f"has {drawn.samples} samples instead of {size}"
    if drawn.tokens != entry.tokens:
        return f"has {drawn.tokens} tokens; the ledger says {entry.tokens}"
    place = (drawn.domain, drawn.split, drawn.level, drawn.task_index)
    if drawn.tasks != 1 or place != (entry.domain, entry.split, entry.level, entry.task_index):
        return f"is of another task: {place} instead of {entry.domain} {entry.task_index}"
    return _versions(drawn, entry)


def _versions(drawn: DrawnGroup, entry: LedgerEntry) -> str | None:
    known = (drawn.version_low, drawn.version_high, entry.version_first, entry.version_last)
    if any(v is None for v in known):
        return None  # empty completions have none
    low, high, first, last = (v or 0 for v in known)
    if first <= low and high <= last:
        return None
    return f"is of versions {low} to {high}; the ledger says {first} to {last}"


def metrics(run: Evidence) -> Finding:
    """Every step of every stage has its figures once."""
    statement = "every step has its figures exactly once, without a gap"
    checked = sum(run.facts.last_metric(stage) for stage in STEP_METRICS)
    return finding("metrics", statement, checked, _metrics(run))


def _metrics(run: Evidence) -> Iterator[str]:
    for stage, names in STEP_METRICS.items():
        last = run.facts.last_step if stage == LEDGER_STAGE else run.facts.last_metric(stage)
        for step in range(1, last + 1):
            counts = {n: run.facts.metrics.get((stage, n, ""), {}).get(step, 0) for n in names}
            absent = [n for n, count in counts.items() if not count]
            if absent:
                yield f"{stage} step {step} has no {', '.join(absent)}"
    for (stage, name, domain), steps in run.facts.metrics.items():
        for step, count in steps.items():
            if count > 1:
                yield f"{stage} step {step} has {name} of {domain or 'all domains'} {count} times"
            if step < 1:
                yield f"{stage} has figures of step {step}"
    yield from _domain_metrics(run)


def _domain_metrics(run: Evidence) -> Iterator[str]:
    trained: defaultdict[str, set[int]] = defaultdict(set)
    for row in run.settled():
        if row.entry.trained_step is not None:
            trained[row.entry.domain].add(row.entry.trained_step)
    for domain, steps in trained.items():
        there = run.facts.metrics.get((LEDGER_STAGE, DOMAIN_METRIC, domain), {}).keys()
        for step in sorted(steps - there):
            yield f"{LEDGER_STAGE} step {step} has no {DOMAIN_METRIC} of {domain}"
