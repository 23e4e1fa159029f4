"""What happens when the disk, the file or the process gives way."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from burnish.errors import StoreError
from burnish.records import Scored
from burnish.store import RunStore
from burnish.store.writer import Write, Writer


def _fill(store: RunStore) -> None:
    """A database that may not grow by more than a few pages: SQLite reports it exactly as a full disk."""
    store.flush()
    connection = store._writer._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")


def _add_until_it_fails(store: RunStore, seconds: float = 20.0) -> StoreError:
    end = time.monotonic() + seconds
    with pytest.raises(StoreError) as caught:
        while time.monotonic() < end:
            store.add_event("rl", 1, "info", "noise", "x" * 1000)
    return caught.value


def test_a_full_disk_is_raised_by_a_later_call_with_path_and_next_step(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path / "run.sqlite")
    _fill(store)
    error = _add_until_it_fails(store)
    assert "disk is full" in error.what
    assert str(tmp_path) in error.what
    assert "free space" in error.next_step
    for call in (store.flush, store.events, lambda: store.add_metrics("rl", 1, {"a": 1.0}), store.close):
        with pytest.raises(StoreError, match="disk is full"):
            call()
    store.close()


def test_rows_committed_before_a_full_disk_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    with pytest.raises(StoreError), RunStore.create(path) as store:
        store.add_metrics("rl", 1, {"reward": 1.0})
        _fill(store)
        _add_until_it_fails(store)
        store.flush()
    with RunStore.open(path) as reader:
        assert reader.metrics("rl", "reward") == [(1, 1.0)]


def test_a_store_error_never_hides_the_error_under_way(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), RunStore.create(tmp_path / "run.sqlite") as store:
        _fill(store)
        _add_until_it_fails(store)
        raise ZeroDivisionError


def test_a_failed_writer_takes_no_more_than_its_queue_and_never_blocks(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "db", isolation_level=None, check_same_thread=False)
    writer = Writer(connection, tmp_path / "db", capacity=4)
    writer.submit([Write("INSERT INTO nowhere VALUES (?)", ((1,),))])

    def submit_many() -> None:
        with pytest.raises(StoreError):
            for _ in range(10_000):
                writer.submit([Write("INSERT INTO nowhere VALUES (?)", ((1,),))])

    thread = threading.Thread(target=submit_many, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    with pytest.raises(StoreError, match="no such table"):
        writer.close()


def test_a_full_queue_waits_and_loses_nothing(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "db", isolation_level=None, check_same_thread=False)
    connection.execute("CREATE TABLE t (a)")
    writer = Writer(connection, tmp_path / "db", capacity=2)
    for n in range(300):
        writer.submit([Write("INSERT INTO t VALUES (?)", ((n,),))])
    writer.close()
    check = sqlite3.connect(tmp_path / "db")
    assert check.execute("SELECT count(*), max(a) FROM t").fetchone() == (300, 299)
    check.close()


def test_a_locked_database_becomes_an_error_and_not_a_hang(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    store = RunStore.create(path, busy_seconds=0.2)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    store.add_metrics("rl", 1, {"reward": 1.0})
    with pytest.raises(StoreError, match="another process holds"):
        store.flush()
    other.execute("ROLLBACK")
    other.close()
    with pytest.raises(StoreError):
        store.close()


def test_a_damaged_database_is_named(tmp_path: Path, make_group) -> None:
    path = tmp_path / "run.sqlite"
    with RunStore.create(path) as store:
        for n in range(200):
            store.add_group("rl", n, make_group(n), "prompt " * 50)
    content = bytearray(path.read_bytes())
    content[8192:] = os.urandom(len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(StoreError, match="damaged"), RunStore.open(path) as reader:
        reader.samples(order="best")


def test_a_failed_write_undoes_its_whole_transaction(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "db", isolation_level=None, check_same_thread=False)
    connection.execute("CREATE TABLE t (a NOT NULL)")
    writer = Writer(connection, tmp_path / "db")
    writer.submit([Write("INSERT INTO t VALUES (?)", ((1,),)), Write("INSERT INTO t VALUES (?)", ((None,),))])
    with pytest.raises(StoreError, match="NOT NULL"):
        writer.close()
    check = sqlite3.connect(tmp_path / "db")
    assert check.execute("SELECT count(*) FROM t").fetchone() == (0,)
    check.close()


def test_creating_in_a_read_only_folder_says_so(open_folder: Path, unprivileged) -> None:
    open_folder.chmod(0o555)
    answer = unprivileged(lambda: repr(RunStore.create(open_folder / "run.sqlite")))
    assert "StoreError" in answer
    assert "cannot be opened" in answer
    assert str(open_folder) in answer


def test_a_finished_run_can_be_read_in_a_read_only_folder(open_folder: Path, unprivileged) -> None:
    path = open_folder / "run.sqlite"
    with RunStore.create(path) as store:
        store.add_metrics("rl", 1, {"reward": 0.5})
    path.chmod(0o444)
    open_folder.chmod(0o555)

    def read() -> str:
        with RunStore.open(path) as reader:
            return str(reader.metrics("rl", "reward"))

    assert unprivileged(read) == "[(1, 0.5)]"


def test_a_closed_store_refuses_work(tmp_path: Path) -> None:
    store = RunStore.create(tmp_path / "run.sqlite")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.add_metrics("rl", 1, {"a": 1.0})
    with pytest.raises(StoreError, match="closed"):
        store.events()


def test_a_forked_child_is_told_to_open_its_own(tmp_path: Path, unprivileged) -> None:
    with RunStore.create(tmp_path / "run.sqlite") as store:
        answer = unprivileged(lambda: str(store.add_metrics("rl", 1, {"a": 1.0})))
        assert "StoreError" in answer
        assert "store of its own" in answer


_KILLED = """
import os, signal, sys
from pathlib import Path
from burnish.store import RunStore
store = RunStore.create(Path(sys.argv[1]))
for step in range(100):
    store.add_metrics("rl", step, {"reward": float(step)})
store.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""

_FORGOTTEN = """
import sys
from pathlib import Path
from burnish.store import RunStore
store = RunStore.create(Path(sys.argv[1]))
for step in range(100):
    store.add_metrics("rl", step, {"reward": float(step)})
"""


def test_flushed_rows_survive_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    done = subprocess.run([sys.executable, "-c", _KILLED, str(path)], timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    with RunStore.open(path) as reader:
        assert len(reader.metrics("rl", "reward")) == 100


def test_a_store_nobody_closed_is_written_at_exit(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    subprocess.run([sys.executable, "-c", _FORGOTTEN, str(path)], timeout=60, check=True)
    with RunStore.open(path) as reader:
        assert len(reader.metrics("rl", "reward")) == 100


def _one_step(store: RunStore, step: int, groups: list) -> None:
    with store.together():
        for group in groups:
            store.add_group("rl", step, group, "prompt " * 40, [0.5] * len(group.samples))
        for domain in (None, *(f"domain/{n}" for n in range(14))):
            store.add_metrics("rl", step, {f"figure_{n}": float(n) for n in range(20)}, domain)


def test_a_disk_that_hangs_does_not_slow_the_steps(tmp_path: Path, make_group) -> None:
    groups = [make_group(n, verdicts=(Scored(1.0, True),) * 8) for n in range(16)]
    path = tmp_path / "run.sqlite"
    with RunStore.create(path, busy_seconds=60) as store:
        store.flush()
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        took = []
        for step in range(1, 31):
            began = time.perf_counter()
            _one_step(store, step, groups)
            took.append(time.perf_counter() - began)
        (written,) = other.execute("SELECT count(*) FROM metrics").fetchone()
        other.execute("ROLLBACK")
        other.close()
        assert written == 0
        assert sorted(took)[len(took) // 2] < 0.01
        assert max(took) < 0.5
        assert len(store.metrics("rl", "figure_3", "domain/5")) == 30


def test_too_many_rows_make_the_next_step_wait_until_the_disk_answers(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "db", isolation_level=None, check_same_thread=False, timeout=60)
    connection.execute("CREATE TABLE t (a)")
    other = sqlite3.connect(tmp_path / "db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    writer = Writer(connection, tmp_path / "db", capacity=8)
    release = threading.Timer(0.5, lambda: other.execute("ROLLBACK"))
    release.start()
    took = []
    for n in range(30):
        began = time.perf_counter()
        writer.submit([Write("INSERT INTO t VALUES (?)", ((n,),))])
        took.append(time.perf_counter() - began)
    writer.close()
    release.join()
    assert max(took[:8]) < 0.2
    assert sum(took) > 0.2
    assert other.execute("SELECT count(*) FROM t").fetchone() == (30,)
    other.close()
