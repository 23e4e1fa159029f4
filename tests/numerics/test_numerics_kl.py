"""Values and gradients of the KL estimators, by enumeration of a categorical."""

import pytest
import torch

from burnish.algorithms.base import TokenBatch
from burnish.algorithms.build import build
from burnish.algorithms.catalogue import PRESETS
from burnish.algorithms.kl import k1, k2, k3, mismatch_k3
from burnish.algorithms.settings import AlgorithmSettings

LOGITS = torch.tensor([0.3, -0.7, 1.1, 0.0], dtype=torch.float64)
REF = torch.tensor([-0.2, 0.4, 0.9, 0.6], dtype=torch.float64).log_softmax(0)
MU = torch.tensor([0.5, 0.1, 0.2, -0.3], dtype=torch.float64).log_softmax(0)


def read_by(name, **keys):
    """Settings of a preset, keys that it does not read left out."""
    return AlgorithmSettings(name=name, **{k: v for k, v in keys.items() if k in PRESETS[name].keys})


def policy():
    logits = LOGITS.clone().requires_grad_()
    return logits, logits.log_softmax(0)


def kl(p, q):
    return (p.exp() * (p - q)).sum()


def expected_gradient(estimator, sampler=None, weight=None):
    """Gradient of sum_y sampler(y) weight(y) estimator(y), the sampler held fixed."""
    logits, pi = policy()
    fixed = (pi if sampler is None else sampler).detach().exp()
    factor = 1.0 if weight is None else weight(pi)
    return torch.autograd.grad((fixed * factor * estimator(pi, REF)).sum(), logits)[0]


def gradient_of(divergence):
    logits, pi = policy()
    return torch.autograd.grad(divergence(pi), logits)[0]


def reverse():
    return gradient_of(lambda pi: kl(pi, REF))


def forward():
    return gradient_of(lambda pi: kl(REF, pi))


def stopped_ratio(pi):
    return (pi - MU).exp().detach()


def test_values_of_k1_and_k3_are_unbiased_and_of_k2_is_not():
    _, pi = policy()
    exact = kl(pi, REF)
    for estimator, unbiased in ((k1, True), (k3, True), (k2, False)):
        value = (pi.exp() * estimator(pi, REF)).sum()
        assert torch.allclose(value, exact, atol=1e-12) == unbiased


def test_k1_as_loss_has_no_gradient():
    torch.testing.assert_close(expected_gradient(k1), torch.zeros(4, dtype=torch.float64))


def test_k2_as_loss_is_the_reverse_kl_gradient():
    torch.testing.assert_close(expected_gradient(k2), reverse())


def test_k3_as_loss_is_the_forward_kl_gradient():
    torch.testing.assert_close(expected_gradient(k3), forward())
    assert not torch.allclose(forward(), reverse(), atol=1e-3)


def test_k2_of_foreign_samples_is_biased_without_the_ratio_and_exact_with_it():
    assert not torch.allclose(expected_gradient(k2, MU), reverse(), atol=1e-3)
    torch.testing.assert_close(expected_gradient(k2, MU, stopped_ratio), reverse())


def test_k1_subtracted_from_the_reward_has_the_gradient_of_k2():
    def charged(pi, ref):
        return k1(pi, ref).detach() * pi

    torch.testing.assert_close(expected_gradient(charged), expected_gradient(k2))


@pytest.mark.parametrize("name", ["dppo", "rloo"])
def test_presets_pull_along_the_reverse_kl_also_off_policy(name):
    logits, pi = policy()
    settings = read_by(name, kl_coef=0.5, behaviour_coef=0.0)
    zero = torch.zeros(4, dtype=torch.float64)
    result = build(settings).token_loss(TokenBatch(pi, MU, REF, zero))
    (gradient,) = torch.autograd.grad((MU.exp() * result.loss).sum(), logits)
    torch.testing.assert_close(gradient, 0.5 * reverse())


def test_grpo_pulls_along_the_forward_kl_on_policy():
    logits, pi = policy()
    zero = torch.zeros(4, dtype=torch.float64)
    result = build(AlgorithmSettings(name="grpo", kl_coef=0.5)).token_loss(
        TokenBatch(pi, pi.detach(), REF, zero)
    )
    (gradient,) = torch.autograd.grad((pi.detach().exp() * result.loss).sum(), logits)
    torch.testing.assert_close(gradient, 0.5 * forward())


def test_mismatch_estimates_kl_from_sampler_to_policy():
    _, pi = policy()
    torch.testing.assert_close((MU.exp() * mismatch_k3(pi, MU)).sum(), kl(MU, pi))


def test_k3_keeps_its_digits_near_zero():
    # l = 1e-6 in float32: e^-l - 1 + l is l^2/2 = 5e-13; the naive sum would round to 0 or 6e-8.
    near = k3(torch.tensor([1e-6]), torch.tensor([0.0]))
    assert 0 <= float(near) < 1e-12
