import math

import pytest
import torch

from burnish.errors import ModelError
from burnish.training.optimiser import MasterOptimiser, OptimiserPlan, learning_rate, masters_of


def plan(**changes):
    base = {
        "steps": 10,
        "lr": 1.0,
        "warmup": 4,
        "schedule": "cosine",
        "floor": 0.1,
        "betas": (0.9, 0.95),
        "weight_decay": 0.1,
        "max_grad_norm": 1.0,
    }
    return OptimiserPlan(**{**base, **changes})


def test_learning_rate_rises_then_falls_to_the_floor():
    rates = [learning_rate(plan(), s) for s in range(10)]
    assert rates[:5] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert rates[-1] == pytest.approx(0.1)
    assert rates[4:] == sorted(rates[4:], reverse=True)


def test_constant_and_linear_schedules():
    assert learning_rate(plan(schedule="constant"), 9) == 1.0
    assert learning_rate(plan(schedule="linear", floor=0.0), 9) == 0.0
    assert learning_rate(plan(schedule="linear", floor=0.0, warmup=0, steps=11), 5) == pytest.approx(0.5)


def test_steps_equal_torch_adamw_with_clipping():
    torch.manual_seed(0)
    ours, theirs = (torch.nn.Linear(5, 3) for _ in range(2))
    theirs.load_state_dict(ours.state_dict())
    p = plan(schedule="constant", warmup=0)
    optimiser = MasterOptimiser(dict(ours.named_parameters()), masters_of(dict(ours.named_parameters())), p)
    reference = torch.optim.AdamW(theirs.parameters(), lr=0.01, betas=(0.9, 0.95), weight_decay=0.1)
    for step in range(5):
        x = torch.randn(7, 5, generator=torch.Generator().manual_seed(step)) * 10
        ours(x).square().sum().backward()
        theirs(x).square().sum().backward()
        norm = torch.nn.utils.clip_grad_norm_(theirs.parameters(), 1.0)
        assert optimiser.step(0.01) == pytest.approx(float(norm), rel=1e-5)
        reference.step()
        reference.zero_grad()
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.allclose(a, b, atol=1e-6)


def test_bfloat16_model_keeps_updates_too_small_for_bfloat16():
    model = torch.nn.Linear(1, 1, bias=False).to(torch.bfloat16)
    model.weight.data.fill_(1.0)
    parameters = dict(model.named_parameters())
    optimiser = MasterOptimiser(parameters, masters_of(parameters), plan(weight_decay=0.0))
    for _ in range(8):
        model(torch.ones(1, 1, dtype=torch.bfloat16)).sum().backward()
        optimiser.step(1e-3)
    assert math.isclose(float(optimiser.masters["weight"]), 1 - 8e-3, abs_tol=1e-4)
    assert float(model.weight) == float(torch.tensor(1 - 8e-3).bfloat16())


def test_state_round_trip_continues_identically():
    torch.manual_seed(0)
    first = torch.nn.Linear(4, 4)
    second = torch.nn.Linear(4, 4)

    def make(module):
        parameters = dict(module.named_parameters())
        return MasterOptimiser(parameters, masters_of(parameters), plan())

    def turn(module, optimiser):
        module(torch.ones(2, 4)).square().sum().backward()
        optimiser.step(0.1)

    a, b = make(first), make(second)
    turn(first, a)
    b.restore({n: t.clone() for n, t in a.state().items()})
    turn(first, a)
    turn(second, b)
    assert torch.equal(first.weight, second.weight)


def test_state_of_another_model_is_refused():
    a, b = torch.nn.Linear(2, 2), torch.nn.Linear(3, 3)
    one, two = (
        MasterOptimiser(dict(m.named_parameters()), masters_of(dict(m.named_parameters())), plan())
        for m in (a, b)
    )
    with pytest.raises(ModelError, match="another model"):
        one.restore(two.state())
