"""The one thread that writes: a queue of bounded size in front of one connection.

A caller never waits for the disk unless too many rows wait for it already. Writes waiting together are
committed together. After the first failure nothing more is written (a run with holes would be worse than a
run that stops); later writes are dropped, so no caller can hang, and every later call raises the failure.
"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.errors import StoreError
from burnish.store.connection import store_error

CAPACITY = 20_000
"""Rows that may wait for the disk: some 35 steps of 16 groups of 8, some 40 MB of short completions."""
_POLL_SECONDS = 0.2
_BATCH = 256


@dataclass(frozen=True, slots=True)
class Write:
    """One statement and the rows to run it with."""

    sql: str
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class _Fence:
    """Set once everything queued before it is committed (or has failed)."""

    reached: threading.Event
    last: bool = False


_Item = tuple[Write, ...] | _Fence


class Writer:
    """Owns a connection and the thread that uses it; the connection is closed by `close`."""

    def __init__(self, connection: sqlite3.Connection, path: Path, *, capacity: int = CAPACITY) -> None:
        self._connection = connection
        self._path = path
        self._queue: queue.SimpleQueue[_Item] = queue.SimpleQueue()
        self._capacity = capacity
        self._waiting = 0
        self._room = threading.Condition()
        self._failure: StoreError | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=f"burnish-store:{path.name}", daemon=True)
        self._thread.start()

    def submit(self, writes: Sequence[Write]) -> None:
        """Queue statements that are committed together; waits only while too many rows wait already.

        Raises:
            StoreError: an earlier write failed, or the store is closed.
        """
        self._check()
        rows = _rows(writes)
        with self._room:
            while self._waiting and self._waiting + rows > self._capacity and self._thread.is_alive():
                self._room.wait(_POLL_SECONDS)
            self._waiting += rows
            self._queue.put(tuple(writes))

    def flush(self) -> None:
        """Return once everything submitted so far is on disk.

        Raises:
            StoreError: a write failed, or the store is closed.
        """
        self._check()
        self._wait_for(_Fence(threading.Event()))
        self._check()

    def close(self) -> None:
        """Write what is queued, end the thread, close the connection. Further calls do nothing.

        Raises:
            StoreError: a write failed.
        """
        if self._closed:
            return
        self._closed = True
        if self._thread.is_alive():
            self._wait_for(_Fence(threading.Event(), last=True))
            self._thread.join()
        if self._failure is not None:
            raise _again(self._failure)

    def close_quietly(self) -> None:
        """`close` for the interpreter's exit, where there is nobody left to tell."""
        try:
            self.close()
        except StoreError:
            return

    def _check(self) -> None:
        if self._failure is not None:
            raise _again(self._failure)
        if self._closed or not self._thread.is_alive():
            raise StoreError(
                f"run database {self._path}: the store is closed",
                next_step="open it again; a forked process has to open a store of its own",
            )

    def _wait_for(self, fence: _Fence) -> None:
        self._queue.put(fence)
        while not fence.reached.wait(_POLL_SECONDS) and self._thread.is_alive():
            continue

    def _run(self) -> None:
        last = False
        while not last:
            items = self._next_items()
            writes = [write for item in items if not isinstance(item, _Fence) for write in item]
            if self._failure is None:
                self._commit(writes)
            with self._room:
                self._waiting -= _rows(writes)
                self._room.notify_all()
            fences = [item for item in items if isinstance(item, _Fence)]
            last = any(fence.last for fence in fences)
            if last:
                self._connection.close()
            for fence in fences:
                fence.reached.set()

    def _next_items(self) -> list[_Item]:
        items = [self._queue.get()]
        while len(items) < _BATCH:
            try:
                items.append(self._queue.get_nowait())
            except queue.Empty:
                break
        return items

    def _commit(self, writes: Iterable[Write]) -> None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for write in writes:
                self._connection.executemany(write.sql, map(_storable, write.rows))
            self._connection.execute("COMMIT")
        except Exception as error:  # whatever it is, the caller hears of it and the thread lives on
            self._failure = store_error(self._path, error)
            self._roll_back()

    def _roll_back(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            return


def _rows(writes: Iterable[Write]) -> int:
    return sum(len(write.rows) for write in writes)


def _storable(row: tuple[object, ...]) -> tuple[object, ...]:
    """`row` without lone surrogates, which a decoder may leave in a text and UTF-8 cannot hold."""
    return tuple(v.encode("utf-8", "replace").decode() if isinstance(v, str) else v for v in row)


def _again(failure: StoreError) -> StoreError:
    """A fresh error with the same message: one exception object must not be raised from two threads."""
    return StoreError(failure.what, got=failure.got, next_step=failure.next_step)
