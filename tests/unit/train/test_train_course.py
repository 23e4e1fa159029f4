import json

from burnish.records import Abstained, Boundary, Faulted, Group, Sample, Scored, Split, StopReason, Task
from burnish.training.course import Schedule, Segment
from burnish.training.pending import group_from_json, group_to_json, place_of


def test_without_parts_a_batch_has_one_version_bound_steps_before_its_own():
    schedule = Schedule(origin=10, bound=2, partial=False, max_tokens=8)
    assert [schedule.segments(k) for k in range(4)] == [(Segment(10 + max(0, k - 2), 8),) for k in range(4)]


def test_part_j_of_a_batch_has_version_step_minus_bound_plus_j():
    schedule = Schedule(origin=0, bound=2, partial=True, max_tokens=8)
    assert schedule.segments(5) == (Segment(3, 3), Segment(4, 3), Segment(5, 2))
    assert schedule.segments(0) == (Segment(0, 8),)
    assert schedule.segments(1) == (Segment(0, 6), Segment(1, 2))


def test_there_are_never_more_parts_than_tokens():
    assert Schedule(0, 8, partial=True, max_tokens=2).segments(20) == (Segment(12, 1), Segment(13, 1))


def test_a_group_survives_the_checkpoint_to_the_bit():
    task = Task("a/b", Split.TRAIN, 1, 7, ())
    samples = (
        Sample("é\n", 0, (1, 2), (-0.1, -1e-17), (3, 4), StopReason.LENGTH),
        Sample("", 1, (), (), (), StopReason.EOS),
        Sample("x", 2, (5,), (-2.5,), (4,)),
    )
    verdicts = (Scored(1 / 3, True, {"p": 0.1}, (0.5,)), Abstained("why"), Faulted(Boundary.JUDGE, "no"))
    group = Group(9, task, (1, 2, 3), samples, verdicts)
    data = json.loads(json.dumps(group_to_json(group)))
    assert place_of(data) == ("a/b", Split.TRAIN, 1, 7)
    assert group_from_json(data, Group(9, task, (1, 2, 3), (), ())) == group
