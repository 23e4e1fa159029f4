"""Burnish post-trains language models with reinforcement learning, jointly over many domains."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burnish.api import evaluate, load_recipe, train
    from burnish.domains.functions import domain, with_reward
    from burnish.errors import BurnishError
    from burnish.observe.console import Console
    from burnish.records import Abstained, Faulted, Scored, Verdict

__version__ = "0.1.0"

__all__ = [
    "Abstained",
    "BurnishError",
    "Console",
    "Faulted",
    "Scored",
    "Verdict",
    "__version__",
    "domain",
    "evaluate",
    "load_recipe",
    "train",
    "with_reward",
]

_HOMES = {
    "burnish.api": ("evaluate", "load_recipe", "train"),
    "burnish.domains.functions": ("domain", "with_reward"),
    "burnish.errors": ("BurnishError",),
    "burnish.observe.console": ("Console",),
    "burnish.records": ("Abstained", "Faulted", "Scored", "Verdict"),
}


def __getattr__(name: str) -> object:
    """Import on first use, so that the command line answers before numpy and pydantic are loaded."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'burnish' has no attribute {name!r}")
