"""Preference losses by hand and by their closed-form gradients."""

import math

import pytest
import torch

from burnish.algorithms.preference import dpo, ipo, kto


def vector(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_dpo_by_hand():
    # margin .5 (2 - 0) = 1: -log sigmoid(1); gradient in chosen -b sigmoid(-1)
    chosen, rejected = vector(2.0), vector(0.0)
    loss = dpo(chosen, rejected, 0.5)
    assert loss.item() == pytest.approx(math.log1p(math.exp(-1)))
    (up, down) = torch.autograd.grad(loss.sum(), (chosen, rejected))
    assert up.item() == pytest.approx(-0.5 / (1 + math.e))
    assert down.item() == pytest.approx(0.5 / (1 + math.e))


def test_equal_completions_give_log_two_and_full_smoothing_is_blind():
    assert dpo(vector(1.0), vector(1.0), 0.1).item() == pytest.approx(math.log(2))
    loss = dpo(vector(3.0), vector(0.0), 1.0, smoothing=0.5)
    mirrored = dpo(vector(0.0), vector(3.0), 1.0, smoothing=0.5)
    assert loss.item() == pytest.approx(mirrored.item())


def test_ipo_by_hand():
    # 6/3 - 2/1 = 0 against 1/(2 * .5) = 1
    lengths = (torch.tensor([3]), torch.tensor([1]))
    assert ipo(vector(6.0), vector(2.0), lengths, 0.5).item() == pytest.approx(1.0)


def test_ipo_stops_at_its_margin():
    chosen, rejected = vector(1.0), vector(0.0)
    ones = (torch.tensor([1]), torch.tensor([1]))
    (gradient,) = torch.autograd.grad(ipo(chosen, rejected, ones, 0.5).sum(), chosen)
    assert gradient.item() == pytest.approx(0.0)


def test_kto_by_hand():
    # z = 1: good 1 - sigmoid(2 - 1), bad 1 - sigmoid(1 - 2), the same; weights 1 and 2
    good = torch.tensor([True, False])
    loss = kto(vector(2.0, 0.0), good, torch.tensor(1.0), 1.0, (1.0, 2.0))
    base = 1 - 1 / (1 + math.exp(-1))
    assert loss.tolist() == pytest.approx([base, 2 * base])


def test_kto_takes_no_gradient_through_the_divergence_and_cuts_it_at_zero():
    divergence = torch.tensor(-3.0, dtype=torch.float64, requires_grad=True)
    ratio = vector(0.0)
    loss = kto(ratio, torch.tensor([True]), divergence, 1.0)
    assert loss.item() == pytest.approx(0.5)
    loss.sum().backward()
    assert divergence.grad is None


def test_shapes_that_differ_are_refused():
    with pytest.raises(ValueError, match=r"rejected has shape \[2\], expected \[1\]"):
        dpo(vector(1.0), vector(1.0, 2.0), 0.1)
