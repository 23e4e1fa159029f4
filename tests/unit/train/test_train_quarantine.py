"""Graders that break: no fault reaches a loss, broken domains are left alone and tried again."""

import json

import pytest
import train_runs as runs

from burnish.errors import TrainingError
from burnish.records import Boundary, Faulted, Group, Message, Sample, Scored, Split, Task
from burnish.training.quarantine import NONE_OPEN, Breakers, Rule

FAULT = Faulted(Boundary.DOMAIN, "it broke")
RULE = Rule(after=2, wait=5)


def group(domain, *verdicts):
    task = Task(domain, Split.TRAIN, 0, 0, (Message("user", "?"),))
    return Group(0, task, (1,), tuple(Sample("", i) for i in range(len(verdicts))), verdicts)


def after(breakers, step, *groups):
    return breakers.after(groups, step, RULE)


BROKEN, FINE = group("a", FAULT, FAULT), group("a", FAULT, Scored(0.0, passed=False))


def test_a_breaker_opens_after_so_many_groups_without_a_verdict():
    breakers, opened, _ = after(NONE_OPEN, 1, BROKEN)
    assert (opened, breakers.open) == ([], [])
    breakers, opened, _ = after(breakers, 2, BROKEN)
    assert breakers.open == ["a"]
    assert opened[0].domain == "a"
    assert "2 groups in a row" in opened[0].reason
    assert "it broke" in opened[0].reason


def test_one_verdict_in_a_step_begins_the_count_anew():
    breakers, _, _ = after(NONE_OPEN, 1, BROKEN)
    breakers, opened, mended = after(breakers, 2, BROKEN, FINE, BROKEN)
    assert (opened, mended, breakers.open) == ([], [], [])


def test_it_is_tried_again_after_the_wait_and_then_after_twice_as_long():
    breakers, _, _ = after(NONE_OPEN, 2, BROKEN, BROKEN)
    assert breakers.due(6) == []
    assert breakers.due(7) == ["a"]
    breakers = breakers.tried_again(["a"])
    assert breakers.open == []
    breakers, opened, _ = after(breakers, 8, BROKEN)
    assert [o.domain for o in opened] == ["a"]
    assert breakers.due(17) == []
    assert breakers.due(18) == ["a"]


def test_a_verdict_while_half_open_closes_it():
    breakers, _, _ = after(NONE_OPEN, 2, BROKEN, BROKEN)
    breakers, _, mended = after(breakers.tried_again(["a"]), 8, FINE)
    assert mended == ["a"]
    assert breakers == NONE_OPEN


def test_groups_drawn_before_it_opened_do_not_open_it_twice():
    breakers, _, _ = after(NONE_OPEN, 2, BROKEN, BROKEN)
    again, opened, _ = after(breakers, 3, BROKEN)
    assert opened == []
    assert again.due(7) == ["a"]


def test_no_wait_means_never_again():
    breakers, opened, _ = NONE_OPEN.after([BROKEN], 1, Rule(after=1, wait=0))
    assert "not tried again" in opened[0].reason
    assert breakers.due(10**9) == []


def test_any_verdict_while_half_open_will_do():
    breakers, _, _ = after(NONE_OPEN, 2, BROKEN, BROKEN)
    breakers, opened, mended = after(breakers.tried_again(["a"]), 8, FINE, BROKEN)
    assert (breakers, opened, mended) == (NONE_OPEN, [], ["a"])


def test_the_state_survives_json():
    breakers, _, _ = after(NONE_OPEN, 2, BROKEN, BROKEN, group("b", FAULT))
    assert Breakers.from_json(json.loads(json.dumps(breakers.to_json()))) == breakers


class Ailing(runs.Parity):
    """Its grader breaks on its first tasks and works from then on."""

    def grade(self, task, sample):
        if task.index < 5:
            raise ConnectionError("down for maintenance")
        return super().grade(task, sample)


def test_a_domain_that_recovers_is_trained_on_again(tmp_path):
    import burnish

    console = runs.Listening()
    recipe = runs.recipe(rl={"steps": 10, "quarantine_steps": 2})
    burnish.train(recipe, tmp_path / "run", console=console, domains=[Ailing("test/ailing"), runs.Parity()])
    events = runs.rows(
        tmp_path / "run", "select message from events where domain = 'test/ailing' order by rowid"
    )
    said = [message for (message,) in events]
    assert "down for maintenance" in said[0]
    assert "is tried again" in said
    assert "works again" in said
    assert said.index("works again") > said.index("is tried again")
    assert sum("quarantined" in w for w in console.warnings) == sum("in a row" in m for m in said)


def test_with_nothing_left_the_run_stops_and_a_resumed_one_tries_again(tmp_path):
    with pytest.raises(TrainingError, match="no domain is left"):
        runs.train(tmp_path / "run", Ailing())
    done = len(runs.metric(tmp_path / "run", "reward"))
    assert done < 6
    runs.train(tmp_path / "run", Ailing(), resume=True)
    assert len(runs.metric(tmp_path / "run", "reward")) == 6


def test_thrown_away_verdicts_are_faults_and_reach_no_loss(tmp_path):
    folder = runs.train(tmp_path / "run", rl={"fault_rate": 0.4, "steps": 4})
    verdicts = runs.rows(
        folder, "select kind, advantage from samples join verdicts on sample_id = id where stage = 'rl'"
    )
    faulted = [advantage for kind, advantage in verdicts if kind == "faulted"]
    assert 0.2 < len(faulted) / len(verdicts) < 0.6
    assert set(faulted) <= {0.0, None}


def test_with_a_fifth_of_the_verdicts_gone_it_learns_as_from_a_fifth_fewer_samples(tmp_path):
    """After 30 steps it is where the clean run was after 24, and not ahead of the clean run."""

    def curve(seed, rate):
        rl = {"steps": 30, "prompts_per_step": 8, "lr": 5e-3, "fault_rate": rate}
        folder = runs.train(tmp_path / f"{seed} {rate}", runs.Evens(), seed=seed, rl=rl)
        rewards = runs.metric(folder, "reward")
        return sum(rewards[19:24]) / 5, sum(rewards[25:]) / 5

    clean, drilled = ([curve(seed, rate) for seed in range(2)] for rate in (0.0, 0.2))
    earlier, last = (sum(run[i] for run in clean) / 2 for i in (0, 1))
    reached = sum(run[1] for run in drilled) / 2
    assert last > 0.7
    assert earlier - 0.03 < reached < last + 0.03
