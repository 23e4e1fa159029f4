"""The critic: GAE by hand, values that learn, runs that learn and resume bit for bit."""

import pytest
import torch
import train_runs as runs

from burnish import faults
from burnish.algorithms.settings import AlgorithmSettings
from burnish.errors import RecipeError
from burnish.records import Group, Sample, Scored, Split, Task
from burnish.training.collect import reward_batch
from burnish.training.credit import assign
from burnish.training.critic import Critic
from burnish.training.gae import gae, value_loss, whiten_tokens
from burnish.training.optimiser import OptimiserPlan

PLAN = OptimiserPlan(10, 1e-3, 0, "constant", 0.0, (0.9, 0.95), 0.0, 1.0)


@pytest.fixture(autouse=True)
def no_faults_left():
    yield
    faults.set_plan("")


def row(*values):
    return torch.tensor([values], dtype=torch.float64)


def test_gae_by_hand():
    # g = l = 1/2. d = 1 - .5 = .5 at the end; d = .5 * .5 - .25 = 0, A = 0 + .25 * .5 = .125;
    # d = .5 * .25 - 1 = -.875, A = -.875 + .25 * .125 = -.84375
    advantages, returns = gae(row(0, 0, 1), row(1, 0.25, 0.5), row(1, 1, 1).bool(), 0.5, 0.5)
    torch.testing.assert_close(advantages, row(-0.84375, 0.125, 0.5))
    torch.testing.assert_close(returns, row(0.15625, 0.375, 1.0))


def test_without_decay_gae_is_the_reward_minus_the_value():
    advantages, returns = gae(row(0, 0, 1), row(0.1, 0.2, 0.3), row(1, 1, 1).bool(), 1.0, 1.0)
    torch.testing.assert_close(advantages, row(0.9, 0.8, 0.7))
    torch.testing.assert_close(returns, row(1, 1, 1))


def test_a_masked_token_is_as_if_it_were_not_there():
    with_tool, _ = gae(row(0, 0, 0, 1), row(0.1, 9.0, 0.2, 0.3), row(1, 0, 1, 1).bool(), 0.9, 0.8)
    without, _ = gae(row(0, 0, 1), row(0.1, 0.2, 0.3), row(1, 1, 1).bool(), 0.9, 0.8)
    torch.testing.assert_close(with_tool[:, [0, 2, 3]], without)


def test_shapes_that_differ_are_refused():
    with pytest.raises(ValueError, match=r"\[\[1, 3\], \[1, 2\], \[1, 3\]\]"):
        gae(row(0, 0, 1), row(0, 0), row(1, 1, 1).bool(), 1.0, 1.0)


def test_whitening_counts_duplicates_as_often_as_they_were_drawn():
    twice = whiten_tokens(torch.tensor([1.0, 3.0]), torch.tensor([2.0, 1.0]))
    apart = whiten_tokens(torch.tensor([1.0, 1.0, 3.0]), torch.ones(3))
    torch.testing.assert_close(twice, apart[1:])
    assert not whiten_tokens(torch.tensor([1.0]), torch.ones(1)).any()


def test_clipped_value_loss_by_hand():
    # value .9 from old .5 is clipped to .7: (.7 - 1)^2 / 2 > (.9 - 1)^2 / 2; no gradient flows then
    values = torch.tensor([0.9, 0.6], dtype=torch.float64, requires_grad=True)
    old, returns = torch.full((2,), 0.5, dtype=torch.float64), torch.ones(2, dtype=torch.float64)
    loss, clipped = value_loss(values, old, returns, 0.2)
    torch.testing.assert_close(loss.detach(), torch.tensor([0.045, 0.08], dtype=torch.float64))
    assert clipped.tolist() == [True, False]
    (gradient,) = torch.autograd.grad(loss.sum(), values)
    torch.testing.assert_close(gradient, torch.tensor([0.0, -0.4], dtype=torch.float64))


def credit(settings):
    """Credit of two groups whose rewards a critic can learn from the prompt alone."""
    from burnish.algorithms.build import build
    from burnish.algorithms.scales import DomainScales

    groups = [
        Group(
            i, Task("d", Split.TRAIN, 0, i, ()), (7 + i, 8, 9),
            tuple(Sample("", j, (10 + j, 11), (-1.0, -1.0), (0, 0)) for j in range(2)),
            (Scored(float(i), i > 0),) * 2,
        )
        for i in range(2)
    ]  # fmt: skip
    return assign(build(settings), groups, reward_batch(groups), DomainScales())


@pytest.mark.parametrize("backbone", ["own", "shared"])
def test_values_approach_the_returns(fresh_policy, backbone):
    settings = AlgorithmSettings(
        name="ppo", kl_coef=0.0, critic=backbone, critic_lr=1e-2, value_clip=0.0, gae_decay=1.0
    )
    critic = Critic(fresh_policy, settings, PLAN)
    given = credit(settings)
    losses = []
    for _ in range(30):
        judged, estimates = critic.judge(given, 64)
        losses.append(critic.gather(judged.updates, estimates, 64, alone=True)["value_loss"])
        critic.step()
    critic.close()
    assert losses[0] == pytest.approx(0.25)  # values are 0, returns half 0 and half 1: mean of R^2 / 2
    assert losses[-1] < 0.1 * losses[0]


def test_a_critic_alone_leaves_a_shared_backbone_untouched(fresh_policy):
    settings = AlgorithmSettings(name="ppo", kl_coef=0.0, critic="shared", critic_lr=0.1)
    critic = Critic(fresh_policy, settings, PLAN)
    judged, estimates = critic.judge(credit(settings), 64)
    critic.gather(judged.updates, estimates, 64, alone=True)
    critic.step()  # the head is 0 at first and lets no gradient through
    assert all(p.grad is None for p in fresh_policy.trainable().values())
    critic.gather(judged.updates, estimates, 64, alone=False)
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in fresh_policy.trainable().values())
    critic.close()


def test_micro_batches_do_not_change_what_is_judged(fresh_policy):
    settings = AlgorithmSettings(name="ppo", kl_coef=0.0)
    critic = Critic(fresh_policy, settings, PLAN)
    small, _ = critic.judge(credit(settings), 8)
    large, _ = critic.judge(credit(settings), 640)
    critic.close()
    for a, b in zip(small.updates, large.updates, strict=True):
        for x, y in zip(a.branches, b.branches, strict=True):
            assert x.advantage == pytest.approx(y.advantage, abs=1e-5)


PPO = {"name": "ppo", "kl_coef": 0.0, "critic_lr": 1e-2}


@pytest.mark.parametrize("backbone", ["own", "shared"])
def test_ppo_learns_and_so_does_its_critic(tmp_path, backbone):
    rl = {"steps": 25, "prompts_per_step": 8, "lr": 1e-2}
    algorithm = {**PPO, "critic": backbone}
    folder = runs.train(tmp_path / "run", runs.Evens(), algorithm=algorithm, rollout={"samples": 2}, rl=rl)
    reward, loss = runs.metric(folder, "reward"), runs.metric(folder, "value_loss")
    assert sum(reward[-5:]) / 5 > sum(reward[:5]) / 5 + 0.2
    assert sum(loss[-5:]) < 0.5 * sum(loss[:5])


def test_one_sample_a_prompt_is_enough_for_ppo_and_not_for_grpo(tmp_path):
    assert runs.recipe(algorithm=PPO, rollout={"samples": 1}).rollout.samples == 1
    with pytest.raises(RecipeError, match="needs at least 2"):
        runs.recipe(algorithm={"name": "grpo"}, rollout={"samples": 1})


def test_warm_up_teaches_the_critic_only(tmp_path):
    folder = runs.train(tmp_path / "run", algorithm={**PPO, "critic_warmup": 4})
    steps = runs.rows(folder, "select min(step) from metrics where name = 'grad_norm' and stage = 'rl'")
    assert steps == [(5,)]
    assert len(runs.metric(folder, "value_loss")) == 6


@pytest.mark.parametrize("backbone", ["own", "shared"])
def test_a_resumed_run_ends_in_the_same_bits(tmp_path, backbone):
    tables = {"algorithm": {**PPO, "critic": backbone, "critic_warmup": 1}, "rl": {"checkpoint_every": 3}}
    whole, part = runs.broken_and_resumed(tmp_path, **tables)
    assert runs.weights(part) == runs.weights(whole)
    assert runs.metric(part, "value_loss") == runs.metric(whole, "value_loss")
