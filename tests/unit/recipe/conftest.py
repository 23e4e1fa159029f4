from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from burnish.errors import RecipeError
from burnish.recipe import Recipe, load_recipe

Load = Callable[..., Recipe]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Load a recipe from its text, with one domain to train on unless it names its own."""

    def _load(text: str, overrides: Mapping[str, Any] | None = None) -> Recipe:
        path = tmp_path / "quick.toml"
        path.write_text(text if "[domains]" in text else f'{text}\n[domains]\ntrain = ["a"]\n')
        return load_recipe(path, overrides)

    return _load


@pytest.fixture
def message(load: Load) -> Callable[..., str]:
    """What is said about a recipe that is wrong."""

    def _message(text: str, overrides: Mapping[str, Any] | None = None) -> str:
        with pytest.raises(RecipeError) as caught:
            load(text, overrides)
        return str(caught.value)

    return _message
