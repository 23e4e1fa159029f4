from __future__ import annotations

import math
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.errors import StoreError
from burnish.records import Abstained, Boundary, Faulted, Scored
from burnish.store import RunStore
from burnish.store.migrations import MIGRATIONS


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore.create(tmp_path / "run.sqlite") as opened:
        yield opened


def test_metrics_come_back_in_order_of_step(store: RunStore) -> None:
    store.add_metrics("rl", 2, {"reward": 0.5})
    store.add_metrics("rl", 1, {"reward": 0.25, "kl": 0.1})
    assert store.metrics("rl", "reward") == [(1, 0.25), (2, 0.5)]


def test_metrics_of_a_domain_are_apart_from_the_whole_run(store: RunStore) -> None:
    store.add_metrics("rl", 1, {"reward": 0.5})
    store.add_metrics("rl", 1, {"reward": 0.9}, domain="toy/sum")
    assert store.metrics("rl", "reward") == [(1, 0.5)]
    assert store.metrics("rl", "reward", "toy/sum") == [(1, 0.9)]


@pytest.mark.parametrize("domain", [None, "toy/sum"])
def test_a_repeated_step_replaces_its_metric(store: RunStore, domain: str | None) -> None:
    store.add_metrics("rl", 1, {"reward": 0.5}, domain)
    store.add_metrics("rl", 1, {"reward": 0.75}, domain)
    assert store.metrics("rl", "reward", domain) == [(1, 0.75)]


def test_nan_metric_comes_back_as_nan_and_infinity_as_infinity(store: RunStore) -> None:
    store.add_metrics("rl", 1, {"kl": math.nan, "loss": math.inf})
    assert math.isnan(store.metrics("rl", "kl")[0][1])
    assert store.metrics("rl", "loss") == [(1, math.inf)]


def test_curves_hold_every_metric_of_the_stage(store: RunStore) -> None:
    store.add_metrics("sft", 1, {"loss": 2.0})
    store.add_metrics("rl", 1, {"kl": 0.1})
    store.add_metrics("rl", 2, {"kl": 0.2})
    store.add_metrics("rl", 2, {"success": 1.0}, domain="a")
    assert store.curves("rl") == {"kl": {None: [(1, 0.1), (2, 0.2)]}, "success": {"a": [(2, 1.0)]}}
    assert store.metric_stages() == ["sft", "rl"]


def test_a_group_comes_back_whole(store: RunStore, make_group) -> None:
    verdicts = (
        Scored(0.75, True, {"format": 1.0, "answer": 0.5}, (0.0, 1.0)),
        Abstained("cannot tell"),
        Faulted(Boundary.JUDGE, "timed out"),
    )
    store.add_group("rl", 4, make_group(7, verdicts=verdicts), "What is 2+2?", [1.5, math.nan, math.nan])
    first, second, third = sorted(store.samples(), key=lambda s: s.sample_index)
    assert (first.verdict, second.verdict, third.verdict) == verdicts
    assert (first.advantage, second.advantage, third.advantage) == (1.5, None, None)
    assert (first.prompt_text, first.text, first.gold, first.stop) == (
        "What is 2+2?",
        "answer 0",
        "4",
        "length",
    )
    assert (first.stage, first.step, first.ordinal, first.task_key) == ("rl", 4, 7, "toy/sum:train:0:0")
    assert (first.tokens, first.mean_logprob, first.weight_version) == (2, -1.0, 3)


def test_best_worst_and_random_choose_as_named(store: RunStore, make_group) -> None:
    for n in range(10):
        store.add_group("rl", n, make_group(n, verdicts=(Scored(n / 10, n > 5),)), "p")
    store.add_group("rl", 10, make_group(10, verdicts=(Faulted(Boundary.DOMAIN, "crash"),)), "p")
    assert [s.ordinal for s in store.samples(order="best", limit=3)] == [9, 8, 7]
    assert [s.ordinal for s in store.samples(order="worst", limit=3)] == [0, 1, 2]
    assert [s.ordinal for s in store.samples(order="recent", limit=2)] == [10, 9]
    drawn = [s.ordinal for s in store.samples(order="random", limit=11)]
    assert sorted(drawn) == list(range(11))
    assert drawn != sorted(drawn)
    assert drawn == [s.ordinal for s in store.samples(order="random", limit=11)]


def test_filters_combine(store: RunStore, make_group) -> None:
    store.add_group("rl", 1, make_group(0, domain="a"), "p")
    store.add_group("rl", 2, make_group(1, domain="b"), "p")
    store.add_group("sft", 1, make_group(2, domain="b"), "p")
    assert [s.ordinal for s in store.samples(stage="rl", domain="b", passed=True)] == [1]
    assert store.samples(stage="rl", domain="b", kind="faulted") == []
    assert store.domains() == ["a", "b"]
    assert store.domains("sft") == ["b"]
    assert store.sample_stages() == ["rl", "sft"]


def test_groups_and_verdicts_are_counted_by_domain(store: RunStore, make_group) -> None:
    store.add_group("rl", 1, make_group(0, domain="a"), "p")
    store.add_group("rl", 1, make_group(1, domain="a"), "p")
    store.add_group("rl", 1, make_group(2, domain="b", verdicts=(Abstained("?"),)), "p")
    assert store.groups_drawn("rl") == {"a": 2, "b": 1}
    assert store.verdict_counts("rl") == {"a": {"scored": 4}, "b": {"abstained": 1}}


def test_events_are_kept_in_order_and_filtered_by_level(store: RunStore) -> None:
    store.add_event("rl", 1, "info", "checkpoint", "saved")
    store.add_event("rl", 2, "warning", "quarantine", "domain left out", domain="a")
    assert [e.kind for e in store.events()] == ["checkpoint", "quarantine"]
    (warning,) = store.events("warning")
    assert (warning.step, warning.domain, warning.message) == (2, "a", "domain left out")


def test_an_evaluation_under_the_same_name_replaces_its_outcomes(store: RunStore, make_group) -> None:
    store.add_evaluation("before", "greedy", make_group(verdicts=(Scored(1.0, True),)))
    store.add_evaluation("before", "sampled", make_group(verdicts=(Scored(1.0, True), Abstained("?"))))
    store.add_evaluation("before", "greedy", make_group(verdicts=(Scored(0.0, False),)))
    assert [(o.mode, o.sample_index, o.passed, o.value) for o in store.evaluations("before")] == [
        ("greedy", 0, False, 0.0),
        ("sampled", 0, True, 1.0),
        ("sampled", 1, None, None),
    ]
    assert store.evaluations("after") == []


def test_a_stage_recorded_again_keeps_its_place(store: RunStore) -> None:
    store.add_stage("sft", 1.0, tokens_trained=10)
    store.add_stage("rl", 2.0, tokens_generated=5, tasks=4)
    store.add_stage("sft", 3.0, tokens_trained=30)
    assert [(s.name, s.seconds, s.tokens_trained) for s in store.stages()] == [
        ("sft", 3.0, 30),
        ("rl", 2.0, 0),
    ]


def test_rewind_forgets_later_steps_with_their_verdicts(store: RunStore, make_group) -> None:
    for step in (1, 2, 3):
        store.add_metrics("rl", step, {"reward": step})
        store.add_group("rl", step, make_group(step), "p")
    store.add_group("sft", 9, make_group(9), "p")
    store.rewind("rl", 1)
    assert store.metrics("rl", "reward") == [(1, 1.0)]
    assert sorted({(s.stage, s.step) for s in store.samples()}) == [("rl", 1), ("sft", 9)]
    assert store.verdict_counts("rl") == {"toy/sum": {"scored": 2}}


@pytest.mark.parametrize("text", ["a\x00b", "\ud800 lone", "'); DROP TABLE samples; --", "🦊 \u202e"])
def test_any_text_can_be_stored(store: RunStore, make_group, text: str) -> None:
    store.add_group("rl", 1, make_group(verdicts=(Faulted(Boundary.DOMAIN, text),), texts=(text,)), text)
    (sample,) = store.samples()
    assert sample.text == text.encode("utf-8", "replace").decode()


def test_ids_go_on_after_opening_again(tmp_path: Path, make_group) -> None:
    path = tmp_path / "run.sqlite"
    with RunStore.create(path) as store:
        store.add_group("rl", 1, make_group(0), "p")
    with RunStore.open(path, read_only=False) as store:
        store.add_group("rl", 2, make_group(1), "p")
        assert sorted(s.id for s in store.samples()) == [1, 2, 3, 4]


def test_a_path_with_odd_characters_works(tmp_path: Path) -> None:
    path = tmp_path / "a ?mode=ro#100%"
    path.mkdir()
    with RunStore.create(path / "run.sqlite") as store:
        store.add_metrics("rl", 1, {"reward": 1.0})
    with RunStore.open(path / "run.sqlite") as store:
        assert store.metrics("rl", "reward") == [(1, 1.0)]


def test_create_never_overwrites(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    path.write_text("precious")
    with pytest.raises(StoreError, match="exists already"):
        RunStore.create(path)
    assert path.read_text() == "precious"


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    RunStore.create(tmp_path / "run.sqlite").close()
    with RunStore.open(tmp_path / "run.sqlite") as store, pytest.raises(StoreError, match="for reading"):
        store.add_metrics("rl", 1, {"reward": 1.0})


@pytest.mark.parametrize("read_only", [True, False])
def test_a_newer_schema_is_refused(tmp_path: Path, read_only: bool) -> None:
    path = tmp_path / "run.sqlite"
    RunStore.create(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(StoreError, match="newer Burnish"):
        RunStore.open(path, read_only=read_only)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_missing_or_foreign_file_is_refused(tmp_path: Path, read_only: bool) -> None:
    with pytest.raises(StoreError, match="no run database"):
        RunStore.open(tmp_path / "none.sqlite", read_only=read_only)
    garbage = tmp_path / "garbage.sqlite"
    garbage.write_bytes(b"not a database at all, but long enough to have a header" * 20)
    with pytest.raises(StoreError, match="not a SQLite database"):
        RunStore.open(garbage, read_only=read_only)


def test_a_foreign_database_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.sqlite") as connection:
        connection.execute("CREATE TABLE things (a)")
    connection.close()
    with pytest.raises(StoreError, match="not a run database"):
        RunStore.open(tmp_path / "other.sqlite")


def test_a_reader_sees_rows_while_a_writer_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "run.sqlite"
    seen: list[int] = []
    with RunStore.create(path) as writer:
        writer.flush()
        done = threading.Event()

        def read() -> None:
            with RunStore.open(path) as reader:
                while not done.is_set():
                    seen.append(len(reader.metrics("rl", "reward")))
                seen.append(len(reader.metrics("rl", "reward")))

        thread = threading.Thread(target=read)
        thread.start()
        for step in range(2000):
            writer.add_metrics("rl", step, {"reward": 1.0})
        writer.flush()
        done.set()
        thread.join()
    assert seen == sorted(seen)
    assert seen[-1] == 2000


def test_many_threads_may_add(store: RunStore, make_group) -> None:
    def add(worker: int) -> None:
        for n in range(50):
            store.add_group("rl", worker, make_group(worker * 50 + n), "p")

    threads = [threading.Thread(target=add, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.groups_drawn("rl") == {"toy/sum": 200}
    assert store.verdict_counts("rl") == {"toy/sum": {"scored": 400}}


def test_what_is_added_together_is_written_together(store: RunStore, make_group) -> None:
    with store.together():
        store.add_metrics("rl", 1, {"reward": 1.0})
        with store.together():
            store.add_group("rl", 1, make_group(0), "p")
        assert store.metrics("rl", "reward") == []
        assert store.samples() == []
    assert store.metrics("rl", "reward") == [(1, 1.0)]
    assert len(store.samples()) == 2


def test_a_block_that_raises_writes_nothing_and_the_store_goes_on(store: RunStore) -> None:
    with pytest.raises(ZeroDivisionError), store.together():
        store.add_metrics("rl", 1, {"reward": 1.0})
        raise ZeroDivisionError
    store.add_metrics("rl", 2, {"reward": 2.0})
    assert store.metrics("rl", "reward") == [(2, 2.0)]


def test_a_block_holds_back_only_its_own_thread(store: RunStore) -> None:
    with store.together():
        thread = threading.Thread(target=lambda: store.add_metrics("rl", 1, {"reward": 1.0}))
        thread.start()
        thread.join()
        assert store.metrics("rl", "reward") == [(1, 1.0)]
