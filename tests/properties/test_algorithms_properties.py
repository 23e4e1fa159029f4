import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.algorithms.advantages import live
from burnish.algorithms.base import RewardBatch, TokenBatch, build
from burnish.algorithms.scales import DomainScales
from burnish.algorithms.settings import AlgorithmSettings

NAMES = ("dppo", "grpo", "rloo")
every_preset = pytest.mark.parametrize("name", NAMES)


@st.composite
def reward_batches(draw):
    """Rewards are multiples of 1/16, so that adding one to all of them is exact."""
    g, n = draw(st.integers(1, 5)), draw(st.integers(2, 6))
    rewards = draw(st.lists(st.integers(0, 16), min_size=g * n, max_size=g * n))
    valid = draw(st.lists(st.sampled_from([True, True, True, False]), min_size=g * n, max_size=g * n))
    domains = draw(st.lists(st.sampled_from("abc"), min_size=g, max_size=g))
    return RewardBatch(
        torch.tensor(rewards, dtype=torch.float64).reshape(g, n) / 16,
        torch.tensor(valid).reshape(g, n),
        tuple(domains),
    )


@every_preset
@given(batch=reward_batches(), data=st.data())
@settings(max_examples=40, deadline=None)
def test_order_of_groups_does_not_matter(name, batch, data):
    algorithm = build(AlgorithmSettings(name=name))
    order = data.draw(st.permutations(range(len(batch.domains))))
    shuffled = RewardBatch(batch.rewards[order], batch.valid[order], tuple(batch.domains[i] for i in order))
    plain, scales = algorithm.advantages(batch, DomainScales())
    moved, moved_scales = algorithm.advantages(shuffled, DomainScales())
    assert torch.equal(moved, plain[order])
    assert moved_scales.to_json() == scales.to_json()


@every_preset
@given(batch=reward_batches(), data=st.data())
@settings(max_examples=40, deadline=None)
def test_order_of_samples_does_not_matter(name, batch, data):
    algorithm = build(AlgorithmSettings(name=name))
    order = data.draw(st.permutations(range(batch.rewards.shape[1])))
    shuffled = RewardBatch(batch.rewards[:, order], batch.valid[:, order], batch.domains)
    plain, scales = algorithm.advantages(batch, DomainScales())
    moved, moved_scales = algorithm.advantages(shuffled, DomainScales())
    torch.testing.assert_close(moved, plain[:, order])
    assert moved_scales.to_json() == scales.to_json()


@every_preset
@given(batch=reward_batches(), constant=st.integers(-32, 32))
@settings(max_examples=40, deadline=None)
def test_a_constant_added_to_all_rewards_changes_nothing(name, batch, constant):
    algorithm = build(AlgorithmSettings(name=name))
    raised = RewardBatch(batch.rewards + constant / 16, batch.valid, batch.domains)
    plain, _ = algorithm.advantages(batch, DomainScales())
    moved, _ = algorithm.advantages(raised, DomainScales())
    torch.testing.assert_close(moved, plain, rtol=1e-9, atol=1e-9)


@every_preset
@given(batch=reward_batches())
@settings(max_examples=40, deadline=None)
def test_advantages_of_a_group_sum_to_zero(name, batch):
    # The clip of dppo would break the balance on purpose.
    algorithm = build(AlgorithmSettings(name=name, advantage_clip=1e9))
    advantages, _ = algorithm.advantages(batch, DomainScales())
    torch.testing.assert_close(
        advantages.sum(dim=1), torch.zeros(len(batch.domains), dtype=torch.float64), rtol=0, atol=1e-9
    )


@every_preset
@given(batch=reward_batches())
@settings(max_examples=40, deadline=None)
def test_dead_samples_have_exactly_no_advantage_and_no_weight(name, batch):
    algorithm = build(AlgorithmSettings(name=name))
    active = live(batch.rewards, batch.valid)
    advantages, _ = algorithm.advantages(batch, DomainScales())
    weights = algorithm.weights(torch.full(active.shape, 3), active)
    assert not advantages[~active].any()
    assert not weights[~active].any()
    assert (weights[active] > 0).all()


@every_preset
@given(batch=reward_batches(), reward=st.integers(0, 16))
@settings(max_examples=40, deadline=None)
def test_group_without_signal_leaves_the_weights_of_others(name, batch, reward):
    algorithm = build(AlgorithmSettings(name=name))
    g, n = batch.rewards.shape
    rewards = torch.cat([batch.rewards, torch.full((1, n), reward / 16, dtype=torch.float64)])
    valid = torch.cat([batch.valid, torch.ones(1, n, dtype=torch.bool)])
    alone = algorithm.weights(torch.full((g, n), 3), live(batch.rewards, batch.valid))
    joined = algorithm.weights(torch.full((g + 1, n), 3), live(rewards, valid))
    assert torch.equal(joined[:g], alone)
    assert not joined[g].any()


def step_gradient(algorithm, batch, lengths, pieces):
    """Gradient of the step's loss in the logits of every token, pieces of samples at a time."""
    generator = torch.Generator().manual_seed(0)
    total = int(lengths.sum())
    logits = torch.randn(total, 5, generator=generator, dtype=torch.float64).requires_grad_()
    behaviour = (logits.detach() + 0.3).log_softmax(1)[:, 0] - 0.1
    reference = torch.randn(total, 5, generator=generator, dtype=torch.float64).log_softmax(1)[:, 0]
    advantages, _ = algorithm.advantages(batch, DomainScales())
    weights = algorithm.weights(lengths, live(batch.rewards, batch.valid))
    sample = torch.repeat_interleave(torch.arange(lengths.numel()), lengths.flatten())
    for piece in pieces:
        token = (sample[:, None] == torch.tensor(piece)).any(dim=1)
        tokens = TokenBatch(
            logits[token].log_softmax(1)[:, 0],
            behaviour[token],
            reference[token],
            advantages.flatten()[sample[token]],
        )
        loss = algorithm.token_loss(tokens).loss
        (loss * weights.flatten()[sample[token]]).sum().backward()
    return logits.grad


@every_preset
@given(batch=reward_batches(), data=st.data())
@settings(max_examples=25, deadline=None)
def test_micro_batches_do_not_change_the_gradient(name, batch, data):
    algorithm = build(AlgorithmSettings(name=name))
    count = batch.rewards.numel()
    lengths = torch.tensor(data.draw(st.lists(st.integers(1, 4), min_size=count, max_size=count)))
    lengths = lengths.reshape(batch.rewards.shape)
    order = data.draw(st.permutations(range(count)))
    cut = data.draw(st.integers(1, count))
    pieces = [order[i : i + cut] for i in range(0, count, cut)]
    whole = step_gradient(algorithm, batch, lengths, [list(range(count))])
    torch.testing.assert_close(step_gradient(algorithm, batch, lengths, pieces), whole, rtol=0, atol=1e-14)
