"""The controllers, step by step, against their formulas."""

import pytest

from burnish.algorithms.controls import AT_REST, Controls
from burnish.algorithms.settings import AlgorithmSettings


def test_kl_controller_by_hand():
    # error 0.5/0.25 - 1 = 1 is cut at .2: 1 + .2 * 10/100 = 1.02; then .2/.25 - 1 = -.2: 1 - .02
    settings = AlgorithmSettings(kl_target=0.25, kl_horizon=100)
    up = AT_REST.after(settings, {"kl": 0.5, "entropy": 1.0}, 10)
    assert up.kl_scale == pytest.approx(1.02)
    assert up.after(settings, {"kl": 0.2, "entropy": 1.0}, 10).kl_scale == pytest.approx(1.02 * 0.98)


def test_entropy_controller_raises_below_its_target_and_rests_above():
    settings = AlgorithmSettings(entropy_target=1.0, entropy_step=0.01)
    low = AT_REST.after(settings, {"entropy": 0.5}, 8).after(settings, {"entropy": 0.5}, 8)
    assert low.entropy_extra == pytest.approx(0.02)
    high = low.after(settings, {"entropy": 1.5}, 8)
    assert (high.entropy_raise, high.entropy_extra) == (pytest.approx(0.01), 0.0)
    floor = high.after(settings, {"entropy": 1.5}, 8).after(settings, {"entropy": 1.5}, 8)
    assert floor.entropy_raise == 0.0


def test_without_targets_nothing_moves():
    assert AT_REST.after(AlgorithmSettings(), {"kl": 9.0, "entropy": 0.0}, 8) == AT_REST


def test_a_step_without_update_moves_no_kl():
    settings = AlgorithmSettings(kl_target=0.25, entropy_target=1.0)
    assert AT_REST.after(settings, {"entropy": float("nan")}, 8) == AT_REST


def test_state_survives_the_round_trip():
    controls = Controls(1.5, 0.25, entropy_on=False)
    assert Controls.from_json(controls.to_json()) == controls
    assert Controls.from_json({}) == AT_REST
