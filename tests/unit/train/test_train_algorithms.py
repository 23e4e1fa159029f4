"""Whole runs with what only some algorithms use: greedy baselines, steering, moving references, overrides."""

import json

import pytest
import train_runs as runs

from burnish import faults
from burnish.algorithms.catalogue import PRESETS


@pytest.fixture(autouse=True)
def no_faults_left():
    yield
    faults.set_plan("")


def gain(tmp_path, **tables):
    """Mean reward of the last three of twelve steps above that of the first three."""
    rl = {"steps": 12, "prompts_per_step": 8, **tables.pop("rl", {})}
    reward = runs.metric(runs.train(tmp_path / "run", runs.Evens(), rl=rl, **tables), "reward")
    return sum(reward[-3:]) / 3 - sum(reward[:3]) / 3


@pytest.mark.parametrize(
    "name", [name for name in PRESETS if name != "ppo"]
)  # its critic has tests of its own
def test_every_preset_learns(tmp_path, name):
    assert gain(tmp_path, algorithm={"name": name, "kl_coef": 0.0}) > 0.08


def test_coin_flips_teach_nothing(tmp_path):
    assert abs(gain(tmp_path, rl={"reward": "random"})) < 0.08


def state_of(folder):
    last = sorted((folder / "checkpoints").glob("step_*"))[-1]
    return json.loads((last / "state.json").read_text())


STEERED = {
    "name": "dppo", "kl_coef": 0.05, "kl_target": 0.001, "kl_horizon": 50, "entropy_target": 9.0,
    "entropy_step": 0.01,
}  # fmt: skip


def test_controllers_move_the_coefficients_and_are_part_of_the_state(tmp_path):
    folder = runs.train(tmp_path / "run", algorithm=STEERED)
    scale, bonus = runs.metric(folder, "kl_scale"), runs.metric(folder, "entropy_bonus")
    assert scale[-1] != 1.0
    assert bonus == pytest.approx([0.01 * i for i in range(1, 7)])
    controls = state_of(folder)["controls"]
    assert controls["kl_scale"] == scale[-1]
    assert controls["entropy_raise"] == pytest.approx(0.06)
    assert runs.metric(folder, "exact_entropy")[0] > 0


MOVING = [
    STEERED,
    {"name": "grpo", "kl_coef": 0.05, "reference_every": 2},
    {"name": "rloo", "kl_coef": 0.05, "kl_in": "reward", "kl_estimator": "k1", "reference_decay": 0.5},
    {"name": "remax", "kl_coef": 0.0},
]


@pytest.mark.parametrize("algorithm", MOVING, ids=lambda a: a["name"])
def test_a_resumed_run_ends_in_the_same_bits(tmp_path, algorithm):
    tables = {"algorithm": algorithm, "rl": {"checkpoint_every": 3}}
    whole, part = runs.broken_and_resumed(tmp_path, **tables)
    assert runs.weights(part) == runs.weights(whole)
    assert state_of(part)["controls"] == state_of(whole)["controls"]


def test_a_reference_that_becomes_the_policy_is_near_it_again(tmp_path):
    frozen = runs.train(tmp_path / "frozen", algorithm={"name": "grpo", "kl_coef": 1e-6})
    moved = runs.train(tmp_path / "moved", algorithm={"name": "grpo", "kl_coef": 1e-6, "reference_every": 3})
    before, after = runs.metric(frozen, "kl"), runs.metric(moved, "kl")
    assert before[:3] == after[:3]
    assert after[3] < 0.1 * before[3]


def test_the_greedy_baseline_is_drawn_and_never_trained_on(tmp_path):
    folder = runs.train(tmp_path / "run", algorithm={"name": "remax", "kl_coef": 0.0}, rl={"steps": 2})
    rows = runs.rows(folder, "select count(*) from samples where stage = 'rl'")
    assert rows == [(2 * 4 * 5,)]
