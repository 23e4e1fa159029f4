"""Random histories of the ledger keep its invariants; its table follows from the rows it returns."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from burnish.records import Split
from burnish.training.ledger import NO_SIGNAL, IllegalMoveError, Ledger, Result

FINAL = ("trained", "dropped")
LEGAL = {
    None: {"leased"},
    "leased": {"pending", "done", "dropped"},
    "pending": {"leased", "dropped"},
    "done": {"pending", "trained", "dropped"},
}


def places(count, start=0):
    return [("d", Split.TRAIN, 0, start + i) for i in range(count)]


class History(RuleBasedStateMachine):
    """Any moves in any order, legal or not, beside a table that only sees the rows."""

    def __init__(self):
        super().__init__()
        self.ledger = Ledger()
        self.table = {}
        self.trained = []
        self.step = 0

    def apply(self, move):
        """Do a move; a refused one must change nothing."""
        before = self.ledger
        try:
            after, changed = move(before)
        except IllegalMoveError:
            assert self.ledger is before
            return
        for entry in changed:
            old = self.table.get(entry.ordinal)
            assert entry.state in LEGAL[old.state if old else None]
            self.table[entry.ordinal] = entry
            if entry.state == "trained":
                self.trained.append(entry.ordinal)
        self.ledger = after

    ordinals = st.lists(st.integers(0, 12), max_size=4)

    @rule(count=st.integers(0, 4))
    def lease(self, count):
        start = self.ledger.frontier
        self.apply(lambda x: x.lease(places(count, start), stage="rl", step=self.step + 1, version=self.step))

    @rule(ordinals=ordinals)
    def release(self, ordinals):
        self.apply(lambda x: x.release(ordinals))

    @rule(ordinals=ordinals)
    def renew(self, ordinals):
        self.apply(lambda x: x.renew(ordinals, self.step))

    @rule(ordinals=ordinals, attempt=st.integers(0, 3), version=st.integers(0, 5))
    def done(self, ordinals, attempt, version):
        results = [Result(o, attempt, version, version + 1, 7) for o in ordinals]
        self.apply(lambda x: x.done(results))

    @rule(ordinals=ordinals)
    def train(self, ordinals):
        self.apply(lambda x: x.trained(ordinals, step=self.step + 1, version=self.step))

    @rule(ordinals=ordinals)
    def drop(self, ordinals):
        self.apply(lambda x: x.drop(ordinals, NO_SIGNAL))

    @rule()
    def next_step(self):
        self.step += 1

    @precondition(lambda self: self.ledger.frontier)
    @rule()
    def save_and_resume(self):
        self.ledger = Ledger.from_json(json.loads(json.dumps(self.ledger.to_json())))

    @invariant()
    def every_ordinal_is_in_exactly_one_state(self):
        assert sorted(self.table) == list(range(self.ledger.frontier))
        open_ = {o: e for o, e in self.table.items() if e.state not in FINAL}
        assert {e.ordinal: e for e in self.ledger.open} == open_
        assert len(self.ledger.open) == len(open_)

    @invariant()
    def none_is_trained_twice(self):
        assert len(self.trained) == len(set(self.trained))

    @invariant()
    def none_is_trained_before_its_weights(self):
        assert all(e.version_last <= e.trained_version for e in self.table.values() if e.state == "trained")


History.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
test_any_history = History.TestCase


@given(attempts=st.integers(1, 5), late=st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_only_the_result_of_the_last_attempt_is_accepted(attempts, late):
    ledger, _ = Ledger().lease(places(1), stage="rl", step=1, version=0)
    for _ in range(attempts):
        ledger, _ = ledger.release([0])
        ledger, _ = ledger.renew([0])
    assert ledger.accepts(0, late) == (late == attempts)
    result = Result(0, late, 0, 0, 5)
    if late == attempts:
        ledger, _ = ledger.done([result])
        assert not ledger.accepts(0, late)
    with pytest.raises(IllegalMoveError):
        ledger.done([result])


@given(
    counts=st.lists(st.integers(0, 5), max_size=6),
    dropped=st.sets(st.integers(0, 30)),
    first=st.integers(0, 9),
)
@settings(max_examples=50, deadline=None)
def test_json_and_back_is_the_same_and_stays_small(counts, dropped, first):
    ledger = Ledger(first, (), first)
    for step, count in enumerate(counts):
        ledger, _ = ledger.lease(places(count, ledger.frontier), stage="rl", step=step, version=step)
    ledger, _ = ledger.drop([e.ordinal for e in ledger.open if e.ordinal in dropped], "no signal")
    assert Ledger.from_json(json.loads(json.dumps(ledger.to_json()))) == ledger
    emptied, _ = ledger.drop([e.ordinal for e in ledger.open], "no signal")
    assert len(json.dumps(emptied.to_json())) < 80


def test_a_refused_move_says_which_group_and_why():
    ledger, _ = Ledger().lease(places(2), stage="rl", step=1, version=0)
    with pytest.raises(IllegalMoveError, match="group 1 is leased, not done"):
        ledger.trained([1], step=1, version=0)
    ledger, _ = ledger.drop([1], "no signal")
    with pytest.raises(IllegalMoveError, match="group 1 is settled"):
        ledger.drop([1], "no signal")
    with pytest.raises(IllegalMoveError, match="group 2 is unknown"):
        ledger.drop([2], "no signal")
    assert dataclasses.is_dataclass(ledger)
