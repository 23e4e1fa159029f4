from __future__ import annotations

from pathlib import Path

import pytest

from burnish.cli.arguments import expand, levels_from, overrides_from
from burnish.errors import RecipeError


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("r.toml --rl.steps 10", "r.toml --set rl.steps=10"),
        ("--rl.steps=10 r.toml", "--set rl.steps=10 r.toml"),
        ("r.toml --rl.lr -3", "r.toml --set rl.lr=-3"),
        ("r.toml --rl.lr -.5", "r.toml --set rl.lr=-.5"),
        ("r.toml --seed 3 --dry-run", "r.toml --set seed=3 --dry-run"),
        ("r.toml --rl.max-minutes 3", "r.toml --set rl.max_minutes=3"),
        ("r.toml --domains.graded --json", "r.toml --set domains.graded=true --json"),
        ("r.toml --domains.graded", "r.toml --set domains.graded=true"),
        ("r.toml --domains.levels.a/b-c 2", "r.toml --set domains.levels.a/b-c=2"),
        ("r.toml --run-dir x", "r.toml --run-dir x"),
        ("--resume runs/x", "--resume --run-dir runs/x"),
        ("--resume=runs/x", "--resume --run-dir runs/x"),
        ("r.toml --resume", "r.toml --resume"),
        ("r.toml --resume --quiet", "r.toml --resume --quiet"),
        ("--resume r.toml", "--resume r.toml"),
    ],
)
def test_flags_are_spelled_for_the_parser(words, expected):
    assert expand(["train", *words.split()]) == ["train", *expected.split()]


def test_value_with_spaces_and_equals_stays_whole():
    assert expand(["train", "--domains.levels", '{"a" = 1}']) == [
        "train",
        "--set",
        'domains.levels={"a" = 1}',
    ]


def test_other_commands_take_no_recipe_keys():
    assert expand(["runs", "--seed", "3"]) == ["runs", "--seed", "3"]


def test_recipe_key_without_a_value():
    with pytest.raises(RecipeError, match=r"--rl\.steps needs a value"):
        expand(["train", "--rl.steps", "--json"])


def test_overrides_split_at_the_first_equals_sign():
    assert overrides_from(["domains.levels={a = 1}"]) == {"domains.levels": "{a = 1}"}


def test_last_override_wins():
    assert overrides_from(["rl.lr=1", "rl.lr=2"]) == {"rl.lr": "2"}


@pytest.mark.parametrize(
    ("text", "levels"), [("0", (0,)), ("0, 2,1", (0, 2, 1)), ("1,1", (1,)), ("all", None)]
)
def test_levels(text, levels):
    assert levels_from(text) == levels


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5", ","])
def test_wrong_levels(text):
    with pytest.raises(RecipeError, match="--levels"):
        levels_from(text)


def test_existing_file_after_resume_is_a_recipe(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("recipe").touch()
    assert expand(["train", "--resume", "recipe"]) == ["train", "--resume", "recipe"]
