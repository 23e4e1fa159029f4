"""Identities of the estimators, by enumerating every outcome instead of sampling."""

import math
from itertools import product

import pytest
import torch

from burnish.algorithms.advantages import centred, leave_one_out, mean_normalised, standardised
from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.build import build
from burnish.algorithms.scales import DomainScales
from burnish.algorithms.settings import AlgorithmSettings

RATES = (0.02, 0.1, 0.5, 0.9)


def successes(k, n):
    values = torch.tensor([[1.0] * k + [0.0] * (n - k)], dtype=torch.float64)
    return values, torch.ones_like(values, dtype=torch.bool)


def multiplier(estimator, p, n):
    """Weight on grad p of one prompt: E over the group of mean A_i d log P(R_i)/dp, R Bernoulli(p)."""
    total = 0.0
    for k in range(n + 1):
        rewards, valid = successes(k, n)
        score = rewards / p - (1 - rewards) / (1 - p)
        weight = math.comb(n, k) * p**k * (1 - p) ** (n - k)
        total += weight * float((estimator(rewards, valid) * score).mean())
    return total


@pytest.mark.parametrize("n", [2, 4, 8])
@pytest.mark.parametrize("p", RATES)
def test_centred_is_flat_and_leave_one_out_unbiased(p, n):
    assert multiplier(centred, p, n) == pytest.approx((n - 1) / n, rel=1e-12)
    assert multiplier(leave_one_out, p, n) == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("n", [2, 4, 8])
@pytest.mark.parametrize("p", RATES)
def test_maxrl_climbs_the_log_of_the_success_rate(p, n):
    assert multiplier(mean_normalised, p, n) == pytest.approx((1 - (1 - p) ** (n - 1)) / p, rel=1e-12)


def test_group_std_approaches_the_inverse_root_of_the_variance():
    def exact(rewards, valid):
        return standardised(rewards, valid, eps=1e-12)

    gaps = [abs(multiplier(exact, 0.3, n) - 1 / math.sqrt(0.3 * 0.7)) for n in (8, 32, 128)]
    assert gaps[0] > gaps[1] > gaps[2]
    assert gaps[2] < 0.02


LOGITS = torch.tensor([0.3, -0.7, 1.1], dtype=torch.float64)
REWARDS = torch.tensor([1.0, 0.0, 0.25], dtype=torch.float64)
N = 3


def enumerated_gradient(name, **keys):
    """Expected gradient of the loss of one prompt in the logits, over all groups of N draws, on-policy.

    A completion is one token of three; sums of losses over a group are divided by N, so that inactive groups
    count as zero instead of leaving the mean.
    """
    algorithm = build(AlgorithmSettings(name=name, kl_coef=0.0, **keys), 1)
    total = torch.zeros(3, dtype=torch.float64)
    logp = LOGITS.log_softmax(0)
    draws = N + algorithm.needs.greedy
    for drawn in product(range(3), repeat=N):
        tokens = [*drawn, int(LOGITS.argmax())][:draws]
        rewards = REWARDS[tokens][None]
        batch = RewardBatch(rewards, torch.ones_like(rewards, dtype=torch.bool), ("d",), greedy=draws > N)
        advantages, _ = algorithm.advantages(batch, DomainScales())
        active = algorithm.active(batch)[0]
        if not active.any():
            continue
        logits = LOGITS.clone().requires_grad_()
        pi = logits.log_softmax(0)[tokens]
        lengths = torch.ones(draws, dtype=torch.int64)
        loss = algorithm.token_loss(TokenBatch(pi, pi.detach(), None, advantages[0], lengths)).loss
        (gradient,) = torch.autograd.grad((loss * active).sum() / N, logits)
        total += math.exp(float(logp[list(drawn)].sum())) * gradient
    return total


def policy_gradient():
    """Minus the gradient of the expected reward."""
    logits = LOGITS.clone().requires_grad_()
    return torch.autograd.grad(-(logits.softmax(0) * REWARDS).sum(), logits)[0]


@pytest.mark.parametrize("name", ["rloo", "remax"])
def test_baselines_of_others_do_not_change_the_expected_gradient(name):
    torch.testing.assert_close(enumerated_gradient(name), policy_gradient(), rtol=1e-10, atol=1e-12)


def test_a_baseline_that_includes_the_sample_shrinks_it_by_n_minus_1_over_n():
    expected = (N - 1) / N * policy_gradient()
    torch.testing.assert_close(enumerated_gradient("dr_grpo"), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["grpo", "dapo", "gspo", "cispo", "sapo", "maxrl", "dppo", "reinforce_pp"])
def test_normalised_presets_still_climb(name):
    """Their gradient is not that of the expected reward, yet following it raises the expected reward."""
    assert float(enumerated_gradient(name) @ policy_gradient()) > 0


SEQUENCE_LOGITS = torch.tensor([[0.2, -0.4], [0.5, 0.1], [-0.3, 0.6]], dtype=torch.float64)
"""Two tokens of two: the first row draws the first token, row 1 + token draws the second."""
SEQUENCE_REFERENCE = torch.tensor([[0.0, 0.3], [-0.2, 0.4], [0.1, 0.1]], dtype=torch.float64)


def two_tokens(table):
    """Log-probs [4, 2] of the tokens of the four sequences."""
    rows = table.log_softmax(1)
    return torch.stack([torch.stack([rows[0, a], rows[1 + a, b]]) for a, b in product((0, 1), repeat=2)])


def sequence_kl_gradient():
    table = SEQUENCE_LOGITS.clone().requires_grad_()
    pi, ref = two_tokens(table).sum(1), two_tokens(SEQUENCE_REFERENCE).sum(1)
    return torch.autograd.grad((pi.exp() * (pi - ref)).sum(), table)[0]


def pull(**keys):
    """Expected gradient of the KL pull alone: advantages 0, every sequence weighed by its probability."""
    table = SEQUENCE_LOGITS.clone().requires_grad_()
    pi, ref = two_tokens(table), two_tokens(SEQUENCE_REFERENCE)
    settings = AlgorithmSettings(name="rloo", kl_coef=1.0, **keys)
    flat, lengths = pi.flatten(), torch.full((4,), 2)
    batch = TokenBatch(flat, flat.detach(), ref.flatten(), torch.zeros(8, dtype=torch.float64), lengths)
    loss = build(settings).token_loss(batch).loss.reshape(4, 2).sum(1)
    return torch.autograd.grad((pi.sum(1).detach().exp() * loss).sum(), table)[0]


def test_k1_in_the_reward_has_the_gradient_of_the_sequence_kl():
    torch.testing.assert_close(pull(kl_in="reward", kl_estimator="k1"), sequence_kl_gradient())


def test_k2_in_the_loss_leaves_out_what_a_token_does_to_later_ones():
    ours, exact = pull(kl_in="loss", kl_estimator="k2"), sequence_kl_gradient()
    torch.testing.assert_close(ours[1:], exact[1:])  # the last token has no later ones
    assert not torch.allclose(ours[0], exact[0], atol=1e-3)


def test_k1_in_the_loss_has_no_expected_gradient():
    zero = torch.zeros(3, 2, dtype=torch.float64)
    torch.testing.assert_close(pull(kl_in="loss", kl_estimator="k1"), zero, rtol=0, atol=1e-12)


def test_k3_in_the_reward_is_the_difference_of_two_kl_gradients():
    # One token: grad KL(pi || ref) - grad KL(ref || pi).
    reference = torch.tensor([0.4, -0.1, 0.2], dtype=torch.float64).log_softmax(0)
    logits = LOGITS.clone().requires_grad_()
    pi = logits.log_softmax(0)
    batch = TokenBatch(
        pi, pi.detach(), reference, torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.int64)
    )
    settings = AlgorithmSettings(name="rloo", kl_coef=1.0, kl_in="reward", kl_estimator="k3")
    loss = (pi.detach().exp() * build(settings).token_loss(batch).loss).sum()
    (ours,) = torch.autograd.grad(loss, logits, retain_graph=True)
    both = (pi.exp() * (pi - reference)).sum() - (reference.exp() * (reference - pi)).sum()
    torch.testing.assert_close(ours, torch.autograd.grad(both, logits)[0])


def test_entropy_bonus_has_the_gradient_of_the_entropy():
    logits = LOGITS.clone().requires_grad_()
    pi = logits.log_softmax(0)
    entropy = -(pi.exp() * pi).sum()
    zero = torch.zeros(1, dtype=torch.float64)
    lengths = torch.ones(1, dtype=torch.int64)
    batch = TokenBatch(pi[:1], pi[:1].detach(), None, zero, lengths, entropy=entropy[None])
    settings = AlgorithmSettings(name="rloo", kl_coef=0.0, entropy_coef=0.5)
    loss = build(settings).token_loss(batch).loss.sum()
    (ours,) = torch.autograd.grad(loss, logits, retain_graph=True)
    torch.testing.assert_close(ours, -0.5 * torch.autograd.grad(entropy, logits)[0])
