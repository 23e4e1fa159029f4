"""From the settings of a recipe to the algorithm they describe."""

from __future__ import annotations

from importlib import import_module

from burnish.algorithms.base import Algorithm, Needs
from burnish.algorithms.catalogue import PRESETS
from burnish.algorithms.mixed import PerDomain
from burnish.algorithms.objective import Objective
from burnish.algorithms.settings import AlgorithmSettings, PresetSettings


def build(settings: AlgorithmSettings, max_tokens: int = 0) -> Algorithm:
    """The algorithm that the settings name.

    Args:
        settings: of the recipe.
        max_tokens: longest completion; presets that divide by it or penalise length need it.
    """
    steered = settings.entropy_target > 0
    default = _objective(settings, max_tokens, steered=steered)
    if not settings.overrides:
        return default
    others = tuple((o.domains, _objective(o, max_tokens, steered=steered)) for o in settings.overrides)
    return PerDomain(default, others)


def _objective(settings: PresetSettings, max_tokens: int, *, steered: bool) -> Objective:
    module, _, name = PRESETS[settings.name].code.partition(":")
    preset = getattr(import_module(module), name)(settings, max_tokens)
    needs = Needs(
        reference=settings.kl_coef > 0,
        entropy=steered or settings.entropy_coef > 0,
        greedy=getattr(preset, "greedy", False),
        critic=getattr(preset, "critic", False),
    )
    return Objective(preset, settings, needs)
