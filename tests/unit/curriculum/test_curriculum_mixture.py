import subprocess
import sys
from collections import Counter

import pytest
from pydantic import ValidationError

from burnish.curriculum.base import Draw, Outcome, build
from burnish.curriculum.mixture import Mixture, MixtureState
from burnish.curriculum.settings import CurriculumSettings
from burnish.errors import DomainError, RecipeError, TrainingError

LEVELS = {"math/gcd": 0, "math/lcm": 2, "games/sudoku": 1}


def test_draws_carry_level_and_count_up():
    draws, _ = Mixture(LEVELS, seed=3).draw(MixtureState(), 6)
    assert {(d.domain, d.level) for d in draws} == set(LEVELS.items())
    assert sorted(d.index for d in draws) == [0, 0, 0, 1, 1, 1]


def test_build_reads_settings():
    policy = build(CurriculumSettings(weights={"games/*": 0.0}), LEVELS, seed=1)
    draws, _ = policy.draw(policy.start(), 10)
    assert {d.domain for d in draws} == {"math/gcd", "math/lcm"}


def test_shares_follow_weights():
    # weights 2, 2 and 1 of 5
    mixture = Mixture(LEVELS, {"math/*": 2.0})
    assert mixture.shares(MixtureState()) == {"games/sudoku": 0.2, "math/gcd": 0.4, "math/lcm": 0.4}


def test_last_matching_weight_counts():
    mixture = Mixture(LEVELS, {"math/*": 2.0, "math/gcd": 5.0})
    assert mixture.weights == {"games/sudoku": 1.0, "math/gcd": 5.0, "math/lcm": 2.0}


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({"math/*": -1.0}, ["'math/*'", "-1.0", "0 or more"]),
        ({"math/*": float("nan")}, ["'math/*'", "nan"]),
        ({"maths/gcd": 1.0}, ["'maths/gcd'", "matches no training domain", "did you mean 'math/gcd'"]),
        ({"*": 0.0}, ["curriculum.weights", "'*' = 0", "above 0"]),
    ],
)
def test_wrong_weights_are_named(weights, words):
    with pytest.raises(RecipeError) as caught:
        Mixture(LEVELS, weights)
    for word in words:
        assert word in str(caught.value)


def test_no_domain_is_a_recipe_error():
    with pytest.raises(RecipeError, match="no domain to train on"):
        Mixture({})


def test_settings_refuse_unknown_keys():
    with pytest.raises(ValidationError, match="weight"):
        CurriculumSettings.model_validate({"weight": {}})


def test_quarantined_domain_is_not_drawn_again():
    mixture = Mixture(LEVELS, seed=5)
    _, state = mixture.draw(mixture.start(), 4)
    state = mixture.quarantine(state, "math/gcd", "every task faults")
    draws, _ = mixture.draw(state, 40)
    counts = Counter(d.domain for d in draws)
    assert "math/gcd" not in counts
    assert abs(counts["math/lcm"] - counts["games/sudoku"]) <= 1


def test_quarantine_keeps_the_first_reason():
    mixture = Mixture(LEVELS)
    state = mixture.quarantine(mixture.start(), "math/gcd", "first")
    assert mixture.quarantine(state, "math/gcd", "second").quarantined == {"math/gcd": "first"}


def test_a_released_domain_is_drawn_again_and_does_not_catch_up():
    mixture = Mixture(LEVELS, seed=5)
    state = mixture.quarantine(mixture.start(), "math/gcd", "every task faults")
    _, state = mixture.draw(state, 40)
    draws, _ = mixture.draw(mixture.release(state, "math/gcd"), 30)
    counts = Counter(d.domain for d in draws)
    assert set(counts) == set(LEVELS)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_quarantine_of_an_unknown_domain_is_refused():
    with pytest.raises(DomainError, match="math/gdc") as caught:
        Mixture(LEVELS).quarantine(MixtureState(), "math/gdc", "typo")
    assert "did you mean 'math/gcd'" in str(caught.value)


def test_all_quarantined_says_which_and_why():
    mixture = Mixture({"math/gcd": 0})
    state = mixture.quarantine(mixture.start(), "math/gcd", "generator crashed")
    with pytest.raises(TrainingError, match="math/gcd: generator crashed"):
        mixture.draw(state, 1)


def test_a_domain_that_joins_late_does_not_catch_up():
    _, state = Mixture({"a": 0, "b": 0}).draw(MixtureState(), 100)
    draws, _ = Mixture({"a": 0, "b": 0, "c": 0}).draw(state, 30)
    assert Counter(d.domain for d in draws) == {"a": 10, "b": 10, "c": 10}


def test_states_are_not_changed_in_place():
    mixture = Mixture(LEVELS)
    _, state = mixture.draw(mixture.start(), 5)
    before = state.to_json()
    mixture.draw(state, 5)
    mixture.quarantine(state, "math/gcd", "why")
    assert state.to_json() == before


def test_outcomes_do_not_move_a_fixed_mixture():
    mixture = Mixture(LEVELS)
    _, state = mixture.draw(mixture.start(), 5)
    outcome = Outcome(Draw("math/gcd", 0, 0), values=(0.0, 1.0), passed=1)
    assert mixture.observe(state, [outcome]) == state


def test_negative_count_is_refused():
    with pytest.raises(ValueError, match="-1"):
        Mixture(LEVELS).draw(MixtureState(), -1)


def test_curriculum_does_not_import_torch():
    code = "import sys, burnish.curriculum.mixture; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
