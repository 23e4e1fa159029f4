import subprocess
import sys

import pytest
import torch

from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.build import build
from burnish.algorithms.catalogue import PRESETS
from burnish.algorithms.settings import AlgorithmSettings
from burnish.errors import DomainError

NAMES = tuple(PRESETS)


def tokens(**changes):
    fields = dict.fromkeys(("logprobs", "behaviour", "reference", "advantages"), torch.zeros(3))
    return TokenBatch(**{**fields, "lengths": torch.tensor([1, 2]), **changes})


@pytest.mark.parametrize("name", NAMES)
def test_build_gives_the_named_preset(name):
    assert build(AlgorithmSettings(name=name)).name == name


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_scored_reward_that_is_not_finite_is_named(value):
    rewards = torch.tensor([[0.0, 1.0, 0.0], [0.0, 1.0, value]])
    with pytest.raises(DomainError) as caught:
        RewardBatch(rewards, torch.ones(2, 3, dtype=torch.bool), ("sums", "gcd"))
    message = str(caught.value)
    assert "'gcd'" in message
    assert f"{value} for sample 2 of group 1" in message


def test_unscored_reward_may_be_anything():
    valid = torch.tensor([[True, True, False]])
    RewardBatch(torch.tensor([[0.0, 1.0, float("nan")]]), valid, ("gcd",))


@pytest.mark.parametrize(
    ("rewards", "valid", "domains", "message"),
    [
        (
            torch.zeros(2, 3),
            torch.ones(2, 4).bool(),
            ("a", "b"),
            r"valid has shape \[2, 4\], expected \[2, 3\]",
        ),
        (torch.zeros(2, 3), torch.ones(2, 3), ("a", "b"), r"valid has dtype torch.float32 .*\[2, 3\]"),
        (
            torch.zeros(2, 3),
            torch.ones(2, 3).bool(),
            ("a",),
            r"rewards has shape \[2, 3\], expected \[1, any\]",
        ),
        (torch.zeros(6), torch.ones(6).bool(), ("a",) * 6, r"rewards has shape \[6\]"),
        (torch.zeros(2, 3).int(), torch.ones(2, 3).bool(), ("a", "b"), r"rewards has dtype torch.int32"),
    ],
)
def test_reward_batch_names_what_does_not_fit(rewards, valid, domains, message):
    with pytest.raises(ValueError, match=message):
        RewardBatch(rewards, valid, domains)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"behaviour": torch.zeros(2)}, r"behaviour has shape \[2\], expected \[3\]"),
        ({"reference": torch.zeros(3, 1)}, r"reference has shape \[3, 1\], expected \[3\]"),
        ({"advantages": torch.zeros(3).double()}, r"advantages has dtype torch.float64"),
        ({"logprobs": torch.zeros(3, 1)}, r"logprobs has shape \[3, 1\], expected \[any\]"),
        ({"lengths": torch.tensor([1, 1])}, r"lengths of 2 samples sum to 2, expected 3 tokens"),
        ({"entropy": torch.zeros(2)}, r"entropy has shape \[2\], expected \[3\]"),
        ({"logprobs": torch.zeros(3).bfloat16()}, r"logprobs has dtype torch.bfloat16"),
    ],
)
def test_token_batch_names_what_does_not_fit(changes, message):
    with pytest.raises(ValueError, match=message):
        tokens(**changes)


@pytest.mark.parametrize("name", NAMES)
def test_kl_without_reference_is_refused(name):
    with pytest.raises(ValueError, match=r"kl_coef is 0.001, but the batch of 3 tokens has no reference"):
        build(AlgorithmSettings(name=name, kl_coef=1e-3)).token_loss(tokens(reference=None))


@pytest.mark.parametrize("name", NAMES)
def test_without_kl_no_reference_is_needed_and_none_is_reported(name):
    result = build(AlgorithmSettings(name=name, kl_coef=0.0)).token_loss(tokens(reference=None))
    assert set(result.metrics) == {"clipped", "ratio", "mismatch_k3"}


@pytest.mark.parametrize("name", NAMES)
def test_metrics_are_detached_and_one_per_token(name):
    logprobs = torch.zeros(3, requires_grad=True)
    result = build(AlgorithmSettings(name=name)).token_loss(tokens(logprobs=logprobs))
    assert set(result.metrics) == {"clipped", "ratio", "mismatch_k3", "kl"}
    for metric in result.metrics.values():
        assert metric.shape == (3,)
        assert not metric.requires_grad


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("advantage", [-2.0, 2.0])
def test_extreme_log_ratios_keep_loss_and_gradient_finite(name, advantage):
    logprobs = torch.tensor([-0.001, -200.0], requires_grad=True)
    behaviour = torch.tensor([-200.0, -0.001])
    algorithm = build(AlgorithmSettings(name=name, kl_coef=0.0))
    loss = algorithm.token_loss(
        TokenBatch(logprobs, behaviour, None, torch.full((2,), advantage), torch.tensor([1, 1]))
    ).loss
    loss.sum().backward()
    assert torch.isfinite(loss).all()
    assert logprobs.grad is not None
    assert torch.isfinite(logprobs.grad).all()


def test_whole_sample_losses_need_lengths():
    with pytest.raises(ValueError, match="3 tokens has no lengths"):
        build(AlgorithmSettings(name="gspo")).token_loss(tokens(lengths=None))


def test_settings_do_not_import_torch():
    code = "import sys, burnish.algorithms.settings; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
