"""The recipe: one frozen model composed of the settings that each room defines for itself."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from burnish.algorithms.catalogue import PRESETS
from burnish.algorithms.settings import AlgorithmSettings
from burnish.curriculum.settings import CurriculumSettings
from burnish.domains.settings import DomainSettings
from burnish.models.settings import ModelSettings
from burnish.recipe.stages import EvaluateSettings, RlSettings, SftSettings
from burnish.rollout.settings import RolloutSettings

Stage = Literal["sft", "rl"]


class Recipe(BaseModel):
    """Everything a run needs to know; each attribute that is a model is one table of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: str = Field(default="run", min_length=1)
    """Name of the run; the file's own name when the file does not say."""
    seed: int = Field(default=0, ge=0)
    """Seed of every random draw."""
    threads: int = Field(default=0, ge=0)
    """Processor threads for arithmetic; 0 = all cores."""
    stages: tuple[Stage, ...] = ("sft", "rl")
    """Stages to run, in order: `sft`, `rl`, both, or none to evaluate only."""

    model: ModelSettings = Field(default_factory=ModelSettings)
    """The model to start from."""
    domains: DomainSettings = Field(default_factory=DomainSettings)
    """What is trained on and what is only measured."""
    rollout: RolloutSettings = Field(default_factory=RolloutSettings)
    """How completions are drawn."""
    algorithm: AlgorithmSettings = Field(default_factory=AlgorithmSettings)
    """How verdicts become a policy update."""
    curriculum: CurriculumSettings = Field(default_factory=CurriculumSettings)
    """Which domain comes next."""
    sft: SftSettings = Field(default_factory=SftSettings)
    """Supervised fine-tuning."""
    rl: RlSettings = Field(default_factory=RlSettings)
    """Reinforcement learning."""
    evaluate: EvaluateSettings = Field(default_factory=EvaluateSettings)
    """How the model is measured."""

    @model_validator(mode="after")
    def _fields_agree(self) -> Recipe:
        conflicts = cross_check(self)
        if conflicts:
            raise ValueError("\n".join(conflicts))
        return self


def cross_check(recipe: Recipe) -> list[str]:
    """A sentence for every pair of settings that contradict each other, naming both and their values."""
    return [
        conflict
        for check in (_check_stages, _check_domains, _check_group, _check_guard)
        if (conflict := check(recipe)) is not None
    ]


def _check_stages(recipe: Recipe) -> str | None:
    if list(recipe.stages) in ([], ["sft"], ["rl"], ["sft", "rl"]):
        return None
    return f"stages = {list(recipe.stages)}: each stage may appear once, and sft comes before rl"


def _check_domains(recipe: Recipe) -> str | None:
    train, held_out = recipe.domains.train, recipe.domains.held_out
    if recipe.stages and not train:
        return f"stages = {list(recipe.stages)} needs something to train on, but domains.train = []"
    if not (train or held_out):
        return "nothing to evaluate: domains.train = [] and domains.held_out = []"
    both = sorted(set(train) & set(held_out))
    if both:
        return f"domains.train and domains.held_out both name {both}; a held-out domain is never trained on"
    return None


def _check_group(recipe: Recipe) -> str | None:
    """Most algorithms compare the samples of one prompt with each other."""
    least = max(PRESETS[s.name].least_samples for s in (recipe.algorithm, *recipe.algorithm.overrides))
    if "rl" not in recipe.stages or recipe.rollout.samples >= least:
        return None
    return (
        f'algorithm.name = "{recipe.algorithm.name}" compares the samples of one prompt, '
        f"but rollout.samples = {recipe.rollout.samples}; it needs at least 2"
    )


def _check_guard(recipe: Recipe) -> str | None:
    """A rule can only act on what is there."""
    for number, rule in enumerate(recipe.rl.guard, 1):
        if rule.act == "restore" and recipe.rl.checkpoint_every == 0:
            return f'rl.guard #{number} has act = "restore", but rl.checkpoint_every = 0 saves nothing'
        if rule.watch == "kl" and not recipe.algorithm.needs_reference:
            return f'rl.guard #{number} watches "kl", but algorithm.kl_coef = 0 measures none'
    return None
