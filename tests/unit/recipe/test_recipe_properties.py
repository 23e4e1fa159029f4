"""Whatever a recipe says, it can be written and read back."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.errors import RecipeError
from burnish.recipe import Recipe, load_recipe, to_toml
from burnish.recipe.load import build_recipe, parse_toml

CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0")
TEXT = st.text(CHARACTERS, max_size=12)
NAME = st.text(CHARACTERS, min_size=1, max_size=12)
NUMBER = st.floats(min_value=1e-12, max_value=1e12)
BETA = st.floats(min_value=0, max_value=0.999)


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    names = draw(st.lists(NAME, min_size=2, max_size=4, unique=True))
    rows = [{"name": name, "path": f"/{draw(NAME)}"} for name in draw(st.lists(NAME, max_size=2))]
    data: dict[str, Any] = {
        "name": draw(NAME),
        "seed": draw(st.integers(0, 2**62)),
        "stages": draw(st.sampled_from([[], ["sft"], ["rl"], ["sft", "rl"]])),
        "domains": {
            "train": names[1:],
            "held_out": names[:1],
            "levels": draw(st.dictionaries(TEXT, st.integers(0, 9), max_size=3)),
            "instruction": draw(st.none() | TEXT),
            "rows": rows,
        },
        "curriculum": {"weights": draw(st.dictionaries(TEXT, NUMBER, max_size=3))},
        "model": {"lora_target": draw(TEXT | st.lists(TEXT, max_size=2))},
        "rl": {
            "lr": draw(NUMBER),
            "betas": [draw(BETA), draw(BETA)],
            "max_minutes": draw(st.none() | NUMBER),
            "reward": draw(st.sampled_from(["true", "random"])),
        },
    }
    return Recipe.model_validate(data)


@settings(max_examples=60, deadline=None)
@given(recipes())
def test_recipe_survives_writing_and_reading(recipe: Recipe):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.toml"
        path.write_text(to_toml(recipe), encoding="utf-8", newline="\n")
        again = load_recipe(path)
    rows = [row.model_copy(update={"path": os.path.abspath(row.path)}) for row in recipe.domains.rows]
    domains = recipe.domains.model_copy(update={"rows": tuple(rows)})
    assert again == recipe.model_copy(update={"domains": domains})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(["name", "stages", "rl", "domains", "model", "rollout", "evaluate", "lr", ""])


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(KEYS, VALUES, max_size=4),
    st.dictionaries(
        st.sampled_from(
            [
                "rl.steps",
                "rl",
                "domains.train",
                "domains.rows",
                "domains.levels.x",
                "model.name",
                "x.y",
                "",
                ".",
                "rl.lr.x",
            ]
        ),
        TEXT,
        max_size=3,
    ),
)
def test_any_input_gives_a_recipe_or_a_recipe_error(data: dict[str, Any], overrides: dict[str, str]):
    try:
        build_recipe(data, overrides)
    except RecipeError as error:
        assert str(error)


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("[]{}=.\"'\n# a1,-T:e"), max_size=20))
def test_any_text_parses_or_names_a_line(text: str):
    try:
        parse_toml(text, "r.toml")
    except RecipeError as error:
        assert "line " in str(error)
