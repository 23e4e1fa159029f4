"""Burnish post-trains language models with reinforcement learning, jointly over many domains."""

from burnish.api import evaluate, load_recipe, train
from burnish.errors import BurnishError
from burnish.observe.console import Console

__version__ = "0.1.0"

__all__ = ["BurnishError", "Console", "__version__", "evaluate", "load_recipe", "train"]
