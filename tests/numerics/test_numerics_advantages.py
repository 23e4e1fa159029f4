"""Advantages against numbers worked by hand, and identities by enumeration."""

import math

import pytest
import torch

from burnish.algorithms.advantages import centred, has_signal, leave_one_out, live, standardised
from burnish.algorithms.base import RewardBatch
from burnish.algorithms.build import build
from burnish.algorithms.scales import DomainScales
from burnish.algorithms.settings import AlgorithmSettings


def group(*rewards):
    values = torch.tensor([rewards], dtype=torch.float64)
    return values, torch.ones_like(values, dtype=torch.bool)


def successes(k, n):
    return group(*([1.0] * k + [0.0] * (n - k)))


def test_centred_by_hand():
    # mean of 1, 0, 0, 1/2 is 3/8
    expected = torch.tensor([[5 / 8, -3 / 8, -3 / 8, 1 / 8]], dtype=torch.float64)
    torch.testing.assert_close(centred(*group(1, 0, 0, 0.5)), expected)


def test_leave_one_out_by_hand():
    # 1 - mean(0, 0, 1/2) = 5/6;  0 - mean(1, 0, 1/2) = -1/2;  1/2 - mean(1, 0, 0) = 1/6
    expected = torch.tensor([[5 / 6, -1 / 2, -1 / 2, 1 / 6]], dtype=torch.float64)
    torch.testing.assert_close(leave_one_out(*group(1, 0, 0, 0.5)), expected)


def test_standardised_by_hand():
    # deviations 3/4, -1/4 x3; squares 9/16 + 3/16 = 3/4; over n - 1 = 3: variance 1/4, std 1/2
    expected = torch.tensor([[1.5, -0.5, -0.5, -0.5]], dtype=torch.float64)
    torch.testing.assert_close(standardised(*group(1, 0, 0, 0), eps=0.0), expected)


@pytest.mark.parametrize("n", [2, 3, 8])
def test_leave_one_out_is_centred_times_n_over_n_minus_1(n):
    for k in range(n + 1):
        rewards, valid = successes(k, n)
        torch.testing.assert_close(
            leave_one_out(rewards, valid), n / (n - 1) * centred(rewards, valid), rtol=0, atol=1e-15
        )


@pytest.mark.parametrize("n", [2, 4, 8])
@pytest.mark.parametrize("p", [0.05, 0.5, 0.9])
def test_expected_centred_mass_is_2p_1_minus_p(n, p):
    # mean |A| over k successes of n is 2 k/n (n-k)/n; E[k (n-k)] = n (n-1) p (1-p) for k binomial.
    mass = sum(
        math.comb(n, k) * p**k * (1 - p) ** (n - k) * float(centred(*successes(k, n)).abs().mean())
        for k in range(n + 1)
    )
    assert mass == pytest.approx(2 * p * (1 - p) * (n - 1) / n, rel=1e-12)


@pytest.mark.parametrize(("p", "multiplier"), [(0.02, 2.41), (0.1, 2.18), (0.5, 1.74), (0.9, 2.18)])
def test_group_std_boosts_hard_and_easy_prompts_alike(p, multiplier):
    # Multiplier on grad p: E over the group of mean_i A_i * d log P(R_i)/dp, with
    # d log P/dp = 1/p for a success and -1/(1-p) for a failure.
    n = 8
    total = 0.0
    for k in range(n + 1):
        rewards, valid = successes(k, n)
        advantages = standardised(rewards, valid, eps=0.0).nan_to_num()
        score = torch.where(rewards > 0, 1 / p, -1 / (1 - p))
        total += math.comb(n, k) * p**k * (1 - p) ** (n - k) * float((advantages * score).mean())
    assert total == pytest.approx(multiplier, abs=0.006)


def test_group_std_amplifies_reward_floors_and_domain_std_does_not():
    floors, valid = group(*[0.01] * 7, 0.05)
    graded, _ = group(*[0.01] * 7, 1.0)
    torch.testing.assert_close(standardised(floors, valid, 0.0), standardised(graded, valid, 0.0))
    dppo = build(AlgorithmSettings())
    on_floors, _ = dppo.advantages(RewardBatch(floors, valid, ("gcd",)), DomainScales())
    on_graded, _ = dppo.advantages(RewardBatch(graded, valid, ("gcd",)), DomainScales())
    # std of the floors is .0132, below the floor of .1: the largest advantage is 7/8 * .04 / .1 = .35.
    # std of the others is .99 sqrt(7)/8, so theirs is 7/8 * 8/sqrt(7) = sqrt(7) = 2.646.
    assert float(on_floors.max()) == pytest.approx(0.35)
    assert float(on_graded.max()) == pytest.approx(math.sqrt(7))


def test_dppo_divides_by_the_spread_of_the_whole_domain():
    # Domain a: 1, 0, 0, 0 and 1, 1, 1, 1: mean 5/8, variance 15/64, std sqrt(15)/8. Domain b: std 1/2.
    rewards = torch.tensor([[1, 0, 0, 0], [1, 1, 1, 1], [1, 1, 0, 0]], dtype=torch.float64)
    batch = RewardBatch(rewards, torch.ones(3, 4, dtype=torch.bool), ("a", "a", "b"))
    advantages, scales = build(AlgorithmSettings()).advantages(batch, DomainScales())
    a = 8 / math.sqrt(15)
    expected = [[0.75 * a, -0.25 * a, -0.25 * a, -0.25 * a], [0.0] * 4, [1.0, 1.0, -1.0, -1.0]]
    torch.testing.assert_close(advantages, torch.tensor(expected, dtype=torch.float64))
    assert scales.std("b") == pytest.approx(0.5)


def test_dppo_remembers_earlier_steps_of_the_domain():
    # Step 1: rewards 0, 2 (mean 1, squares 2) keep half: weight 1, squares 1. Step 2: 0, 4 has mean 2,
    # squares 8. Merged: weight 3, squares 1 + 8 + 1 * (1 * 2)/3 = 29/3, std sqrt(29)/3; deviations are -2, 2.
    dppo = build(AlgorithmSettings(std_decay=0.5))
    _, scales = dppo.advantages(RewardBatch(*group(0, 2), ("a",)), DomainScales())
    advantages, _ = dppo.advantages(RewardBatch(*group(0, 4), ("a",)), scales)
    assert float(advantages[0, 1]) == pytest.approx(6 / math.sqrt(29))


def test_dppo_clips_advantages():
    # 31 zeros and a one: mean 1/32, std sqrt(31)/32, advantage of the one sqrt(31) = 5.57 > 5
    rewards, valid = group(*[0.0] * 31, 1.0)
    advantages, _ = build(AlgorithmSettings()).advantages(RewardBatch(rewards, valid, ("a",)), DomainScales())
    assert float(advantages.max()) == 5.0


def test_invalid_sample_leaves_the_mean_and_spares_its_group():
    # mean of the valid 1, 0, 0 is 1/3; the invalid one is NaN and gets 0
    rewards = torch.tensor([[1.0, float("nan"), 0.0, 0.0]], dtype=torch.float64)
    valid = torch.tensor([[True, False, True, True]])
    expected = torch.tensor([[2 / 3, 0.0, -1 / 3, -1 / 3]], dtype=torch.float64)
    torch.testing.assert_close(centred(rewards, valid), expected)
    # leave-one-out counts three samples: 1 - 0 and 0 - 1/2
    expected = torch.tensor([[1.0, 0.0, -0.5, -0.5]], dtype=torch.float64)
    torch.testing.assert_close(leave_one_out(rewards, valid), expected)


def test_one_valid_sample_is_no_signal():
    rewards = torch.tensor([[1.0, 0.0]])
    assert has_signal(rewards, torch.tensor([[True, False]])).tolist() == [False]
    assert has_signal(rewards, torch.tensor([[False, False]])).tolist() == [False]


def test_sample_at_the_mean_still_takes_part():
    rewards, valid = group(0.0, 0.5, 1.0)
    assert centred(rewards, valid)[0, 1] == 0
    assert live(rewards, valid).all()
