"""Batches between draw and update: leased in the ledger, handed to the source, taken up again on resume."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from burnish.curriculum.base import Draw
from burnish.errors import RunError
from burnish.records import Group
from burnish.spans import span, timed
from burnish.training.checkpoint import read_pending
from burnish.training.ledger import NO_TASK
from burnish.training.pending import group_from_json, place_of
from burnish.training.sft import places
from burnish.training.source import Source
from burnish.training.stage import Workbench
from burnish.training.state import RunState

UNUSED = "stage ended"
"""Why a group is dropped that was drawn for a step which the stage did not reach."""


@timed("draw")
def lease(
    bench: Workbench, draws: Sequence[Draw], state: RunState, step: int, version: int
) -> tuple[list[Group], RunState]:
    """Number the tasks of a batch and make them; one that cannot be made is dropped.

    Args:
        bench: makes the tasks and records the leases.
        draws: where the tasks stand.
        state: holds the ledger.
        step: of the stage, counted from 0.
        version: first version of weights that draws the completions.
    """
    wanted = places(draws)
    with span("tasks"):
        tasks = bench.tasks.get(wanted)
    ledger, entries = state.ledger.lease(wanted, stage=state.stage, step=step + 1, version=version)
    rows = list(zip(entries, tasks, strict=True))
    ledger, dropped = ledger.drop([entry.ordinal for entry, task in rows if task is None], NO_TASK)
    bench.store.add_ledger([*entries, *dropped])
    groups = [
        Group(entry.ordinal, task, bench.policy.encode(task.messages), (), ())
        for entry, task in rows
        if task is not None
    ]
    return groups, replace(state, ledger=ledger)


def take_up(bench: Workbench, source: Source, state: RunState) -> int:
    """Submit again what the checkpoint of this state holds as under way.

    Returns:
        The first step whose batch has not been drawn.

    Raises:
        RunError: a task of the checkpoint can no longer be made.
    """
    if state.step == 0:
        return 0
    batches = read_pending(bench.checkpoints / f"step_{state.version:06d}")
    for batch in batches:
        rows = batch["groups"]
        tasks = bench.tasks.get([place_of(row) for row in rows])
        groups = []
        for row, task in zip(rows, tasks, strict=True):
            if task is None:
                raise RunError(
                    "a task that was under way can no longer be made",
                    got=row["place"],
                    expected="the domains the run was started with",
                    next_step="restore the domain, or start a new run",
                )
            blank = Group(row["ordinal"], task, bench.policy.encode(task.messages), (), ())
            groups.append(group_from_json(row, blank))
        source.submit(batch["step"], groups)
    return state.step + len(batches)


def drop_rest(bench: Workbench, state: RunState) -> RunState:
    """Settle what is still under way when a stage ends."""
    ledger, dropped = state.ledger.drop([entry.ordinal for entry in state.ledger.open], UNUSED)
    bench.store.add_ledger(dropped)
    return replace(state, ledger=ledger)
