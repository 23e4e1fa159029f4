"""`burnish algorithms`, and what a recipe may not say to an algorithm."""

import json

from burnish.algorithms.catalogue import PRESETS
from burnish.cli import main


def test_lists_every_preset_with_its_line(capsys):
    assert main(["algorithms"]) == 0
    out = capsys.readouterr().out
    for preset in PRESETS.values():
        assert preset.name in out
        assert preset.paper in out


def test_one_preset_shows_its_keys_and_its_own_defaults(capsys):
    assert main(["algorithms", "gspo"]) == 0
    out = capsys.readouterr().out
    assert "algorithm.clip_high = 0.0004" in out
    assert "trust_region" not in out


def test_json_is_one_document_with_defaults(capsys):
    assert main(["algorithms", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == list(PRESETS)
    keys = {row["key"]: row["default"] for row in rows[0]["keys"]}
    assert keys["algorithm.trust_region"] == 0.2


def test_an_unknown_name_is_answered_with_the_nearest(capsys):
    assert main(["algorithms", "gsop"]) == 2
    assert "did you mean 'gspo'?" in capsys.readouterr().err


def test_a_recipe_that_sets_a_key_its_algorithm_ignores_is_refused(tmp_path, capsys):
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        '[domains]\ntrain = ["reasoning-gym/arithmetic/gcd"]\n[algorithm]\nname = "rloo"\nclip_low = 0.1\n'
    )
    assert main(["train", str(recipe), "--dry-run"]) == 2
    error = capsys.readouterr().err
    assert 'clip_low is not read by "rloo"' in error
    assert "it takes entropy_coef" in error
