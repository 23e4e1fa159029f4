"""The collapse guard: rules by hand, and whole runs in which they act."""

import pytest
import train_runs as runs

from burnish.errors import RecipeError
from burnish.recipe import GuardRule
from burnish.training.guard import NOTHING_SEEN, GuardState, last_good
from burnish.training.retention import Saved


def trips(rule, figures):
    """Steps at which a rule trips, given one figure a step."""
    state, found = NOTHING_SEEN, []
    for step, value in enumerate(figures, 1):
        state, now = state.after([rule], step, {rule.watch: value})
        found += [(step, trip.first) for trip in now]
    return found


def test_entropy_trips_after_steps_in_a_row_and_rests():
    rule = GuardRule(watch="entropy", limit=1.0, patience=2, rest=3)
    assert trips(rule, [0.5, 1.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]) == [(4, 3), (9, 8)]


def test_kl_trips_above_its_ceiling():
    assert trips(GuardRule(watch="kl", limit=0.1, patience=1), [0.05, 0.2]) == [(2, 2)]


def test_a_gradient_spike_is_measured_by_the_median_of_the_steps_before():
    rule = GuardRule(watch="grad_norm", limit=5.0, patience=1)
    assert trips(rule, [1.0] * 9 + [9.0]) == []  # too few to know what is usual
    assert trips(rule, [1.0] * 10 + [4.9, 5.1]) == [(12, 12)]


def test_reward_drop_is_from_the_best_mean_of_ten_steps():
    rule = GuardRule(watch="reward", limit=0.25, patience=1)
    # Ten steps of .8; each step of .3 then takes .05 from the mean: after six the drop is .3 > .25.
    assert trips(rule, [0.8] * 10 + [0.3] * 6) == [(16, 16)]


def test_unknown_figures_are_no_fault():
    rule = GuardRule(watch="kl", limit=0.1, patience=1)
    assert NOTHING_SEEN.after([rule], 1, {})[1] == []
    assert NOTHING_SEEN.after([rule], 1, {"kl": float("nan")})[1] == []


def test_state_survives_the_round_trip():
    state, _ = NOTHING_SEEN.after(
        [GuardRule(watch="reward", limit=0.1)], 1, {"reward": 0.5, "grad_norm": 2.0}
    )
    assert GuardState.from_json(state.to_json()) == state


def test_last_good_is_older_than_the_trouble_and_of_this_stage(tmp_path):
    rows = [("sft", 9, True), ("rl", 2, False), ("rl", 4, False), ("rl", 6, False)]
    saved = [Saved(tmp_path, i, stage, step, end, None) for i, (stage, step, end) in enumerate(rows)]
    good = last_good(saved, before=6)
    assert good is not None and good.step == 4
    assert last_good(saved, before=2) is None


def events(folder):
    return [text for (text,) in runs.rows(folder, "select message from events where kind = 'guard'")]


def test_a_rule_lowers_the_rate_and_says_so(tmp_path):
    console = runs.Listening()
    rule = {"watch": "entropy", "limit": 99.0, "patience": 2, "rest": 1, "factor": 0.5}
    folder = runs.train(tmp_path / "run", console=console, rl={"guard": [rule]})
    assert runs.metric(folder, "lr") == pytest.approx([1e-2, 1e-2, 5e-3, 5e-3, 5e-3, 2.5e-3])
    assert len(events(folder)) == 2
    assert any("learning rate is now 0.5" in said for said in console.warnings)


RESTORE = {"watch": "entropy", "limit": 99.0, "patience": 2, "act": "restore", "rest": 9, "factor": 0.5}


def test_a_rule_without_a_checkpoint_to_go_back_to_says_so(tmp_path):
    folder = runs.train(tmp_path / "run", rl={"guard": [RESTORE], "checkpoint_every": 5})
    assert "no checkpoint from before" in events(folder)[0]


def test_a_rule_puts_the_last_good_weights_back(tmp_path):
    """With patience 1 at step 3 the weights are those of step 2: no update of step 3 is left in them."""
    rule = {**RESTORE, "limit": 99.0, "patience": 3, "factor": 1e-9}
    tables = {"rl": {"guard": [rule], "checkpoint_every": 1, "keep_checkpoints": 9, "steps": 4}}
    console = runs.Listening()
    folder = runs.train(tmp_path / "run", console=console, **tables)
    # Steps 1 to 3 are wrong and nothing is older: the rate goes down to nothing instead.
    assert "no checkpoint from before" in events(folder)[0]
    rule = {"watch": "grad_norm", "limit": 1e-9, "patience": 1, "act": "restore", "factor": 1e-9}
    tables["rl"] |= {"guard": [rule], "steps": 12}
    folder = runs.train(tmp_path / "other", console=console, **tables)
    assert "the weights are those of step_000010 again" in events(folder)[0]
    short = runs.train(tmp_path / "short", rl={**tables["rl"], "guard": [], "steps": 10})
    assert runs.metric(folder, "reward")[:10] == runs.metric(short, "reward")


@pytest.mark.parametrize(
    ("rl", "sentence"),
    [
        ({"guard": [RESTORE]}, "checkpoint_every = 0 saves nothing"),
        ({"guard": [{"watch": "kl", "limit": 0.1}]}, "kl_coef = 0 measures none"),
    ],
)
def test_a_rule_that_cannot_act_is_refused(rl, sentence):
    with pytest.raises(RecipeError, match=sentence):
        runs.recipe(rl=rl)
