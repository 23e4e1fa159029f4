"""Schema versions: one short function each, in order; `PRAGMA user_version` says how many have run.

A function, once released, is never edited: the tables' `SCHEMA` constants are version 1, and later
versions alter what it made.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from burnish.errors import StoreError
from burnish.store import evaluations, events, ledger, metrics, samples, stages, verdicts
from burnish.store.connection import APPLICATION_ID, translated


def first_tables(connection: sqlite3.Connection) -> None:
    """Version 1: metrics, samples and their verdicts, events, evaluations, stages."""
    for table in (metrics, samples, verdicts, events, evaluations, stages):
        for statement in table.SCHEMA:
            connection.execute(statement)


def ledger_table(connection: sqlite3.Connection) -> None:
    """Version 2: the ledger of groups."""
    for statement in ledger.SCHEMA:
        connection.execute(statement)


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (first_tables, ledger_table)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the database to our version, each step in one transaction.

    Raises:
        StoreError: the file is newer than this Burnish, or a statement failed.
    """
    with translated(path):
        version = _version(connection, path)
        for number, migration in enumerate(MIGRATIONS[version:], start=version + 1):
            connection.execute("BEGIN IMMEDIATE")
            migration(connection)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("COMMIT")


def check_version(connection: sqlite3.Connection, path: Path) -> int:
    """Make sure that the database is one of ours and not newer than we are; returns its version.

    An older one can be read as it is, because migrations have only ever added tables.

    Raises:
        StoreError: it is a foreign file, or newer than this Burnish.
    """
    with translated(path):
        version = _version(connection, path)
        application_id = connection.execute("PRAGMA application_id").fetchone()[0]
    if application_id != APPLICATION_ID or not version:
        raise StoreError(f"{path} is not a run database", next_step="check the path; it is called run.sqlite")
    return version


def _version(connection: sqlite3.Connection, path: Path) -> int:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise StoreError(
            f"run database {path} was written by a newer Burnish",
            got=f"version {version}",
            expected=f"version {len(MIGRATIONS)} or older",
            next_step="upgrade with `pip install --upgrade burnish`",
        )
    return version
