"""Opening the run's database, and turning every SQLite failure into one sentence and a next step."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from burnish.errors import StoreError

APPLICATION_ID = 0x4275726E
"""Written into the file's header ("Burn"), so that a foreign SQLite file is told apart."""

_CAUSES = (
    (
        "SQLITE_FULL",
        "the disk is full",
        "free space on this disk, then continue with `burnish train --resume`",
    ),
    (
        "SQLITE_READONLY",
        "the file is read-only",
        "check who owns the file and its folder, or choose another run directory",
    ),
    (
        "SQLITE_CANTOPEN",
        "the file cannot be opened",
        "check that the folder exists and that you may read and write it",
    ),
    (
        "SQLITE_BUSY",
        "another process holds the database",
        "stop the other process that writes to this run, then try again",
    ),
    (
        "SQLITE_LOCKED",
        "another connection holds the database",
        "stop the other process that writes to this run",
    ),
    (
        "SQLITE_CORRUPT",
        "the file is damaged",
        "restore it from a copy, or start a new run; checkpoints are unaffected",
    ),
    (
        "SQLITE_NOTADB",
        "the file is not a SQLite database",
        "check the path; a run's database is called run.sqlite",
    ),
    ("SQLITE_IOERR", "the disk reported an error", "check the disk and its free space, then try again"),
)


def store_error(path: Path, error: Exception) -> StoreError:
    """What went wrong with the database at `path`, and what to do about it."""
    code = getattr(error, "sqlite_errorname", None) or ""
    for prefix, cause, next_step in _CAUSES:
        if code.startswith(prefix):
            return StoreError(f"run database {path}: {cause}", got=f"{error} ({code})", next_step=next_step)
    return StoreError(
        f"run database {path}: a statement failed",
        got=f"{type(error).__name__}: {error}",
        next_step="check the values that were being stored",
    )


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise `StoreError` in place of anything SQLite raises inside the block."""
    try:
        yield
    except sqlite3.Error as error:
        raise store_error(path, error) from error


def open_writer(path: Path, *, create: bool, busy_seconds: float) -> sqlite3.Connection:
    """A connection that may write: WAL, foreign keys, and a commit that survives a power cut.

    Raises:
        StoreError: the file cannot be opened or written.
    """
    with translated(path):
        connection = _connect(path, "mode=rwc" if create else "mode=rw", busy_seconds)
        with _closed_on_error(connection):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
        return connection


def open_reader(path: Path, *, busy_seconds: float) -> sqlite3.Connection:
    """A connection that only reads; a cleanly closed run can be read from a read-only folder too.

    Raises:
        StoreError: the file is missing, unreadable or not a database.
    """
    if not path.is_file():
        raise StoreError(
            f"no run database at {path}", next_step="check the path; `burnish runs` lists the runs"
        )
    with translated(path):
        try:
            return _probed(_connect(path, "mode=ro", busy_seconds))
        except sqlite3.OperationalError:
            # WAL needs a scratch file next to the database. Where none can be made and no log is waiting to
            # be replayed, nobody can be writing, so the file may be read as it lies.
            if os.access(path.parent, os.W_OK) or _log_waits(path):
                raise
            return _probed(_connect(path, "immutable=1", busy_seconds))


def _log_waits(path: Path) -> bool:
    log = Path(f"{path}-wal")
    return log.exists() and log.stat().st_size > 0


def _connect(path: Path, options: str, busy_seconds: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.resolve().as_uri()}?{options}",
        uri=True,
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
    )


def _probed(connection: sqlite3.Connection) -> sqlite3.Connection:
    with _closed_on_error(connection):
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return connection


@contextmanager
def _closed_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise
