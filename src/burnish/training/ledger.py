"""The ledger of groups: every ordinal is in exactly one state, and is trained on at most once.

    pending --renew--> leased --done--> done --trained--> trained
       ^                 |               |
       +----release------+---------------+        any open state --drop(reason)--> dropped

`lease` numbers new groups from the frontier on. Groups that are trained or dropped leave the record, so it
stays a few numbers however long the run; that an ordinal below the frontier is not open says it is settled.
Every transition returns the new ledger and the entries it changed, which are the rows for the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from burnish.records import Group, Split
from burnish.store.ledger import EntryState, LedgerEntry

NO_TASK = "no task"
"""The domain could not make it."""
NO_SIGNAL = "no signal"
"""Its rewards are all equal, so it moves no weight."""
NO_VERDICT = "no verdict"
"""Not one of its samples was scored."""
STALE = "stale"
"""Its tokens are older than the staleness bound allows."""

Changed = tuple[LedgerEntry, ...]
"""The entries that a transition changed, for `RunStore.add_ledger`."""


class IllegalMoveError(Exception):
    """A transition that the ledger's invariants forbid: a fault of the program, never of its input."""


@dataclass(frozen=True, slots=True)
class Result:
    """A group that came back from generation and grading."""

    ordinal: int
    attempt: int
    version_first: int
    """Lowest weight version of its tokens."""
    version_last: int
    """Highest weight version of its tokens."""
    tokens: int
    """Completion tokens of all its samples."""

    @classmethod
    def of(cls, group: Group, attempt: int, version: int) -> Self:
        """What the ledger keeps of a group; `version` is that of its lease, for groups without a token."""
        versions = [v for s in group.samples for v in s.versions] or [version]
        tokens = sum(len(s.token_ids) for s in group.samples)
        return cls(group.ordinal, attempt, min(versions), max(versions), tokens)


@dataclass(frozen=True, slots=True)
class Ledger:
    """Which groups are under way. Immutable; a transition makes a new one."""

    frontier: int = 0
    """The next ordinal; every one below it has been given to a group."""
    open: tuple[LedgerEntry, ...] = ()
    """Groups that are pending, leased or done, in order of ordinal."""
    first: int = 0
    """The first ordinal the ledger answers for: above 0 in a run begun before there was a ledger."""

    def lease(
        self,
        places: Sequence[tuple[str, Split, int, int]],
        *,
        stage: str,
        step: int,
        version: int,
    ) -> tuple[Ledger, Changed]:
        """Number new groups and hand them out.

        Args:
            places: domain, split, level and index of each task.
            stage: the stage that draws them.
            step: the step, counted from 1, whose batch they are.
            version: version of the weights they will be generated with.
        """
        entries = tuple(
            LedgerEntry(
                self.frontier + i, stage, step, domain, str(split), level, index, "leased",
                version_first=version, version_last=version,
            )
            for i, (domain, split, level, index) in enumerate(places)
        )  # fmt: skip
        return replace(self, frontier=self.frontier + len(entries), open=(*self.open, *entries)), entries

    def release(self, ordinals: Iterable[int]) -> tuple[Ledger, Changed]:
        """Take leases (or results that were lost) back; what an earlier attempt brings is refused.

        Raises:
            IllegalMoveError: one is neither leased nor done.
        """
        return self._move(
            ordinals,
            ("leased", "done"),
            lambda e: replace(e, state="pending", attempt=e.attempt + 1, tokens=None),
        )

    def renew(self, ordinals: Iterable[int], version: int | None = None) -> tuple[Ledger, Changed]:
        """Hand released groups out again, to be generated with weights `version` (None = as before).

        Raises:
            IllegalMoveError: one is not pending.
        """

        def leased(entry: LedgerEntry) -> LedgerEntry:
            if version is None:
                return replace(entry, state="leased")
            return replace(entry, state="leased", version_first=version, version_last=version)

        return self._move(ordinals, ("pending",), leased)

    def accepts(self, ordinal: int, attempt: int) -> bool:
        """Whether a result of this attempt is still awaited; false for late and for duplicate ones."""
        return any(e.ordinal == ordinal and e.attempt == attempt and e.state == "leased" for e in self.open)

    def done(self, results: Iterable[Result]) -> tuple[Ledger, Changed]:
        """Take results in.

        Raises:
            IllegalMoveError: one is not leased, of an earlier attempt, or reported twice.
        """
        by_ordinal: dict[int, Result] = {}
        for result in results:
            if result.ordinal in by_ordinal or not self.accepts(result.ordinal, result.attempt):
                raise IllegalMoveError(f"no result is awaited for group {result.ordinal}: {result}")
            by_ordinal[result.ordinal] = result

        def filled(entry: LedgerEntry) -> LedgerEntry:
            r = by_ordinal[entry.ordinal]
            return replace(
                entry,
                state="done",
                version_first=r.version_first,
                version_last=r.version_last,
                tokens=r.tokens,
            )

        return self._move(by_ordinal, ("leased",), filled)

    def trained(self, ordinals: Iterable[int], *, step: int, version: int) -> tuple[Ledger, Changed]:
        """Settle groups that an update used.

        Args:
            ordinals: the groups.
            step: the step of the stage, counted from 1.
            version: version of the weights that the update changed.

        Raises:
            IllegalMoveError: one is not done, or has tokens of weights that came after.
        """

        def settled(entry: LedgerEntry) -> LedgerEntry:
            if entry.version_last is None or entry.version_last > version:
                raise IllegalMoveError(
                    f"group {entry.ordinal} of version {entry.version_last} at version {version}"
                )
            return replace(entry, state="trained", trained_step=step, trained_version=version)

        return self._move(ordinals, ("done",), settled)

    def drop(self, ordinals: Iterable[int], reason: str) -> tuple[Ledger, Changed]:
        """Settle groups that no update will use.

        Raises:
            IllegalMoveError: one is not open, or there is no reason.
        """
        if not reason:
            raise IllegalMoveError("a group is dropped for a reason")
        return self._move(
            ordinals,
            ("pending", "leased", "done"),
            lambda e: replace(e, state="dropped", reason=reason),
        )

    def entry(self, ordinal: int) -> LedgerEntry:
        """An open group.

        Raises:
            IllegalMoveError: it is settled or was never leased.
        """
        for entry in self.open:
            if entry.ordinal == ordinal:
                return entry
        status = "settled" if self.first <= ordinal < self.frontier else "unknown"
        raise IllegalMoveError(f"group {ordinal} is {status}")

    def _move(
        self,
        ordinals: Iterable[int],
        allowed: tuple[EntryState, ...],
        change: Callable[[LedgerEntry], LedgerEntry],
    ) -> tuple[Ledger, Changed]:
        changed: dict[int, LedgerEntry] = {}
        for ordinal in ordinals:
            entry = self.entry(ordinal)
            if entry.state not in allowed or ordinal in changed:
                raise IllegalMoveError(f"group {ordinal} is {entry.state}, not {' or '.join(allowed)}")
            changed[ordinal] = change(entry)
        after = (changed.get(e.ordinal, e) for e in self.open)
        kept = tuple(e for e in after if e.state not in ("trained", "dropped"))
        return replace(self, open=kept), tuple(changed.values())

    def to_json(self) -> dict[str, Any]:
        """Plain data for `json.dumps`."""
        return {"frontier": self.frontier, "first": self.first, "open": [asdict(e) for e in self.open]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Ledger:
        """Inverse of `to_json`."""
        entries = tuple(LedgerEntry(**e) for e in data["open"])
        return cls(int(data["frontier"]), entries, int(data.get("first", 0)))
