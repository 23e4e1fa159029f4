"""What becomes of the groups of a step, and old states."""

from __future__ import annotations

import json

import pytest

from burnish.records import Abstained, Group, Sample, Scored, Split, Task
from burnish.training.ledger import IllegalMoveError, Ledger
from burnish.training.settle import settle
from burnish.training.state import RunState

GOOD, BAD, UNKNOWN = Scored(1.0, True), Scored(0.0, False), Abstained("?")


def group(ordinal, *verdicts, versions=(3, 4)):
    task = Task("d", Split.TRAIN, 0, ordinal, ())
    samples = tuple(Sample("x", i, (1, 2), (0.0, 0.0), versions) for i in range(len(verdicts)))
    return Group(ordinal, task, (1,), samples, verdicts)


def leased(count, version=3):
    places = [("d", Split.TRAIN, 0, i) for i in range(count)]
    return Ledger().lease(places, stage="rl", step=5, version=version)[0]


def test_every_group_of_a_step_ends_in_the_state_it_deserves():
    groups = [group(0, GOOD, BAD), group(1, GOOD, GOOD), group(2, UNKNOWN, UNKNOWN), group(3, GOOD, BAD)]
    ledger, changed = settle(leased(5), groups, {0}, step=5, version=4, stale={3})
    ends = {e.ordinal: (e.state, e.reason) for e in changed}
    assert ends == {
        0: ("trained", None),
        1: ("dropped", "no signal"),
        2: ("dropped", "no verdict"),
        3: ("dropped", "stale"),
    }
    assert [e.ordinal for e in ledger.open] == [4]


def test_a_settled_group_keeps_its_versions_tokens_and_attempts():
    _, (entry,) = settle(leased(1), [group(0, GOOD, BAD)], {0}, step=5, version=4, repeats={0: 2})
    assert (entry.version_first, entry.version_last, entry.tokens, entry.attempt) == (3, 4, 4, 2)
    assert (entry.trained_step, entry.trained_version) == (5, 4)


def test_a_group_without_a_token_is_of_the_version_of_its_lease():
    empty = Group(0, Task("d", Split.TRAIN, 0, 0, ()), (1,), (Sample(""), Sample("", 1)), (GOOD, GOOD))
    _, (entry,) = settle(leased(1, version=7), [empty], set(), step=5, version=7)
    assert (entry.version_first, entry.version_last, entry.tokens) == (7, 7, 0)


def test_tokens_of_weights_that_came_later_cannot_be_trained_on():
    with pytest.raises(IllegalMoveError, match="version 4 at version 3"):
        settle(leased(1), [group(0, GOOD, BAD)], {0}, step=5, version=3)


def test_a_step_cannot_be_settled_twice():
    ledger, _ = settle(leased(1), [group(0, GOOD, BAD)], {0}, step=5, version=4)
    with pytest.raises(IllegalMoveError, match="settled"):
        settle(ledger, [group(0, GOOD, BAD)], {0}, step=6, version=5)


def test_a_state_with_a_ledger_survives_json():
    state = RunState("rl", 5, False, 9, leased(3))
    assert RunState.from_json(json.loads(json.dumps(state.to_json()))) == state


def test_a_state_from_before_the_ledger_is_read():
    old = {**RunState("rl", 5, False, 9).to_json(), "ordinal": 40}
    del old["ledger"]
    state = RunState.from_json(old)
    assert (state.ordinal, state.ledger) == (40, Ledger(40, (), 40))
