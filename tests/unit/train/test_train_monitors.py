import math

import pytest
import torch

from burnish.records import Group, Sample, Split, Task
from burnish.training.monitors import Mismatch, mean_staleness, most_mismatch, warnings

FINE = {"ess": 1.0, "mismatch_k3": 0.0, "max_log_ratio": 0.0}


def seen(logprobs, behaviour, counts):
    mismatch = Mismatch()
    mismatch.add(*(torch.tensor(x, dtype=torch.float32) for x in (logprobs, behaviour, counts)))
    return mismatch


def test_effective_sample_size_is_that_of_the_definition():
    figures = seen([math.log(0.5), math.log(0.2)], [math.log(0.25), math.log(0.4)], [1, 1]).figures()
    assert figures["ess"] == pytest.approx((2 + 0.5) ** 2 / (2 * (4 + 0.25)))
    assert figures["max_log_ratio"] == pytest.approx(math.log(2))


def test_on_policy_every_token_counts():
    assert seen([-1.0, -2.0], [-1.0, -2.0], [3, 1]).figures() == {"ess": 1.0, "max_log_ratio": 0.0}
    assert Mismatch().figures() == {}


def test_merged_completions_weigh_as_often_as_they_were_drawn():
    merged = seen([-1.0, -2.0], [-1.5, -1.9], [3, 1]).figures()
    apart = seen([-1.0, -1.0, -1.0, -2.0], [-1.5, -1.5, -1.5, -1.9], [1, 1, 1, 1]).figures()
    assert merged["ess"] == pytest.approx(apart["ess"])


def test_staleness_is_a_mean_over_tokens():
    samples = (Sample("", 0, (1, 2, 3), (0.0,) * 3, (4, 5, 6)), Sample("", 1, (1,), (0.0,), (6,)))
    group = Group(0, Task("d", Split.TRAIN, 0, 0, ()), (1,), samples, ())
    assert mean_staleness([group], 6) == pytest.approx(3 / 4)
    assert mean_staleness([], 6) == 0.0


@pytest.mark.parametrize(
    ("figures", "bound", "kinds"),
    [
        (FINE, 0, set()),
        ({**FINE, "ess": 0.4}, 0, {"ess"}),
        ({**FINE, "mismatch_k3": 0.02}, 1, {"mismatch"}),
        ({**FINE, "mismatch_k3": 0.02}, 8, set()),
        ({**FINE, "max_log_ratio": 0.01}, 0, {"log_ratio"}),
        ({**FINE, "max_log_ratio": 0.01}, 1, set()),
        ({}, 0, set()),
    ],
)
def test_what_is_warned_about(figures, bound, kinds):
    assert warnings(figures, bound, exact=True).keys() == kinds


def test_the_bound_on_the_mismatch_grows_with_staleness():
    assert [most_mismatch(b) for b in (0, 1, 8)] == pytest.approx([0.01, 0.01, 0.05])
