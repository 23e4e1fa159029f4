"""Token losses against numbers worked by hand, closed-form gradients and finite differences."""

import math

import pytest
import torch

from burnish.algorithms.base import TokenBatch
from burnish.algorithms.build import build
from burnish.algorithms.catalogue import PRESETS
from burnish.algorithms.losses import outside_trust_region
from burnish.algorithms.settings import AlgorithmSettings


def read_by(name, **keys):
    """Settings of a preset, keys that it does not read left out."""
    return AlgorithmSettings(name=name, **{k: v for k, v in keys.items() if k in PRESETS[name].keys})


def logs(*probabilities):
    return torch.tensor(probabilities, dtype=torch.float64).log()


def vector(*values):
    return torch.tensor(values, dtype=torch.float64)


def loss_and_gradient(settings, pi, mu, ref, advantages):
    pi = pi.clone().requires_grad_()
    batch = TokenBatch(pi, mu, ref, advantages, torch.ones(len(pi), dtype=torch.int64))
    result = build(settings).token_loss(batch)
    (gradient,) = torch.autograd.grad(result.loss.sum(), pi)
    return result, gradient


PI, MU, REF = logs(0.5, 0.5, 0.1, 0.4), logs(0.25, 0.4, 0.2, 0.8), logs(0.5, 0.25, 0.1, 0.2)
ADVANTAGES = vector(1.0, 1.0, -2.0, -1.0)


def test_dppo_by_hand():
    # ratios 2, 1.25, .5, .5; moves .25, .1, -.1, -.4: token 0 (A > 0) and token 3 (A < 0) are masked.
    # gradient of the policy term -A r: 0, -1.25, 1, 0
    # towards mu 2 b log r, b = .1: .2 ln 2, .2 ln 1.25, -.2 ln 2, -.2 ln 2
    # towards ref k r l, k = .3: token 1 has r = 1.25, l = ln 2: .375 ln 2; token 3 r = .5, l = ln 2: .15 ln 2
    settings = AlgorithmSettings(behaviour_coef=0.1, kl_coef=0.3)
    result, gradient = loss_and_gradient(settings, PI, MU, REF, ADVANTAGES)
    ln2, ln125 = math.log(2), math.log(1.25)
    expected = vector(0.2 * ln2, -1.25 + 0.2 * ln125 + 0.375 * ln2, 1 - 0.2 * ln2, -0.2 * ln2 + 0.15 * ln2)
    torch.testing.assert_close(gradient, expected)
    assert result.metrics["clipped"].tolist() == [1.0, 0.0, 0.0, 1.0]
    # value of token 1: -1 * 1.25 * ln .5 + .1 ln(1.25)^2 + .3 * 1.25 * ln(2)^2 / 2
    assert result.loss[1].item() == pytest.approx(1.25 * ln2 + 0.1 * ln125**2 + 0.1875 * ln2**2)


def test_grpo_by_hand():
    # bounds .8 and 1.28. Token 0: r = 2 > 1.28, A > 0: clipped. Token 1: r = 1.25 inside: gradient -1.25.
    # Tokens 2, 3: r = .5 < .8, A < 0: clipped. k3 gradient k (1 - e^-l), k = .3: l = 0, ln 2, 0, ln 2.
    settings = AlgorithmSettings(name="grpo", kl_coef=0.3)
    result, gradient = loss_and_gradient(settings, PI, MU, REF, ADVANTAGES)
    torch.testing.assert_close(gradient, vector(0.0, -1.25 + 0.15, 0.0, 0.15))
    # values: -1.28, then -1.25 + .3 (1/2 - 1 + ln 2), then 2 * .8, then .8 + .3 (ln 2 - 1/2)
    k3 = 0.3 * (math.log(2) - 0.5)
    torch.testing.assert_close(result.loss.detach(), vector(-1.28, -1.25 + k3, 1.6, 0.8 + k3))
    assert result.metrics["clipped"].tolist() == [1.0, 0.0, 1.0, 1.0]


def test_grpo_leaves_tokens_free_that_move_against_their_advantage():
    # r = 2 with A < 0 and r = .5 with A > 0: the minimum takes the unclipped side, gradient -r A.
    settings = AlgorithmSettings(name="grpo", kl_coef=0.0)
    pi, mu = logs(0.5, 0.25), logs(0.25, 0.5)
    result, gradient = loss_and_gradient(settings, pi, mu, None, vector(-1.0, 1.0))
    torch.testing.assert_close(gradient, vector(2.0, -0.5))
    assert not result.metrics["clipped"].any()


def test_rloo_by_hand():
    # gradient -A min(r, c) + k min(r, c) l with c = 1.5, k = .3: ratios 2 -> 1.5, 1.25, .5, .5
    settings = AlgorithmSettings(name="rloo", ratio_cap=1.5, kl_coef=0.3)
    result, gradient = loss_and_gradient(settings, PI, MU, REF, ADVANTAGES)
    ln2 = math.log(2)
    torch.testing.assert_close(gradient, vector(-1.5, -1.25 + 0.375 * ln2, 1.0, 0.5 + 0.15 * ln2))
    assert result.metrics["clipped"].tolist() == [1.0, 0.0, 0.0, 0.0]


def test_metrics_by_hand():
    # mismatch r - 1 - ln r; kl e^-l - 1 + l
    metrics = build(AlgorithmSettings()).token_loss(TokenBatch(PI, MU, REF, ADVANTAGES)).metrics
    ln2, ln125 = math.log(2), math.log(1.25)
    torch.testing.assert_close(metrics["ratio"], vector(2.0, 1.25, 0.5, 0.5))
    torch.testing.assert_close(metrics["mismatch_k3"], vector(1 - ln2, 0.25 - ln125, ln2 - 0.5, ln2 - 0.5))
    torch.testing.assert_close(metrics["kl"], vector(0.0, ln2 - 0.5, 0.0, ln2 - 0.5))


def test_mask_needs_both_the_move_and_the_direction():
    pi, mu = logs(0.55, 0.45, 0.45, 0.55, 0.9), logs(0.25, 0.25, 0.75, 0.75, 0.1)
    both = outside_trust_region(pi, mu, vector(1, 1, -1, -1, -1), 0.25)
    assert both.tolist() == [True, False, True, False, False]
    assert not outside_trust_region(pi, mu, torch.zeros(5, dtype=torch.float64), 0.25).any()


def test_rare_tokens_stay_in_the_trust_region():
    # Ten times likelier, yet only 9e-6 of probability moved: a ratio clip would drop this token.
    pi, mu = logs(1e-5), logs(1e-6)
    _, gradient = loss_and_gradient(AlgorithmSettings(behaviour_coef=0, kl_coef=0), pi, mu, None, vector(1.0))
    torch.testing.assert_close(gradient, vector(-10.0))


def test_importance_weight_is_capped():
    pi, mu = logs(1e-3), logs(1e-6)
    _, gradient = loss_and_gradient(AlgorithmSettings(behaviour_coef=0, kl_coef=0), pi, mu, None, vector(1.0))
    torch.testing.assert_close(gradient, vector(-20.0))


@pytest.mark.parametrize("name", PRESETS)
def test_on_policy_all_presets_are_plain_policy_gradient(name):
    settings = AlgorithmSettings(name=name, kl_coef=0.0)
    _, gradient = loss_and_gradient(settings, PI, PI, None, ADVANTAGES)
    torch.testing.assert_close(gradient, -ADVANTAGES)


def test_grpo_gradient_equals_finite_differences():
    settings = AlgorithmSettings(name="grpo", kl_coef=0.3)
    algorithm = build(settings)

    def loss(pi):
        return algorithm.token_loss(TokenBatch(pi, MU, REF, ADVANTAGES)).loss

    assert torch.autograd.gradcheck(loss, (PI.clone().requires_grad_(),))


@pytest.mark.parametrize("name", ["dppo", "rloo"])
def test_stopped_ratio_has_the_gradient_of_the_ratio_objective(name):
    # d(pi/mu)/d log pi = pi/mu, so -A sg(r) log pi has the gradient of -A r, here by central differences.
    settings = read_by(name, kl_coef=0.0, behaviour_coef=0.0, trust_region=1.0)
    _, gradient = loss_and_gradient(settings, PI, MU, None, ADVANTAGES)
    step = 1e-6

    def objective(pi):
        return -ADVANTAGES * (pi - MU).exp()

    torch.testing.assert_close(gradient, (objective(PI + step) - objective(PI - step)) / (2 * step))


@pytest.mark.parametrize("name", PRESETS)
def test_expected_gradient_on_policy_is_that_of_the_expected_reward(name):
    # Enumerate a categorical: sum_y mu(y) * grad of the token loss = -grad sum_y pi(y) A(y) at pi = mu.
    logits = torch.tensor([0.3, -0.7, 1.1, 0.0], dtype=torch.float64, requires_grad=True)
    reward = vector(1.0, 0.0, 0.25, 0.0)
    pi = logits.log_softmax(0)
    result = build(AlgorithmSettings(name=name, kl_coef=0.0)).token_loss(
        TokenBatch(pi, pi.detach(), None, reward, torch.ones(4, dtype=torch.int64))
    )
    (ours,) = torch.autograd.grad((pi.detach().exp() * result.loss).sum(), logits, retain_graph=True)
    (exact,) = torch.autograd.grad(-(pi.exp() * reward).sum(), logits)
    torch.testing.assert_close(ours, exact)
