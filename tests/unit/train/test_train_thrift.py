"""Out of memory in an update: the same gradient in smaller pieces, or a clear error."""

import pytest
import torch
from test_train_update import PLAN, group
from train_runs import Listening, metric, train

from burnish.algorithms.advantages import live
from burnish.algorithms.build import build
from burnish.algorithms.scales import DomainScales
from burnish.algorithms.settings import AlgorithmSettings
from burnish.errors import TrainingError
from burnish.training import update
from burnish.training.collect import reward_batch
from burnish.training.optimiser import MasterOptimiser, masters_of
from burnish.training.thrift import is_out_of_memory, with_less_memory
from burnish.training.update import accumulate, distinct

CPU = RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: not enough memory: you tried")


def fail_at(monkeypatch, call, error):
    """Make the update fail in its micro-batch number `call`, in the middle of the backward pass."""
    real, calls = update.packed_logprobs, []

    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            raise error

    def packed_logprobs(causal, packed):
        calls.append(packed)
        done = real(causal, packed)
        return Broken.apply(done) if len(calls) == call else done

    monkeypatch.setattr(update, "packed_logprobs", packed_logprobs)
    return calls


def gradients(policy, budget=64):
    groups = [group(i, [1.0, 0.0], [(10 + i, 11), (12, 13, 14 + i)]) for i in range(6)]
    algorithm = build(AlgorithmSettings(kl_coef=0.0))
    batch = reward_batch(groups)
    advantages, _ = algorithm.advantages(batch, DomainScales())
    active = live(batch.rewards, batch.valid)
    weights = algorithm.weights(torch.tensor([[2, 3]] * 6), active)
    rows = zip(groups, advantages.tolist(), weights.tolist(), active.tolist(), strict=True)
    updates = [distinct(*row) for row in rows]
    optimiser = MasterOptimiser(policy.trainable(), masters_of(policy.trainable()), PLAN)
    said = []
    with_less_memory(
        lambda tokens: accumulate(policy, algorithm, updates, tokens), budget, optimiser.zero, said.append
    )
    optimiser.close()
    return optimiser.gradients, said


@pytest.mark.parametrize("error", [CPU, MemoryError()])
@pytest.mark.parametrize("call", [1, 2])
def test_the_gradient_is_that_of_an_update_that_fits(fresh_policy, monkeypatch, call, error):
    plain, _ = gradients(fresh_policy, budget=32)
    fail_at(monkeypatch, call, error)
    again, said = gradients(fresh_policy, budget=32)
    assert said == ["out of memory with 32 tokens in one pass; the update is done again with 16"]
    for name in plain:
        scale = float(plain[name].abs().max())
        assert torch.allclose(plain[name], again[name], atol=1e-5 * scale, rtol=1e-5), name


def test_a_run_goes_on_and_says_so(tmp_path, monkeypatch):
    whole = train(tmp_path / "whole")
    fail_at(monkeypatch, 3, CPU)
    console = Listening()
    folder = train(tmp_path / "run", console=console)
    assert sum("out of memory with 2048 tokens" in w for w in console.warnings) == 1
    assert metric(folder, "grad_norm") == pytest.approx(metric(whole, "grad_norm"), rel=1e-3)


def test_too_little_for_anything_is_a_clear_error():
    def work(budget):
        raise CPU

    with pytest.raises(TrainingError, match="not enough memory for an update"):
        with_less_memory(work, 64, lambda: None, lambda sentence: None)


def test_other_errors_are_not_retried():
    assert not is_out_of_memory(RuntimeError("shapes cannot be multiplied"))
    with pytest.raises(RuntimeError, match="shapes"):
        with_less_memory(lambda b: (_ for _ in ()).throw(RuntimeError("shapes")), 64, print, print)
