"""A sync that did not do what it says is caught before anything is drawn."""

import copy
import dataclasses

import pytest
import torch

from burnish.errors import TrainingError
from burnish.models.load import load_policy
from burnish.models.settings import ModelSettings
from burnish.rollout.inline import InlineRollouts
from burnish.rollout.torch_engine import TorchEngine
from burnish.training.canary import Canary, probes_for

SIZES = {"dtype": "float32", "tiny_layers": 2, "tiny_hidden": 64, "tiny_intermediate": 128}


class StaleVersion(TorchEngine):
    def load(self, weights, version):
        super().load(weights, version - 1)


class DroppedTensor(TorchEngine):
    def load(self, weights, version):
        kept = dict(weights)
        kept.pop(sorted(kept)[0])
        super().load(kept, version)


class Narrowed(TorchEngine):
    """Loses bits on the way, as a channel of the wrong type does."""

    def load(self, weights, version):
        super().load({n: t.bfloat16() for n, t in weights.items()}, version)


class WrongType(TorchEngine):
    def load(self, weights, version):
        self.policy.model.bfloat16()
        super().load(weights, version)


class Frozen(TorchEngine):
    """Says that it has loaded an adapter, and goes on with the first one."""

    def load(self, weights, version):
        super().load({n: t for n, t in weights.items() if "lora" not in n}, version)


class Unused(TorchEngine):
    """Holds everything but computes with what it computed with before."""

    def _refresh(self):
        if not hasattr(self, "_head"):
            super()._refresh()

    def score(self, prompt_ids, completion_ids):
        return [p - 0.01 for p in super().score(prompt_ids, completion_ids)]


def frozen_copy(policy):
    return dataclasses.replace(policy, model=copy.deepcopy(policy.model).requires_grad_(False))


def sync(engine_class, settings=None):
    policy = load_policy(settings or ModelSettings(name="tiny", **SIZES), seed=1)
    engine = engine_class(frozen_copy(policy))
    with torch.no_grad():
        for parameter in policy.trainable().values():
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(0)) * 0.02)
    probes = probes_for(policy)
    canary = Canary(policy, probes)
    rollouts = InlineRollouts(engine, canary.verify, probes)
    canary.expect(7)
    rollouts.sync(policy.trainable(), 7)
    return canary


@pytest.mark.parametrize(
    ("engine_class", "check"),
    [
        (StaleVersion, "version"),
        (DroppedTensor, "tensors"),
        (Narrowed, "tensors"),
        (WrongType, "tensors"),
        (Unused, "score"),
    ],
)
def test_a_faulty_sync_is_caught_at_once(engine_class, check):
    with pytest.raises(TrainingError, match=f"canary check: {check}"):
        sync(engine_class)


def test_a_frozen_adapter_is_caught_at_the_first_sync():
    with pytest.raises(TrainingError, match="lora"):
        sync(Frozen, ModelSettings(name="tiny", lora_rank=4, **SIZES))


@pytest.mark.parametrize("lora_rank", [0, 4])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_good_sync_passes(lora_rank, dtype):
    canary = sync(TorchEngine, ModelSettings(name="tiny", lora_rank=lora_rank, **{**SIZES, "dtype": dtype}))
    assert canary.gap < (1e-5 if dtype == "float32" else 0.1)
