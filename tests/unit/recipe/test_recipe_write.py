from __future__ import annotations

import tomllib
from functools import reduce
from operator import getitem

import pytest

from burnish.algorithms.catalogue import PRESETS
from burnish.recipe import Recipe, differences, recipe_schema, to_toml
from burnish.recipe.fields import strip
from burnish.recipe.write import toml_value


@pytest.mark.parametrize(
    "value",
    [
        "",
        'quote " and \\',
        "tab\tline\nbell\x07\x7f",
        "ünï☃",
        1e-05,
        3,
        True,
        [],
        ["a", ["b"]],
        {"a b": 1},
        {},
    ],
)
def test_value_reads_back(value):
    assert tomllib.loads(f"v = {toml_value(value)}")["v"] == value


def test_every_key_that_has_a_value_and_is_read_is_spelled_out(load):
    recipe = load("")
    data = tomllib.loads(to_toml(recipe))
    read = ("name", *PRESETS[recipe.algorithm.name].keys)
    for key in recipe_schema():
        table, _, name = key.key.rpartition(".")
        if key.default and "[]" not in key.key and (table != "algorithm" or name in read):
            assert name in reduce(getitem, filter(None, table.split(".")), data), key


def test_list_of_tables_reads_back(load):
    text = (
        '[domains]\ntrain=["a"]\n[[domains.rows]]\nname="x"\npath="/x"\n[[domains.rows]]\nname="y"\npath="/y"'
    )
    recipe = load(text)
    assert load(to_toml(recipe)) == recipe


def test_settings_that_can_be_unset_are_unset_by_default():
    """TOML has no null, so None can only be written by leaving the key out."""
    for field in Recipe.model_fields.values():
        table = strip(field.annotation)
        for name, inner in getattr(table, "model_fields", {}).items():
            if strip(inner.annotation) is not inner.annotation and type(None) in getattr(
                inner.annotation, "__args__", ()
            ):
                assert inner.default is None, (table, name)


def test_every_key_is_documented():
    assert [key.key for key in recipe_schema() if not key.doc] == []


def test_differences_name_key_and_both_values(load):
    old, new = load(""), load("", {"rl.steps": 3, "domains.levels.x": 1})
    assert differences(old, new) == {"rl.steps": (60, 3), "domains.levels.x": (None, 1)}


def test_equal_recipes_do_not_differ(load):
    assert differences(load(""), load("")) == {}
