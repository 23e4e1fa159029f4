"""What the catalogue promises of every preset, and what a recipe may and may not say."""

from dataclasses import replace

import pytest
import torch
from pydantic import ValidationError

from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.build import build
from burnish.algorithms.catalogue import CRITIC, PRESETS, RUN_WIDE
from burnish.algorithms.scales import DomainScales
from burnish.algorithms.settings import AlgorithmSettings

ALTERNATIVES = {
    "trust_region": 0.01, "std_floor": 3.0, "std_decay": 0.1, "advantage_clip": 0.1, "behaviour_coef": 1.0,
    "clip_low": 0.9, "clip_high": 5.0, "dual_clip": 1.01, "weight_low": 0.9, "weight_high": 1.1,
    "gate_positive": 3.0, "gate_negative": 3.0, "overlong_share": 0.9, "overlong_penalty": 0.4,
    "overlong_filter": True, "group_baseline": True, "correction": "truncate", "correction_low": 0.95,
    "correction_high": 1.05, "ratio_cap": 1.1, "kl_coef": 0.7, "kl_estimator": "k2", "kl_in": "reward",
    "entropy_coef": 0.3, "critic_lr": 1.0,
}  # fmt: skip
ELSEWHERE = (*RUN_WIDE, *CRITIC)
"""Keys that act in the loop and not in the formulas; `tests/unit/train` has them."""
CONTEXT = {
    "correction_low": {"correction": "mask"},
    "correction_high": {"correction": "mask"},
    "kl_estimator": {"kl_coef": 0.1, "kl_estimator": "k3"},
    "kl_in": {"kl_coef": 0.1, "kl_in": "loss"},
    "ratio_cap": {"kl_coef": 0.1, "kl_estimator": "k2", "kl_in": "loss"},
}
"""What must be set for a key to matter."""


def rewards(greedy=False):
    """Uneven rewards, lengths up to the 8 tokens allowed, one sample without a verdict."""
    values = torch.tensor([[0.0, 1.0, 0.25, 0.5], [1.0, 0.0, 0.0, 1.0], [0.3, 0.2, 0.1, 0.9]])
    valid = torch.ones(3, 4, dtype=torch.bool)
    valid[1, 0] = False
    lengths = torch.tensor([[1, 8, 2, 3], [4, 7, 5, 1], [2, 2, 8, 6]])
    return RewardBatch(values.double(), valid, ("a", "b", "a"), lengths, lengths == 8, greedy)


def tokens():
    """Twelve tokens of three completions, the policy well away from the sampler."""
    generator = torch.Generator().manual_seed(1)
    rows = torch.randn(12, 6, generator=generator, dtype=torch.float64).requires_grad_()
    pi = rows.log_softmax(1)
    mu = (rows.detach() + torch.randn(12, 6, generator=generator)).log_softmax(1)[:, 0]
    ref = torch.randn(12, 6, generator=generator, dtype=torch.float64).log_softmax(1)[:, 0]
    advantages = torch.randn(12, generator=generator, dtype=torch.float64)
    entropy = -(pi.exp() * pi).sum(1)
    return rows, TokenBatch(pi[:, 0], mu, ref, advantages, torch.tensor([5, 1, 6]), ("a", "b", "a"), entropy)


def everything(settings):
    """All that an algorithm computes, as one vector."""
    algorithm = build(settings, max_tokens=8)
    batch = rewards(greedy=algorithm.needs.greedy)
    earlier = replace(batch, rewards=batch.rewards / 2)
    _, scales = algorithm.advantages(earlier, DomainScales())
    advantages, _ = algorithm.advantages(batch, scales)
    active = algorithm.active(batch)
    weights = algorithm.weights(batch.lengths, active, batch.domains)
    rows, token_batch = tokens()
    result = algorithm.token_loss(token_batch)
    (gradient,) = torch.autograd.grad(result.loss.sum(), rows)
    parts = (advantages, active, weights, result.loss.detach(), gradient)
    return torch.cat([part.double().flatten() for part in parts])


@pytest.mark.parametrize(
    ("name", "key"), [(p.name, k) for p in PRESETS.values() for k in p.keys if k not in ELSEWHERE]
)
def test_every_key_a_preset_declares_changes_what_it_computes(name, key):
    context = {"name": name, **CONTEXT.get(key, {})}
    plain = everything(AlgorithmSettings(**context))
    other = everything(AlgorithmSettings(**{**context, key: ALTERNATIVES[key]}))
    assert not torch.equal(plain, other)


@pytest.mark.parametrize("name", PRESETS)
def test_a_key_that_a_preset_ignores_is_refused_and_named(name):
    for key in set(ALTERNATIVES) - set(PRESETS[name].keys):
        with pytest.raises(ValidationError) as caught:
            AlgorithmSettings(name=name, **{key: ALTERNATIVES[key]})
        assert f'{key} is not read by "{name}"' in str(caught.value)
        assert "it takes" in str(caught.value)


@pytest.mark.parametrize("name", PRESETS)
def test_only_keys_that_are_read_are_written_and_they_read_back(name):
    settings = AlgorithmSettings(name=name)
    assert set(settings.model_dump()) == {"name", "overrides", *PRESETS[name].keys}
    assert AlgorithmSettings.model_validate_json(settings.model_dump_json()) == settings


def test_a_preset_has_its_own_defaults_and_the_recipe_the_last_word():
    assert AlgorithmSettings(name="gspo").clip_high == 4e-4
    assert AlgorithmSettings(name="gspo", clip_high=0.1).clip_high == 0.1
    assert AlgorithmSettings(name="grpo").kl_estimator == "k3"
    assert AlgorithmSettings().kl_estimator == "k2"


def test_an_override_inherits_what_it_does_not_say_from_the_same_preset_only():
    tables = [{"domains": ["x/*"], "trust_region": 0.5}, {"domains": ["y"], "name": "gspo"}]
    settings = AlgorithmSettings.model_validate({"kl_coef": 0.0, "std_floor": 0.7, "overrides": tables})
    same, other = settings.overrides
    assert (same.name, same.kl_coef, same.std_floor, same.trust_region) == ("dppo", 0.0, 0.7, 0.5)
    assert (other.name, other.clip_high, other.kl_coef) == ("gspo", 4e-4, 0.0)
    assert AlgorithmSettings.model_validate_json(settings.model_dump_json()) == settings


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"name": "gspo", "std_floor": 1.0}, r'overrides #1: std_floor is not read by "gspo"'),
        ({"clip_low": 0.1}, r'overrides #1: clip_low is not read by "dppo"'),
        ({"name": "remax"}, r'overrides #1: "remax" is for a whole run'),
    ],
)
def test_what_is_wrong_with_an_override_is_said(table, message):
    with pytest.raises(ValidationError, match=message):
        AlgorithmSettings.model_validate({"overrides": [{"domains": ["x"], **table}]})


def test_domains_with_their_own_algorithm_get_it_and_share_the_step_by_groups():
    table = {"domains": ["b*"], "name": "rloo", "kl_coef": 0.0}
    mixed = build(AlgorithmSettings.model_validate({"kl_coef": 0.0, "overrides": [table]}))
    dppo, rloo = (build(AlgorithmSettings(name=n, kl_coef=0.0)) for n in ("dppo", "rloo"))
    batch = rewards()
    advantages, _ = mixed.advantages(batch, DomainScales())
    own = RewardBatch(batch.rewards[[0, 2]], batch.valid[[0, 2]], ("a", "a"), batch.lengths[[0, 2]])
    other = RewardBatch(batch.rewards[[1]], batch.valid[[1]], ("b",), batch.lengths[[1]])
    assert torch.equal(advantages[[0, 2]], dppo.advantages(own, DomainScales())[0])
    assert torch.equal(advantages[[1]], rloo.advantages(other, DomainScales())[0])
    weights = mixed.weights(batch.lengths, mixed.active(batch), batch.domains)
    alone = rloo.weights(other.lengths, rloo.active(other))
    torch.testing.assert_close(weights[[1]], alone / 3)
    _, token_batch = tokens()
    loss = mixed.token_loss(token_batch).loss
    assert torch.equal(loss[5], rloo.token_loss(token_batch).loss[5])
    assert torch.equal(loss[:5], dppo.token_loss(token_batch).loss[:5])


def test_the_last_matching_override_counts():
    tables = [{"domains": ["b*"], "std_floor": 5.0}, {"domains": ["bb"], "std_floor": 0.5}]
    mixed = build(AlgorithmSettings.model_validate({"overrides": tables}))
    assert [mixed.of(name) for name in ("a", "b", "bb")] == [0, 1, 2]
