import threading
import time

from burnish.spans import Recorder, recorder, recording, span


def _ticks():
    now = 0

    def clock() -> int:
        nonlocal now
        now += 1000
        return now

    return clock


def test_a_span_lasts_from_entry_to_exit():
    with recording(Recorder(_ticks())) as record, span("update", step=3):
        pass
    (only,) = record.spans
    assert (only.name, only.stop - only.start, only.facts) == ("update", 1000, {"step": 3})


def test_a_span_is_kept_when_its_block_fails():
    with recording() as record:
        try:
            with span("update"):
                raise ValueError
        except ValueError:
            pass
    assert [s.name for s in record.spans] == ["update"]


def test_nothing_is_recorded_without_a_recorder():
    with recording() as record:
        pass
    with span("update"):
        pass
    assert record.spans == []
    assert recorder() is None


def test_threads_have_their_own_tracks():
    with recording() as record:

        def work() -> None:
            with span("grade"):
                pass

        worker = threading.Thread(target=work, name="grading-2")
        worker.start()
        worker.join()
        with span("update"):
            pass
    assert sorted(record.threads.values()) == ["MainThread", "grading-2"]


def test_the_inner_record_ends_with_its_block():
    with recording() as outer:
        with recording() as inner, span("a"):
            pass
        with span("b"):
            pass
    assert ([s.name for s in inner.spans], [s.name for s in outer.spans]) == (["a"], ["b"])


def test_a_span_that_nobody_records_costs_less_than_two_microseconds():
    began = time.perf_counter()
    for _ in range(20_000):
        with span("update"):
            pass
    assert (time.perf_counter() - began) / 20_000 < 2e-6
