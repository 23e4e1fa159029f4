import json
import os

from burnish.observe.timeline import seconds_by_name, timeline_into, trace_events
from burnish.spans import Recorder, span


def _record() -> Recorder:
    record = Recorder()
    record.add("rollout", 5_000_000, 9_000_000, {"step": 1})
    record.add("step", 2_000_000, 10_000_000)
    record.add("decode", 6_000_000, 7_000_000, process=77, track="lane 0")
    return record


def test_events_are_complete_with_microseconds_from_the_first_span():
    events = [e for e in trace_events(_record())["traceEvents"] if e["ph"] == "X"]
    assert [(e["name"], e["ts"], e["dur"]) for e in events] == [
        ("step", 0.0, 8000.0),
        ("rollout", 3000.0, 4000.0),
        ("decode", 4000.0, 1000.0),
    ]
    assert events[1]["args"] == {"step": 1}


def test_processes_and_threads_have_names():
    names = [e for e in trace_events(_record())["traceEvents"] if e["ph"] == "M"]
    processes = {e["pid"]: e["args"]["name"] for e in names if e["name"] == "process_name"}
    assert processes == {os.getpid(): "burnish", 77: "worker 77"}
    assert "lane 0" in {e["args"]["name"] for e in names if e["name"] == "thread_name"}


def test_the_file_is_written_when_the_run_fails(tmp_path):
    try:
        with timeline_into(tmp_path), span("step"):
            raise RuntimeError
    except RuntimeError:
        pass
    events = json.loads((tmp_path / "timeline.json").read_text())["traceEvents"]
    assert "step" in {e["name"] for e in events}


def test_an_earlier_time_line_is_kept(tmp_path):
    for _ in range(2):
        with timeline_into(tmp_path), span("step"):
            pass
    assert sorted(p.name for p in tmp_path.iterdir()) == ["timeline-2.json", "timeline.json"]


def test_no_folder_no_file(tmp_path):
    with timeline_into(tmp_path / "gone"), span("step"):
        pass
    assert not (tmp_path / "gone").exists()


def test_seconds_add_up_by_name():
    record = _record()
    record.add("rollout", 0, 1_000_000_000)
    assert seconds_by_name(record, ["rollout", "sync"]) == {"rollout": 1.004, "sync": 0.0}
