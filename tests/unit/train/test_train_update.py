import math
from dataclasses import replace

import pytest
import torch

from burnish.algorithms.advantages import live
from burnish.algorithms.build import build
from burnish.algorithms.scales import DomainScales
from burnish.algorithms.settings import AlgorithmSettings
from burnish.errors import TrainingError
from burnish.models.load import recompute_layers
from burnish.records import Abstained, Boundary, Faulted, Group, Sample, Scored, Split, Task
from burnish.training.collect import reward_batch
from burnish.training.optimiser import MasterOptimiser, OptimiserPlan, masters_of
from burnish.training.update import Reference, accumulate, distinct

PLAN = OptimiserPlan(10, 1e-3, 0, "constant", 0.0, (0.9, 0.95), 0.0, 1.0)


def sample(i, ids, logprob=-1.0):
    return Sample("", i, tuple(ids), (logprob,) * len(ids), (0,) * len(ids))


def group(ordinal, rewards, completions, domain="d"):
    task = Task(domain, Split.TRAIN, 0, ordinal, ())
    verdicts = tuple(Scored(r, r > 0.5) if isinstance(r, float) else r for r in rewards)
    samples = tuple(sample(i, c) for i, c in enumerate(completions))
    return Group(ordinal, task, (7, 8, 9), samples, verdicts)


def gradient(policy, groups, *, merge=True, budget=64, kl=0.0, reference=None):
    algorithm = build(AlgorithmSettings(kl_coef=kl))
    batch = reward_batch(groups)
    advantages, _ = algorithm.advantages(batch, DomainScales())
    active = live(batch.rewards, batch.valid)
    lengths = torch.tensor([[len(s.token_ids) for s in g.samples] for g in groups])
    weights = algorithm.weights(lengths, active)
    rows = zip(groups, advantages.tolist(), weights.tolist(), active.tolist(), strict=True)
    updates = [distinct(g, a, w, c) for g, a, w, c in rows if any(c)]
    if not merge:
        updates = [split(u) for u in updates]
    optimiser = MasterOptimiser(policy.trainable(), masters_of(policy.trainable()), PLAN)
    figures = accumulate(policy, algorithm, updates, budget, reference)
    optimiser.close()
    return optimiser.gradients, figures


def split(update):
    from burnish.training.update import Branch, GroupUpdate

    return GroupUpdate(
        update.group,
        tuple(
            Branch(b.sample, b.advantage, b.weight / b.count, 1)
            for b in update.branches
            for _ in range(b.count)
        ),
    )


def test_merging_equal_completions_changes_no_gradient(fresh_policy):
    groups = [group(0, [1.0, 0.0, 0.0, 1.0], [(10,), (11, 12), (11, 12), (10,)])]
    merged, figures = gradient(fresh_policy, groups)
    apart, same = gradient(fresh_policy, groups, merge=False)
    for name in merged:
        assert torch.allclose(merged[name], apart[name], atol=1e-7), name
    assert figures["d"]["tokens"] == same["d"]["tokens"] == 6


def test_micro_batch_size_changes_no_gradient(fresh_policy):
    groups = [group(i, [1.0, 0.0], [(10 + i, 11), (12, 13, 14 + i)]) for i in range(5)]
    small, _ = gradient(fresh_policy, groups, budget=10)
    large, _ = gradient(fresh_policy, groups, budget=1000)
    for name in small:
        assert torch.allclose(small[name], large[name], atol=1e-6), name


def test_recomputed_layers_keep_every_bit_of_the_gradient(fresh_policy):
    groups = [group(i, [1.0, 0.0], [(10 + i, 11), (12, 13, 14 + i)]) for i in range(3)]
    kept, _ = gradient(fresh_policy, groups)
    fresh_policy.model.zero_grad(set_to_none=True)
    computed = []
    layer = fresh_policy.causal.model.layers[0].mlp
    layer.register_forward_pre_hook(lambda *_: computed.append(1))
    recompute_layers(fresh_policy.causal, "tiny")
    again, _ = gradient(fresh_policy, groups)
    assert len(computed) == 2
    for name in kept:
        assert torch.equal(kept[name], again[name]), name


def test_groups_without_signal_and_unscored_samples_leave_no_trace(fresh_policy):
    mixed = group(0, [1.0, 0.0], [(10, 11), (12,)])
    flat = group(1, [1.0, 1.0], [(20, 21), (22,)], "other")
    only, _ = gradient(fresh_policy, [mixed])
    both, _ = gradient(fresh_policy, [mixed, flat])
    for name in only:
        assert torch.equal(only[name], both[name])
    odd = group(0, [1.0, 0.0, Faulted(Boundary.DOMAIN, "x"), Abstained("y")], [(10, 11), (12,), (30,), (31,)])
    with_faults, _ = gradient(fresh_policy, [odd])
    for name in only:
        assert torch.allclose(only[name], with_faults[name], atol=1e-7)


def test_gradient_pushes_towards_the_rewarded_completion(fresh_policy):
    from burnish.training.logprobs import packed_logprobs
    from burnish.training.tree import Tree, micro_batches

    def logprobs():
        (packed,) = micro_batches([Tree((7, 8, 9), ((10,), (11,)))], 64)
        with torch.no_grad():
            return packed_logprobs(fresh_policy.causal, packed)

    before = logprobs()
    (start,) = [group(0, [1.0, 0.0], [(10,), (11,)])]
    drawn = tuple(sample(i, s.token_ids, float(before[i])) for i, s in enumerate(start.samples))
    groups = [replace(start, samples=drawn)]
    gradients, _ = gradient(fresh_policy, groups)
    with torch.no_grad():
        for name, parameter in fresh_policy.trainable().items():
            parameter.sub_(0.01 * gradients[name])
    after = logprobs()
    assert after[0] > before[0]
    assert after[1] < before[1]


def test_kl_to_itself_adds_nothing_and_to_another_model_adds_something(fresh_policy, tiny_policy):
    groups = [group(0, [1.0, 0.0], [(10,), (11,)])]
    plain, _ = gradient(fresh_policy, groups)
    same, figures = gradient(fresh_policy, groups, kl=0.5, reference=Reference(tiny_policy))
    for name in plain:
        assert torch.allclose(plain[name], same[name], atol=1e-6)
    assert figures["d"]["kl"] == pytest.approx(0, abs=1e-6)


def test_nan_is_refused_and_names_the_task(fresh_policy):
    with torch.no_grad():
        next(iter(fresh_policy.trainable().values())).fill_(math.nan)
    with pytest.raises(TrainingError, match="d:train:0:3"):
        gradient(fresh_policy, [group(3, [1.0, 0.0], [(10,), (11,)])])


def test_coin_rewards_ignore_the_verdict_and_repeat():
    groups = [group(i, [1.0, 1.0, 1.0, 1.0], [(1,)] * 4) for i in range(50)]
    first, second = reward_batch(groups, coin=3), reward_batch(groups, coin=3)
    assert torch.equal(first.rewards, second.rewards)
    assert 0.35 < float(first.rewards.mean()) < 0.65
    assert not torch.equal(first.rewards, reward_batch(groups, coin=4).rewards)
