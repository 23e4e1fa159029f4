"""What becomes of the groups of a step, as transitions of the ledger."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from burnish.records import Group, Scored
from burnish.training.ledger import NO_SIGNAL, NO_VERDICT, STALE, Changed, Ledger, Result


def settle(
    ledger: Ledger,
    groups: Sequence[Group],
    used: Collection[int],
    *,
    step: int,
    version: int,
    stale: Collection[int] = (),
    repeats: Mapping[int, int] | None = None,
) -> tuple[Ledger, Changed]:
    """Take in the graded groups of a step and settle each: trained, or dropped for a reason.

    Args:
        ledger: in which they are leased.
        groups: all that came back for the step.
        used: ordinals that are part of the update.
        step: the step of the stage, counted from 1.
        version: version of the weights that the update changes.
        stale: ordinals left out because their tokens are over the staleness bound.
        repeats: by ordinal, how often the group was handed out again because its worker was lost.

    Raises:
        IllegalMoveError: one is not under way.
    """
    ledger = _repeated(ledger, repeats or {})
    results = [_result(ledger, group) for group in groups]
    ledger, _ = ledger.done(results)
    ledger, changed = ledger.trained(
        [g.ordinal for g in groups if g.ordinal in used], step=step, version=version
    )
    for reason, ordinals in _left_out(groups, used, stale).items():
        ledger, dropped = ledger.drop(ordinals, reason)
        changed = (*changed, *dropped)
    return ledger, changed


def _repeated(ledger: Ledger, repeats: Mapping[int, int]) -> Ledger:
    for ordinal, count in repeats.items():
        for _ in range(count):
            ledger, _ = ledger.release([ordinal])
            ledger, _ = ledger.renew([ordinal])
    return ledger


def _result(ledger: Ledger, group: Group) -> Result:
    entry = ledger.entry(group.ordinal)
    return Result.of(group, entry.attempt, entry.version_first or 0)


def _left_out(groups: Sequence[Group], used: Collection[int], stale: Collection[int]) -> dict[str, list[int]]:
    reasons: defaultdict[str, list[int]] = defaultdict(list)
    for group in groups:
        if group.ordinal not in used:
            scored = any(isinstance(v, Scored) for v in group.verdicts)
            reason = STALE if group.ordinal in stale else NO_SIGNAL if scored else NO_VERDICT
            reasons[reason].append(group.ordinal)
    return reasons
