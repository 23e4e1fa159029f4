"""What must hold for every preset, whatever the rewards."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.build import build
from burnish.algorithms.catalogue import PRESETS
from burnish.algorithms.scales import DomainScales
from burnish.algorithms.settings import AlgorithmSettings

LONGEST = 8
NAMES = tuple(PRESETS)
WITHIN_THE_GROUP = [n for n in NAMES if n not in ("remax", "reinforce_pp", "ppo")]
"""Presets that compare the samples of a group with each other and nothing else."""
CORRECTIONS = ("truncate", "mask", "sequence_truncate", "sequence_mask", "geometric_mask")
every_preset = pytest.mark.parametrize("name", NAMES)


@st.composite
def reward_batches(draw):
    """Rewards are multiples of 1/16, so that adding one to all of them is exact."""
    g, n = draw(st.integers(1, 5)), draw(st.integers(2, 6))

    def table(values):
        return torch.tensor(draw(st.lists(values, min_size=g * n, max_size=g * n))).reshape(g, n)

    lengths = table(st.integers(1, LONGEST))
    return RewardBatch(
        table(st.integers(0, 16)).double() / 16,
        table(st.sampled_from([True, True, True, False])),
        tuple(draw(st.lists(st.sampled_from("abc"), min_size=g, max_size=g))),
        lengths,
        lengths == LONGEST,
    )


def made(name, batch, **keys):
    """The algorithm, and the batch as it wants it."""
    algorithm = build(AlgorithmSettings(name=name, **keys), LONGEST)
    return algorithm, replace(batch, greedy=algorithm.needs.greedy)


def taken(batch, rows=slice(None), columns=slice(None)):
    """Some groups, or the samples of each in another order."""
    return RewardBatch(
        batch.rewards[rows][:, columns], batch.valid[rows][:, columns],
        tuple(batch.domains[i] for i in (range(len(batch.domains)) if rows == slice(None) else rows)),
        batch.lengths[rows][:, columns], batch.cut[rows][:, columns], batch.greedy,
    )  # fmt: skip


def result(algorithm, batch):
    """Advantages, activity and weights."""
    advantages, scales = algorithm.advantages(batch, DomainScales())
    active = algorithm.active(batch)
    return advantages, active, algorithm.weights(batch.lengths, active, batch.domains), scales


@every_preset
@given(batch=reward_batches(), data=st.data())
@settings(max_examples=30, deadline=None)
def test_order_of_groups_does_not_matter(name, batch, data):
    algorithm, batch = made(name, batch)
    order = data.draw(st.permutations(range(len(batch.domains))))
    plain, active, weights, scales = result(algorithm, batch)
    moved, moved_active, moved_weights, moved_scales = result(algorithm, taken(batch, rows=order))
    torch.testing.assert_close(moved, plain[order], rtol=1e-12, atol=1e-12)
    assert torch.equal(moved_active, active[order])
    assert torch.equal(moved_weights, weights[order])
    assert moved_scales.to_json() == scales.to_json()


@every_preset
@given(batch=reward_batches(), data=st.data())
@settings(max_examples=30, deadline=None)
def test_order_of_samples_does_not_matter(name, batch, data):
    algorithm, batch = made(name, batch)
    n = batch.rewards.shape[1]
    drawn = n - batch.greedy
    order = [*data.draw(st.permutations(range(drawn))), *range(drawn, n)]
    plain, active, weights, scales = result(algorithm, batch)
    moved, moved_active, moved_weights, moved_scales = result(algorithm, taken(batch, columns=order))
    torch.testing.assert_close(moved, plain[:, order])
    assert torch.equal(moved_active, active[:, order])
    assert torch.equal(moved_weights, weights[:, order])
    assert moved_scales.to_json() == scales.to_json()


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("maxrl", "ppo")])
@given(batch=reward_batches(), constant=st.integers(-32, 32))
@settings(max_examples=30, deadline=None)
def test_a_constant_added_to_all_rewards_changes_nothing(name, batch, constant):
    algorithm, batch = made(name, batch)
    plain, active, _, _ = result(algorithm, batch)
    moved, moved_active, _, _ = result(algorithm, replace(batch, rewards=batch.rewards + constant / 16))
    torch.testing.assert_close(moved, plain, rtol=1e-9, atol=1e-9)
    assert torch.equal(moved_active, active)


def test_maxrl_is_the_exception_for_it_divides_by_the_mean():
    rewards = torch.tensor([[0.0, 1.0]], dtype=torch.float64)
    algorithm, batch = made("maxrl", RewardBatch(rewards, torch.ones(1, 2).bool(), ("a",)))
    plain, _ = algorithm.advantages(batch, DomainScales())
    raised, _ = algorithm.advantages(replace(batch, rewards=rewards + 1), DomainScales())
    assert plain.tolist() == [[-1.0, 1.0]]
    torch.testing.assert_close(raised, plain / 3)


@pytest.mark.parametrize("name", WITHIN_THE_GROUP)
@given(batch=reward_batches())
@settings(max_examples=30, deadline=None)
def test_advantages_of_a_group_sum_to_zero(name, batch):
    # The clip of dppo would break the balance on purpose.
    algorithm, batch = made(name, batch, **({"advantage_clip": 1e9} if name == "dppo" else {}))
    advantages, _ = algorithm.advantages(batch, DomainScales())
    zeros = torch.zeros(len(batch.domains), dtype=torch.float64)
    torch.testing.assert_close(advantages.sum(dim=1), zeros, rtol=0, atol=1e-9)


@every_preset
@given(batch=reward_batches())
@settings(max_examples=30, deadline=None)
def test_inactive_samples_have_exactly_no_advantage_and_no_weight(name, batch):
    algorithm, batch = made(name, batch)
    advantages, active, weights, _ = result(algorithm, batch)
    assert not advantages[~active].any()
    assert not weights[~active].any()
    assert (weights[active] > 0).all()
    assert not (active & ~batch.valid).any()


@pytest.mark.parametrize("name", WITHIN_THE_GROUP)
@given(batch=reward_batches(), reward=st.integers(0, 16))
@settings(max_examples=30, deadline=None)
def test_group_without_signal_changes_nothing_for_the_others(name, batch, reward):
    algorithm, batch = made(name, batch)
    g, n = batch.rewards.shape
    flat = RewardBatch(
        torch.full((1, n), reward / 16, dtype=torch.float64), torch.ones(1, n, dtype=torch.bool), ("z",),
        torch.full((1, n), 3), torch.zeros(1, n, dtype=torch.bool),
    )  # fmt: skip
    both = RewardBatch(
        torch.cat([batch.rewards, flat.rewards]), torch.cat([batch.valid, flat.valid]),
        (*batch.domains, "z"), torch.cat([batch.lengths, flat.lengths]), torch.cat([batch.cut, flat.cut]),
    )  # fmt: skip
    advantages, _, weights, _ = result(algorithm, batch)
    joined, active, joined_weights, _ = result(algorithm, both)
    assert torch.equal(joined[:g], advantages)
    assert torch.equal(joined_weights[:g], weights)
    assert not (joined[g].any() or active[g].any() or joined_weights[g].any())


@pytest.mark.parametrize("name", [n for n in NAMES if n != "ppo"])
@given(batch=reward_batches(), reward=st.integers(0, 16))
@settings(max_examples=20, deadline=None)
def test_equal_rewards_everywhere_are_no_signal_for_anybody(name, batch, reward):
    keys = {"overlong_penalty": 0.0} if name == "dapo" else {}
    algorithm, batch = made(name, batch, **keys)
    flat = replace(batch, rewards=torch.full_like(batch.rewards, reward / 16))
    advantages, active, weights, _ = result(algorithm, flat)
    assert not (advantages.any() or active.any() or weights.any())


def step_gradient(algorithm, batch, pieces):
    """Gradient of the step's loss in the logits of every token, pieces of samples at a time."""
    generator = torch.Generator().manual_seed(0)
    lengths = batch.lengths.flatten()
    rows = torch.randn(int(lengths.sum()), 5, generator=generator, dtype=torch.float64).requires_grad_()
    noise = torch.randn(rows.shape, generator=generator, dtype=torch.float64)
    behaviour = (rows.detach() + 0.1 * noise).log_softmax(1)[:, 0]
    reference = torch.randn(rows.shape, generator=generator, dtype=torch.float64).log_softmax(1)[:, 0]
    advantages, _, weights, _ = result(algorithm, batch)
    domains = [d for d in batch.domains for _ in range(batch.rewards.shape[1])]
    starts = lengths.cumsum(0) - lengths
    for piece in pieces:
        token = torch.cat([torch.arange(starts[i], starts[i] + lengths[i]) for i in piece])
        sample = torch.repeat_interleave(torch.tensor(piece), lengths[piece])
        pi = rows[token].log_softmax(1)
        tokens = TokenBatch(
            pi[:, 0], behaviour[token], reference[token], advantages.flatten()[sample], lengths[piece],
            tuple(domains[i] for i in piece), -(pi.exp() * pi).sum(1),
        )  # fmt: skip
        loss = algorithm.token_loss(tokens).loss
        (loss * weights.flatten()[sample]).sum().backward()
    return rows.grad


VARIANTS = [
    *((name, {}) for name in NAMES),
    *((name, {"kl_coef": 0.3, "kl_in": "reward", "entropy_coef": 0.1}) for name in NAMES),
    *(("grpo", {"correction": kind, "correction_low": 0.9, "correction_high": 1.1}) for kind in CORRECTIONS),
    ("dppo", {"overrides": [{"domains": ["b"], "name": "gspo"}, {"domains": ["c"], "name": "rloo"}]}),
]


@pytest.mark.parametrize(("name", "keys"), VARIANTS)
@given(batch=reward_batches(), data=st.data())
@settings(max_examples=8, deadline=None)
def test_micro_batches_ranks_and_order_do_not_change_the_gradient(name, keys, batch, data):
    """A rank sees some samples of the step; the sum of gradients is that of one rank with all of them."""
    algorithm, batch = made(name, batch, **keys)
    count = batch.rewards.numel()
    order = list(data.draw(st.permutations(range(count))))
    cut = data.draw(st.integers(1, count))
    pieces = [order[i : i + cut] for i in range(0, count, cut)]
    whole = step_gradient(algorithm, batch, [list(range(count))])
    torch.testing.assert_close(step_gradient(algorithm, batch, pieces), whole, rtol=0, atol=1e-12)
