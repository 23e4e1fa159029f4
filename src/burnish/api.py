"""The Python interface: the same jobs as the command line, with domains and rewards as objects.

import burnish

recipe = burnish.load_recipe("examples/tiny.toml")
result = burnish.train(recipe, "runs/tiny")
print(result.summary["differences"][-1]["sampled"]["macro"])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burnish.domains.base import Domain
from burnish.recipe import Recipe
from burnish.recipe import load_recipe as _load_recipe

if TYPE_CHECKING:
    from burnish.evaluation.evaluation import Evaluation
    from burnish.observe.console import Console
    from burnish.pipeline import RunResult


def load_recipe(path: str | Path, overrides: Mapping[str, Any] | None = None) -> Recipe:
    """Read and check a recipe file.

    Args:
        path: a TOML file.
        overrides: values by dotted key, for example `{"rl.steps": 10}`.

    Raises:
        RecipeError: the file or an override is wrong.
    """
    return _load_recipe(Path(path), overrides)


def train(
    recipe: Recipe | str | Path,
    run_dir: str | Path,
    *,
    domains: Sequence[Domain] = (),
    resume: bool = False,
    console: Console | None = None,
) -> RunResult:
    """Run a recipe: evaluate, fine-tune, evaluate, reinforce, evaluate, report.

    Args:
        recipe: a recipe or the path of one.
        run_dir: new folder for the run, or the folder of the run to resume.
        domains: domain objects; those that the recipe does not name as held out are trained on.
        resume: continue an interrupted run.
        console: where progress is shown; `burnish.Console(quiet=True)` for none.

    Raises:
        BurnishError: bad input, an interruption or a failure; see `burnish.errors`.
    """
    from burnish import pipeline  # noqa: PLC0415 - loads torch

    recipe = recipe if isinstance(recipe, Recipe) else load_recipe(recipe)
    return pipeline.train(recipe, Path(run_dir), resume=resume, console=console, extra_domains=domains)


def evaluate(
    model: str | Path,
    recipe: Recipe | str | Path,
    *,
    domains: Sequence[Domain] = (),
    console: Console | None = None,
) -> Evaluation:
    """Measure a model, run or checkpoint on the domains of a recipe.

    Raises:
        BurnishError: bad input; see `burnish.errors`.
    """
    from burnish import pipeline  # noqa: PLC0415 - loads torch

    recipe = recipe if isinstance(recipe, Recipe) else load_recipe(recipe)
    return pipeline.evaluate_model(str(model), recipe, console=console, extra_domains=domains)
