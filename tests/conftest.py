"""Fixtures shared by all tests: one arithmetic thread, and the tiny model built once."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import pytest


@pytest.fixture(scope="session")
def tiny_policy():
    """A frozen float32 `tiny` policy of two layers; tests must not change it."""
    import torch

    from burnish.models.load import load_policy
    from burnish.models.settings import ModelSettings

    torch.set_num_threads(1)
    settings = ModelSettings(
        name="tiny", dtype="float32", tiny_layers=2, tiny_hidden=64, tiny_intermediate=128
    )
    return load_policy(settings, seed=1)


@pytest.fixture
def fresh_policy(tiny_policy):
    """A copy of the tiny policy that a test may train."""
    import copy
    import dataclasses

    return dataclasses.replace(tiny_policy, model=copy.deepcopy(tiny_policy.model).requires_grad_(True))
