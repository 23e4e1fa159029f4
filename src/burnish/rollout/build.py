"""How a worker makes its engine: from a few settings and the name of the model, nothing larger is sent."""

from __future__ import annotations

from burnish.models.load import load_policy
from burnish.models.settings import ModelSettings
from burnish.rollout.torch_engine import TorchEngine


def build_engine(model: ModelSettings, seed: int, batch_rows: int) -> TorchEngine:
    """The embedded engine around a model of its own; it holds the starting weights."""
    return TorchEngine(load_policy(model, seed), batch_rows)
