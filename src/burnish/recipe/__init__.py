"""The typed TOML recipe: what a run trains, on what, and how.

Nothing here, and nothing it imports, loads a framework: a recipe is judged before anything heavy starts.
"""

from burnish.recipe.fields import RecipeKey, recipe_schema
from burnish.recipe.load import build_recipe, load_recipe
from burnish.recipe.model import Recipe, Stage, cross_check
from burnish.recipe.stages import EvaluateSettings, GuardRule, RlSettings, SftSettings
from burnish.recipe.write import differences, to_toml

__all__ = [
    "EvaluateSettings",
    "GuardRule",
    "Recipe",
    "RecipeKey",
    "RlSettings",
    "SftSettings",
    "Stage",
    "build_recipe",
    "cross_check",
    "differences",
    "load_recipe",
    "recipe_schema",
    "to_toml",
]
