from __future__ import annotations

import pytest

from burnish.recipe.overrides import split_key


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("rl.steps", "10", 10),
        ("rl.lr", "1e-4", 1e-4),
        ("rl.lr", ".5", 0.5),
        ("rl.lr", "1", 1.0),
        ("rl.max_minutes", "none", None),
        ("rl.schedule", "linear", "linear"),
        ("rl.betas", "[0.5, 0.6]", (0.5, 0.6)),
        ("rl.betas", "0.5,0.6", (0.5, 0.6)),
        ("domains.graded", "true", True),
        ("domains.graded", "no", False),
        ("domains.train", '["b", "c/*"]', ("b", "c/*")),
        ("domains.train", "b, c/*", ("b", "c/*")),
        ("domains.levels", '{"b/c" = 2}', {"b/c": 2}),
        ("domains.levels.b/c.v1", "2", {"b/c.v1": 2}),
        ("domains.instruction", "12", "12"),
        ("model.lora_target", "all-linear", "all-linear"),
        ("model.lora_target", '["q_proj"]', ("q_proj",)),
        ("name", "none", "none"),
    ],
)
def test_text_is_read_by_the_type_of_its_key(load, key, text, value):
    found = load("[rl]\nmax_minutes = 3", {key: text})
    for part in split_key(key)[:2]:
        found = getattr(found, part)
    assert found == value
    assert type(found) is type(value)


def test_python_values_are_taken_as_they_are(load):
    assert load("", {"rl.steps": 3, "domains.train": ["z"]}).domains.train == ("z",)


def test_other_keys_of_the_table_stay(load):
    recipe = load("[rl]\nsteps = 9\nwarmup = 1", {"rl.steps": "3"})
    assert (recipe.rl.steps, recipe.rl.warmup) == (3, 1)


def test_table_given_whole_replaces_the_files(load):
    text = '[domains]\ntrain = ["a"]\nlevels = {a = 1, b = 2}'
    assert load(text, {"domains.levels": "{c = 3}"}).domains.levels == {"c": 3}
    assert load(text, {"domains.levels.b": "3"}).domains.levels == {"a": 1, "b": 3}


def test_wrong_override_is_named_as_a_flag(message):
    assert "--rl.steps: wrong value" in message("", {"rl.steps": "ten"})


def test_unknown_override_is_named_as_a_flag_with_a_suggestion(message):
    text = message("", {"rl.lerning_rate": "1"})
    assert "--rl.lerning_rate: unknown key" in text
    assert "did you mean 'lr'?" in text


def test_override_mends_what_is_wrong_in_the_file(load):
    assert load('[rl]\nsteps = "ten"', {"rl.steps": "4"}).rl.steps == 4


def test_value_where_a_table_belongs(message):
    assert "--rl: wrong value" in message("", {"rl": "3"})
