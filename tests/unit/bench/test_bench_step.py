import pytest

from burnish.bench.step_task import split
from burnish.spans import Recorder

S = 1_000_000_000


def _record(*spans: tuple[str, float, float]) -> Recorder:
    record = Recorder()
    for name, start, stop in spans:
        record.add(name, round(start * S), round(stop * S))
    return record


def test_parts_and_the_rest_make_up_the_step():
    record = _record(("step", 0, 10), ("rollout", 0, 4), ("update", 5, 9), ("record", 9, 9.5))
    (step,) = split(record)
    assert (step["rollout"], step["update"], step["record"]) == (4, 4, 0.5)
    assert (step["total"], step["other"], step["outside"]) == (10, 1.5, 2)


def test_what_lies_inside_another_part_counts_once():
    record = _record(("step", 0, 10), ("draw", 0, 3), ("tasks", 1, 2), ("sync", 3, 9), ("rollout", 4, 8))
    (step,) = split(record)
    assert {n: step[n] for n in ("draw", "tasks", "sync", "rollout")} == {
        "draw": 2, "tasks": 1, "sync": 2, "rollout": 4,
    }  # fmt: skip
    assert step["other"] == 1


def test_work_between_steps_and_in_other_threads_does_not_count():
    record = _record(("step", 0, 1), ("step", 5, 6), ("checkpoint", 2, 4))
    record.add("grade", 0, S // 2, process=7, track="elsewhere")
    first, second = split(record)
    assert first["checkpoint"] == second["checkpoint"] == first["grade"] == 0


def test_unknown_names_are_left_to_the_part_around_them():
    (step,) = split(_record(("step", 0, 2), ("rollout", 0, 2), ("prefill", 0, 1)))
    assert step["rollout"] == pytest.approx(2)
