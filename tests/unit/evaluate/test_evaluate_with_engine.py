"""The suite on the embedded engine with the tiny model."""

import numpy as np
import pytest
from evaluate_fakes import Numbers

from burnish.evaluation.plan import EvaluationPlan
from burnish.evaluation.suite import evaluate, fetch_tasks
from burnish.models.load import load_policy
from burnish.models.settings import ModelSettings
from burnish.records import Scored
from burnish.rollout.torch_engine import TorchEngine


@pytest.fixture(scope="module")
def policy():
    return load_policy(
        ModelSettings(name="tiny", tiny_hidden=32, tiny_layers=1, tiny_intermediate=64), seed=0
    )


def first_token_is_even(domain, task, sample):
    passed = sample.token_ids[0] % 2 == 0
    return Scored(float(passed), passed)


def run(policy, **settings):
    plan = EvaluationPlan(tasks=7, samples=3, max_tokens=4, **settings)
    domains = [(Numbers("a"), 0, False), (Numbers("b"), 1, True)]
    engine = TorchEngine(policy, batch_rows=16)
    return evaluate(
        engine,
        lambda task: policy.encode(task.messages),
        domains,
        fetch_tasks,
        plan,
        judge=first_token_is_even,
    )


def test_outcomes_do_not_depend_on_how_tasks_are_batched(policy):
    (one, groups), (other, _) = run(policy, batch_requests=256), run(policy, batch_requests=3)
    for a, b in zip(one.domains, other.domains, strict=True):
        np.testing.assert_array_equal(a.greedy, b.greedy)
        np.testing.assert_array_equal(a.sampled, b.sampled)
    assert [sample.index for sample in groups[0].samples] == [0, 1, 2, 3]


def test_another_seed_draws_other_samples_and_the_same_greedy_answers(policy):
    (_, one), (_, other) = run(policy, seed=1), run(policy, seed=2)
    assert [group.samples[0].token_ids for group in one] == [group.samples[0].token_ids for group in other]
    assert [group.samples[1:] for group in one] != [group.samples[1:] for group in other]
