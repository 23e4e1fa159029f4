"""The ledger's table: upserts, the count of trainings, and going back to a checkpoint."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from burnish.errors import StoreError
from burnish.store import RunStore
from burnish.store.ledger import LedgerEntry
from burnish.store.migrations import first_tables


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore.create(tmp_path / "run.sqlite") as opened:
        yield opened


def entry(ordinal: int, state: str = "leased", **columns) -> LedgerEntry:
    return LedgerEntry(ordinal, "rl", 1, "toy/sum", "train", 0, ordinal, state, **columns)  # type: ignore[arg-type]


def trained(ordinal: int, step: int = 1) -> LedgerEntry:
    return entry(
        ordinal, "trained", version_first=0, version_last=0, tokens=8, trained_step=step, trained_version=0
    )


def times_trained(store: RunStore) -> dict[int, int]:
    store.flush()
    with sqlite3.connect(store.path) as connection:
        return dict(connection.execute("SELECT ordinal, times_trained FROM ledger"))


def test_a_later_entry_takes_the_place_of_an_earlier_one(store: RunStore) -> None:
    store.add_ledger([entry(0), entry(1)])
    store.add_ledger([replace(entry(1), state="dropped", reason="no task"), trained(0)])
    assert store.ledger() == [trained(0), replace(entry(1), state="dropped", reason="no task")]


def test_training_twice_is_counted_and_not_overwritten(store: RunStore) -> None:
    store.add_ledger([entry(0), entry(1)])
    store.add_ledger([trained(0)])
    store.add_ledger([trained(0, step=2), trained(1)])
    assert times_trained(store) == {0: 2, 1: 1}


def test_rewind_forgets_what_is_past_the_frontier_and_sets_open_groups_back(store: RunStore) -> None:
    store.add_ledger([trained(0), trained(1, step=2), trained(2, step=3), entry(3)])
    store.rewind("rl", 1, frontier=2, open_entries=[entry(1)])
    assert store.ledger() == [trained(0), entry(1)]
    assert times_trained(store) == {0: 1, 1: 0}


def test_rewind_without_a_frontier_leaves_the_ledger(store: RunStore) -> None:
    store.add_ledger([trained(0), entry(1)])
    store.rewind("sft", 0)
    assert len(store.ledger()) == 2


def test_entries_of_one_stage(store: RunStore) -> None:
    store.add_ledger([entry(0), replace(entry(1), stage="other")])
    assert [e.ordinal for e in store.ledger("other")] == [1]


def test_a_state_that_does_not_exist_is_refused(store: RunStore) -> None:
    store.add_ledger([entry(0, "lost")])
    with pytest.raises(StoreError, match="CHECK"):
        store.flush()
    with pytest.raises(StoreError):
        store.close()


def _old_database(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    first_tables(connection)
    connection.execute("INSERT INTO metrics VALUES ('rl', 1, NULL, 'reward', 0.5, 0)")
    connection.execute("PRAGMA application_id = 0x4275726E")
    connection.execute("PRAGMA user_version = 1")
    connection.close()


def test_a_database_from_before_the_ledger_can_still_be_read(tmp_path: Path) -> None:
    _old_database(tmp_path / "old.sqlite")
    with RunStore.open(tmp_path / "old.sqlite") as store:
        assert store.metrics("rl", "reward") == [(1, 0.5)]
        assert store.ledger() == []


def test_opening_an_old_database_for_writing_adds_the_ledger(tmp_path: Path) -> None:
    _old_database(tmp_path / "old.sqlite")
    with RunStore.open(tmp_path / "old.sqlite", read_only=False) as store:
        store.add_ledger([entry(0)])
        assert store.ledger() == [entry(0)]
        assert store.metrics("rl", "reward") == [(1, 0.5)]
