import pytest
import torch

from burnish.algorithms.build import build
from burnish.algorithms.settings import AlgorithmSettings
from burnish.bench.update_task import Shape, naive_loss, random_updates
from burnish.errors import ModelError
from burnish.training.update import accumulate

_GRPO = build(AlgorithmSettings(name="grpo", kl_coef=0.0))


def _gradient(policy) -> torch.Tensor:
    return torch.cat([p.grad.flatten() for p in policy.trainable().values() if p.grad is not None])


@pytest.mark.parametrize("full_logits", [False, True])
def test_the_naive_way_has_the_gradient_of_ours(fresh_policy, full_logits):
    (update,) = random_updates(fresh_policy, Shape(12, 4, 5))
    accumulate(fresh_policy, _GRPO, [update], 2048)
    ours = _gradient(fresh_policy)
    fresh_policy.model.zero_grad()
    naive_loss(fresh_policy, _GRPO, update, full_logits=full_logits).backward()
    assert ours.abs().max() > 1e-4
    assert (ours - _gradient(fresh_policy)).abs().max() < 1e-5 * ours.abs().max().clamp(min=1)


def test_updates_have_the_asked_sizes(fresh_policy):
    updates = random_updates(fresh_policy, Shape(12, 4, 5, prompts=2))
    assert [(len(u.group.prompt_ids), len(u.branches)) for u in updates] == [(12, 4), (12, 4)]
    assert {len(b.sample.token_ids) for u in updates for b in u.branches} == {5}


def test_what_does_not_fit_the_context_is_refused(fresh_policy):
    with pytest.raises(ModelError, match="do not fit"):
        random_updates(fresh_policy, Shape(fresh_policy.context, 2, 1))
