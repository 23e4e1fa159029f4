"""The run's database: writes go through one thread, reads see everything written before them."""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from burnish.errors import StoreError
from burnish.records import Group
from burnish.store import evaluations, events, ledger, metrics, samples, stages, verdicts
from burnish.store.connection import open_reader, open_writer, translated
from burnish.store.migrations import check_version, migrate
from burnish.store.samples import Order, StoredSample
from burnish.store.writer import Write, Writer

BUSY_SECONDS = 60.0
"""How long another process may hold the database before a write fails."""


class RunStore:
    """One run's metrics, ledger, samples, verdicts, events, evaluations and stage costs.

    `add_*` only queue a row; `flush` and `close` wait for the disk. Queries on a store that writes flush
    first. A failed write is raised by the next call of any kind, and by every call after it.
    Numbers that are not a number: a metric comes back as NaN, an optional column as None.
    """

    def __init__(self, path: Path, reader: sqlite3.Connection, writer: Writer | None) -> None:
        self.path = path
        self._reader: sqlite3.Connection | None = reader
        self._reader_lock = threading.Lock()
        self._writer = writer
        self._id_lock = threading.Lock()
        self._next_id = self._rows(samples.NEXT_ID)[0][0]
        self._held = threading.local()
        if writer is not None:
            weakref.finalize(self, writer.close_quietly)

    @classmethod
    def create(cls, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> Self:
        """A new database at `path`, open for writing.

        Raises:
            StoreError: something is at `path` already, or it cannot be written.
        """
        path = Path(path)
        if path.exists():
            raise StoreError(f"run database {path} exists already", next_step="choose another run directory")
        return cls._open_for_writing(path, create=True, busy_seconds=busy_seconds)

    @classmethod
    def open(cls, path: Path, read_only: bool = True, *, busy_seconds: float = BUSY_SECONDS) -> Self:
        """An existing database; one that is opened for writing is brought to our schema version.

        Raises:
            StoreError: it is missing, damaged, newer than this Burnish, or not a run database.
        """
        path = Path(path)
        reader = open_reader(path, busy_seconds=busy_seconds)
        try:
            if read_only:
                check_version(reader, path)
                return cls(path, reader, None)
        except BaseException:
            reader.close()
            raise
        reader.close()
        return cls._open_for_writing(path, create=False, busy_seconds=busy_seconds)

    @classmethod
    def _open_for_writing(cls, path: Path, *, create: bool, busy_seconds: float) -> Self:
        connection = open_writer(path, create=create, busy_seconds=busy_seconds)
        try:
            migrate(connection, path)
            check_version(connection, path)
            reader = open_reader(path, busy_seconds=busy_seconds)
        except BaseException:
            connection.close()
            raise
        return cls(path, reader, Writer(connection, path))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except StoreError:
            if error is None:  # else the error under way is the one worth telling
                raise

    def flush(self) -> None:
        """Return once everything added so far is on disk, safe from a kill or a power cut.

        Raises:
            StoreError: a write failed.
        """
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Flush and close; calling it again does nothing.

        Raises:
            StoreError: a write failed; the files are closed all the same.
        """
        with self._reader_lock:
            reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()
        if self._writer is not None:
            self._writer.close()

    @contextmanager
    def together(self) -> Iterator[None]:
        """What this thread adds inside the block is written in one transaction: all of it or nothing.

        It is queued at the end of the block, and not at all when the block raises; queries inside do not see
        it. A block within a block joins it.
        """
        if getattr(self._held, "writes", None) is not None:
            yield
            return
        self._held.writes = writes = []
        try:
            yield
        finally:
            self._held.writes = None
        if writes:
            self._write(*writes)

    def add_metrics(
        self, stage: str, step: int, values: Mapping[str, float], domain: str | None = None
    ) -> None:
        """Numbers of one step, of the whole run or of one domain; repeating a step replaces its numbers."""
        self._write(metrics.insert(stage, step, values, domain, time.time()))

    def add_group(
        self,
        stage: str,
        step: int,
        group: Group,
        prompt_text: str,
        advantages: Sequence[float] | None = None,
    ) -> None:
        """The samples of a group with their verdicts; `advantages` has one entry a sample (NaN = none)."""
        with self._id_lock:
            first_id, self._next_id = self._next_id, self._next_id + len(group.samples)
        rows = samples.insert(first_id, stage, step, group, prompt_text=prompt_text, advantages=advantages)
        graded = [(first_id + n, verdict) for n, verdict in enumerate(group.verdicts)]
        self._write(rows, verdicts.insert(graded))

    def add_event(
        self,
        stage: str,
        step: int,
        level: events.Level,
        kind: str,
        message: str,
        *,
        domain: str | None = None,
    ) -> None:
        """Something that happened, in words."""
        self._write(events.insert(events.Event(time.time(), stage, step, level, kind, domain, message)))

    def add_evaluation(self, name: str, mode: evaluations.Mode, group: Group) -> None:
        """Outcomes of one evaluated task; evaluating again under the same name replaces them."""
        self._write(evaluations.insert(name, mode, group))

    def add_stage(
        self, name: str, seconds: float, *, tokens_generated: int = 0, tokens_trained: int = 0, tasks: int = 0
    ) -> None:
        """What a stage cost; recording it again replaces its figures."""
        self._write(stages.insert(stages.StageCost(name, seconds, tokens_generated, tokens_trained, tasks)))

    def add_ledger(self, entries: Sequence[ledger.LedgerEntry]) -> None:
        """Where groups stand now; a later entry of an ordinal takes the place of an earlier one."""
        if entries:
            self._write(ledger.upsert(entries))

    def rewind(
        self,
        stage: str,
        step: int,
        *,
        frontier: int | None = None,
        open_entries: Sequence[ledger.LedgerEntry] = (),
    ) -> None:
        """Forget what a resumed run will make again, all of it or nothing.

        Args:
            stage: whose metrics and samples are forgotten.
            step: the last step that stays.
            frontier: the first ordinal that is forgotten; None leaves the ledger as it is.
            open_entries: groups below it that were under way, as they stood.
        """
        place = ((stage, step),)
        self._write(
            Write("DELETE FROM metrics WHERE stage = ? AND step > ?", place),
            Write("DELETE FROM samples WHERE stage = ? AND step > ?", place),
            *(() if frontier is None else ledger.rewind(frontier, open_entries)),
        )

    def ledger(self, stage: str | None = None) -> list[ledger.LedgerEntry]:
        """Groups in order of ordinal; none in a run recorded before there was a ledger."""
        if not self._query(ledger.EXISTS):
            return []
        return [ledger.from_row(row) for row in self._query(ledger.SELECT, (stage,))]

    def metrics(self, stage: str, name: str, domain: str | None = None) -> metrics.Curve:
        """(step, value) in order of step; the whole run's when `domain` is None."""
        rows = self._query(metrics.SERIES, (stage, name, domain or ""))
        return [(step, metrics.number(value)) for step, value in rows]

    def curves(self, stage: str) -> dict[str, dict[str | None, metrics.Curve]]:
        """Every metric of a stage: {name: {domain, or None for the whole run: [(step, value)]}}."""
        return metrics.curves(self._query(metrics.CURVES, (stage,)))

    def metric_stages(self) -> list[str]:
        """Stages that have metrics, in the order they began."""
        return [stage for (stage,) in self._query(metrics.STAGES)]

    def sample_stages(self) -> list[str]:
        """Stages that have samples, in the order they began."""
        return [stage for (stage,) in self._query(samples.STAGES)]

    def domains(self, stage: str | None = None) -> list[str]:
        """Names of all domains that have samples (in a stage), sorted."""
        sql = "SELECT DISTINCT domain FROM samples WHERE ifnull(?1, stage) = stage ORDER BY domain"
        return [domain for (domain,) in self._query(sql, (stage,))]

    def samples(
        self,
        *,
        stage: str | None = None,
        domain: str | None = None,
        split: str | None = None,
        step: int | None = None,
        task_key: str | None = None,
        kind: str | None = None,
        passed: bool | None = None,
        order: Order = "recent",
        limit: int = 20,
    ) -> list[StoredSample]:
        """Samples that match every filter given.

        `best` and `worst` order scored samples by value, then advantage; `random` is the same choice every
        time; `kind` is scored, abstained or faulted.
        """
        filters: dict[str, object] = {
            "stage": stage, "domain": domain, "split": split, "step": step, "task_key": task_key,
            "kind": kind, "passed": passed,
        }  # fmt: skip
        sql, parameters = samples.select(filters, order, limit)
        return [samples.from_row(row) for row in self._query(sql, parameters)]

    def groups_drawn(self, stage: str) -> dict[str, int]:
        """How many groups of each domain a stage drew."""
        return dict(self._query(samples.DRAWN, (stage,)))

    def verdict_counts(self, stage: str) -> dict[str, dict[str, int]]:
        """{domain: {scored, abstained, faulted: how many samples}}; kinds that never occurred are absent."""
        counts: dict[str, dict[str, int]] = {}
        for domain, kind, count in self._query(verdicts.COUNTS, (stage,)):
            counts.setdefault(domain, {})[kind] = count
        return counts

    def events(self, level: events.Level | None = None, stage: str | None = None) -> list[events.Event]:
        """Events in the order they were recorded."""
        return [events.Event(*row) for row in self._query(events.SELECT, (level, stage))]

    def evaluations(
        self, name: str | None = None, mode: evaluations.Mode | None = None, domain: str | None = None
    ) -> list[evaluations.Outcome]:
        """Outcomes of evaluated samples, ordered by name, domain, mode, task and sample."""
        rows = self._query(evaluations.SELECT, (name, mode, domain))
        return [evaluations.from_row(row) for row in rows]

    def stages(self) -> list[stages.StageCost]:
        """What each stage cost, in the order they were first recorded."""
        return [stages.StageCost(*row) for row in self._query(stages.SELECT)]

    def _write(self, *writes: Write) -> None:
        if self._writer is None:
            raise StoreError(
                f"run database {self.path} was opened for reading", next_step="open it with read_only=False"
            )
        held: list[Write] | None = getattr(self._held, "writes", None)
        if held is None:
            self._writer.submit(writes)
        else:
            held.extend(writes)

    def _query(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple]:
        self.flush()
        return self._rows(sql, parameters)

    def _rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple]:
        with self._reader_lock, translated(self.path):
            if self._reader is None:
                raise StoreError(f"run database {self.path}: the store is closed", next_step="open it again")
            return self._reader.execute(sql, parameters).fetchall()
