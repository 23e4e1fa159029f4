"""Invariants of the ledger itself: nothing lost, nothing twice, nothing too old."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from burnish.store.check.bias import ALPHA, FEWEST, rank_test
from burnish.store.check.evidence import Evidence
from burnish.store.check.facts import GroupRow
from burnish.store.check.verdict import Finding, finding, unproven
from burnish.store.ledger import LedgerEntry

OPEN = ("pending", "leased", "done")
_EXPECTED_DROP = "no signal"
"""The reason that says nothing about the machinery: the rewards were equal."""


def ordinals(run: Evidence) -> Finding:
    """Every ordinal is in exactly one state, and what is behind the run is settled."""
    statement = "every group is in exactly one state, and in a final one once its step is over"
    return finding("ordinals", statement, len(run.rows), _ordinals(run))


def _ordinals(run: Evidence) -> Iterator[str]:
    last = max(run.rows, default=run.first - 1)
    for ordinal in range(run.first, last + 1):
        if ordinal not in run.rows:
            yield f"group {ordinal} is lost: it has no row"
    if run.facts.last_step and not run.rows and not run.first:
        yield f"no group is in the ledger after {run.facts.last_step} steps"
    for row in run.facts.groups:
        wrong = _state(row.entry)
        if wrong:
            yield f"group {row.entry.ordinal} is {row.entry.state} {wrong}"
        elif row.entry.state in OPEN and run.finished:
            yield f"group {row.entry.ordinal} is still {row.entry.state} although the run is finished"
        elif row.entry.state in OPEN and row.entry.step < run.facts.last_step:
            yield (
                f"group {row.entry.ordinal} of step {row.entry.step} is still {row.entry.state} "
                f"after step {run.facts.last_step}"
            )
    for one, two in pairwise(run.facts.groups):
        if two.entry.step < one.entry.step:
            yield f"group {two.entry.ordinal} of step {two.entry.step} follows one of step {one.entry.step}"


def _state(entry: LedgerEntry) -> str | None:
    """What does not go with the state; None when all does."""
    trained = entry.state == "trained"
    if trained != (entry.trained_step is not None) or trained != (entry.trained_version is not None):
        return f"with step of training {entry.trained_step} and version {entry.trained_version}"
    if (entry.state == "dropped") != bool(entry.reason):
        return f"with the reason {entry.reason!r}"
    if entry.state in ("trained", "done") and None in (entry.tokens, entry.version_first, entry.version_last):
        return "without tokens or versions"
    return None


def trained_once(run: Evidence) -> Finding:
    """No group is part of two updates, or stored twice."""
    statement = "no group is trained on, or has a sample stored, more than once"
    return finding("trained once", statement, len(run.rows), _twice(run))


def _twice(run: Evidence) -> Iterator[str]:
    for row in run.facts.groups:
        if row.times_trained != (row.entry.state == "trained"):
            times = f"{row.times_trained} times"
            yield f"group {row.entry.ordinal} is {row.entry.state} and was trained on {times}"
    steps: defaultdict[int, list[int]] = defaultdict(list)
    for drawn in run.facts.drawn:
        steps[drawn.ordinal].append(drawn.step)
        if drawn.samples != drawn.distinct:
            yield f"group {drawn.ordinal} has {drawn.samples} samples with {drawn.distinct} different numbers"
    for ordinal, found in steps.items():
        if len(found) > 1:
            yield f"group {ordinal} has samples at steps {', '.join(map(str, found))}"


def tasks(run: Evidence) -> Finding:
    """Each domain's tasks are taken one after another, none twice and none left out."""
    statement = "the tasks of a domain are used once each, without a gap"
    return finding("tasks", statement, len(run.rows), _tasks(run))


def _tasks(run: Evidence) -> Iterator[str]:
    users: defaultdict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for row in run.facts.groups:
        e = row.entry
        known = users[e.domain, e.split]
        if e.task_index in known:
            other = known[e.task_index]
            yield f"task {e.domain}:{e.split}:{e.task_index} is of groups {other} and {e.ordinal}"
        known[e.task_index] = e.ordinal
    for (domain, split), known in users.items():
        absent = set(range(min(known), max(known) + 1)) - known.keys()
        if absent:
            yield f"task {domain}:{split}:{min(absent)} was never used, though later ones were"


def staleness(run: Evidence) -> Finding:
    """No group is trained on with weights too far from those that drew it."""
    trained = [g.entry for g in run.facts.groups if g.entry.state == "trained"]
    if isinstance(run.rules, str):
        return unproven("staleness", "groups are trained on within the staleness bound", [run.rules])
    bound = run.rules.bound
    statement = f"groups are trained on at most {bound} optimiser steps after the weights that drew them"
    return finding("staleness", statement, len(trained), (w for e in trained for w in _stale(e, bound)))


def _stale(entry: LedgerEntry, bound: int) -> Iterator[str]:
    first, last, used = entry.version_first, entry.version_last, entry.trained_version
    if first is None or last is None or used is None:
        return  # told by `ordinals`
    if not first <= last <= used:
        yield f"group {entry.ordinal} of versions {first} to {last} was trained on at version {used}"
    elif used - first > bound:
        yield f"group {entry.ordinal} of version {first} was trained on at version {used}"


def versions(run: Evidence) -> Finding:
    """The weight version rises by one a step, from the end of the stage before."""
    trained = [g for g in run.facts.groups if g.entry.trained_version is not None]
    statement = "the weights' version rises by exactly one a step"
    return finding("versions", statement, len(trained) + len(run.saved), _versions(run, trained))


def _versions(run: Evidence, trained: list[GroupRow]) -> Iterator[str]:
    before = run.facts.last_metric("sft")
    for row in trained:
        e = row.entry
        expected = before + (e.trained_step or 0) - 1
        if e.trained_version != expected:
            got = e.trained_version
            yield f"group {e.ordinal}: step {e.trained_step} changed version {got}, not {expected}"
    for saved in run.saved:
        if saved.damage is None and saved.stage in ("sft", "rl"):
            expected = saved.step + (before if saved.stage == "rl" else 0)
            if saved.version != expected:
                yield f"{saved.name} is version {saved.version} after {saved.stage} step {saved.step}"


def length_bias(run: Evidence) -> Finding:
    """Dropped groups are as long as kept ones; a warning if not."""
    statement = "whether a group is dropped does not depend on its length"
    done = [g.entry for g in run.settled() if g.entry.tokens is not None]
    dropped = [e.tokens or 0 for e in done if e.state == "dropped" and e.reason != _EXPECTED_DROP]
    kept = [e.tokens or 0 for e in done if e.state == "trained" or e.reason == _EXPECTED_DROP]
    test = rank_test(dropped, kept)
    if test is None:
        note = (f"{len(dropped)} dropped, {len(kept)} kept: too few for a test ({FEWEST} of each)",)
        return Finding("length bias", statement, len(done), "ok", note)
    note = (
        f"a dropped group is longer than a kept one with chance {test.superiority:.2f} "
        f"(z = {test.z:.2f}, p = {test.p_value:.2g}, {len(dropped)} dropped, {len(kept)} kept)",
    )
    return Finding("length bias", statement, len(done), "warning" if test.p_value < ALPHA else "ok", note)
