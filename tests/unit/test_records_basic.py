import dataclasses

import pytest

from burnish.records import (
    Abstained,
    Boundary,
    Faulted,
    Group,
    Message,
    Sample,
    Scored,
    Split,
    StopReason,
    Task,
)

TASK = Task(
    "reasoning-gym/arithmetic/chain_sum", Split.EVAL, 2, 7, (Message("user", "1 + 1"),), "2", {"x": [1]}
)


@pytest.mark.parametrize(
    ("record", "field"),
    [
        (TASK, "index"),
        (Message("user", "hi"), "content"),
        (Sample("2"), "text"),
        (Scored(1.0, True), "value"),
        (Abstained("unclear"), "reason"),
        (Faulted(Boundary.JUDGE, "down"), "error"),
        (Group(0, TASK, (1,), (Sample("2"),), (Scored(1.0, True),)), "ordinal"),
    ],
)
def test_records_cannot_be_changed(record, field):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, field, None)


def test_a_task_key_names_domain_split_level_and_index():
    assert TASK.key == "reasoning-gym/arithmetic/chain_sum:eval:2:7"


def test_keys_differ_in_every_part():
    changes = [{"domain": "b"}, {"split": Split.TRAIN}, {"level": 3}, {"index": 8}]
    assert len({TASK.key, *(dataclasses.replace(TASK, **change).key for change in changes)}) == 5


def test_a_task_can_be_hashed_whatever_its_grader_keeps():
    assert hash(TASK) == hash(dataclasses.replace(TASK, data={"y": {}}))


def test_a_scored_verdict_can_be_hashed_with_its_parts():
    assert len({Scored(1.0, True, {"format": 1.0}), Scored(0.0, False, {"format": 1.0})}) == 2


def test_names_are_plain_text_for_files_and_databases():
    assert [f"{split}" for split in Split] == ["train", "eval", "holdout"]
    assert f"{StopReason.LENGTH}" == "length"
    assert f"{Boundary.SANDBOX}" == "sandbox"


def test_a_sample_defaults_to_a_finished_first_one_without_tokens():
    sample = Sample("2")
    assert (sample.index, sample.token_ids, sample.stop) == (0, (), StopReason.EOS)
