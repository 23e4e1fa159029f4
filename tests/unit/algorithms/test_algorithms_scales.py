import json
import math

import pytest

from burnish.algorithms.scales import DomainScales


def test_first_step_is_the_population_std_of_the_domain():
    # 1, 0, 0, 0: mean 1/4, variance 1/4 * 3/4 = 3/16.
    scales = DomainScales().update({"gcd": [[1.0, 0.0], [0.0, 0.0]]}, decay=0.9)
    assert scales.std("gcd") == pytest.approx(math.sqrt(3 / 16), rel=1e-12)


def test_decay_by_hand():
    # Two rewards 0, 2 (mean 1, squares 2) keep half their weight: weight 1, squares 1. Then one group 4, 4:
    # weight 2, mean 4, squares 0. Merged: weight 3, mean 1 + 3 * 2/3 = 3, squares 1 + 9 * (1 * 2)/3 = 7.
    scales = DomainScales().update({"gcd": [[0.0, 2.0]]}, 0.5).update({"gcd": [[4.0, 4.0]]}, 0.5)
    assert scales.to_json() == {"gcd": [3.0, 3.0, 7.0]}


def test_absent_domain_is_not_forgotten():
    start = DomainScales().update({"gcd": [[0.0, 1.0]]}, 0.5)
    later = start.update({"lcm": [[0.0, 1.0]]}, 0.5)
    assert later.moments["gcd"] == start.moments["gcd"]


def test_group_without_scored_samples_changes_nothing():
    start = DomainScales().update({"gcd": [[0.0, 1.0]]}, 0.5)
    assert start.update({"gcd": [[], []]}, 0.5) == start


def test_update_leaves_the_old_state_alone():
    start = DomainScales().update({"gcd": [[0.0, 1.0]]}, 0.5)
    before = start.to_json()
    start.update({"gcd": [[1.0, 1.0]]}, 0.5)
    assert start.to_json() == before


def test_unknown_domain_has_no_spread():
    assert DomainScales().std("gcd") == 0.0


def test_json_round_trip_is_exact():
    scales = DomainScales().update({"b": [[0.1, 0.7, 1 / 3]], "a": [[1.0, 0.0]]}, 0.9)
    assert DomainScales.from_json(json.loads(json.dumps(scales.to_json()))) == scales
