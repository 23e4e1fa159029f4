"""What stays on disk: the newest, the best, every Nth, the ends of stages; always one that verifies."""

import math
from pathlib import Path

import pytest
from checkpoint_helpers import save

from burnish.recipe import build_recipe
from burnish.training.checkpoint import is_complete, saved_checkpoints
from burnish.training.retention import Retention, Saved, discard, prune, retention_of, score, surplus


def row(version, value=None, finished=False):
    return Saved(Path(f"step_{version:06d}"), version, "rl", version, finished, value)


def doomed(checkpoints, **keep):
    return [c.version for c in surplus(checkpoints, Retention(**keep))]


@pytest.mark.parametrize(
    ("keep", "gone"),
    [
        ({"last": 1}, [1, 2, 3, 4, 5]),
        ({"last": 3}, [1, 2, 3]),
        ({"last": 9}, []),
        ({"last": 1, "every": 2}, [1, 3, 5]),
        ({"last": 1, "best": 1}, [1, 2, 4, 5]),
        ({"last": 2, "best": 2, "every": 4}, [1]),
    ],
)
def test_what_nothing_asks_to_keep_goes(keep, gone):
    values = {1: 0.1, 2: 0.5, 3: 0.9, 4: 0.2, 5: None, 6: 0.3}
    assert doomed([row(v, x) for v, x in values.items()], **keep) == gone


def test_of_two_equally_good_the_later_one_stays():
    assert doomed([row(1, 0.5), row(2, 0.5), row(3, 0.1)], last=1, best=1) == [1]


def test_the_end_of_a_stage_always_stays_and_takes_nobodys_place():
    assert doomed([row(1, finished=True), row(2), row(3), row(4, finished=True)], last=1) == [2]


def test_the_score_is_a_mean_over_the_last_ten_steps_that_were_measured():
    curve = [(step, float(step)) for step in range(1, 31)]
    assert score(curve, 20) == sum(range(11, 21)) / 10
    assert score([(1, 2.0), (2, math.nan)], 2) == 2.0
    assert score([], 5) is None
    assert score([(7, 1.0)], 5) is None


def test_surplus_is_deleted_only_when_something_that_remains_verifies(tmp_path, fresh_policy):
    for version in (1, 2, 3):
        save(tmp_path, fresh_policy, version, score=0.1 * version)
    found = saved_checkpoints(tmp_path)
    assert [round(s.score, 1) for s in found] == [0.3, 0.2, 0.1]
    assert prune(found, Retention(last=1), lambda path: False) == []
    gone = prune(found, Retention(last=1), lambda path: is_complete(path, hashes=True))
    assert [p.name for p in gone] == ["step_000001", "step_000002"]
    assert [p.name for p in tmp_path.iterdir()] == ["step_000003"]


def test_one_that_verifies_further_back_is_enough(tmp_path, fresh_policy):
    for version in (1, 2, 3):
        save(tmp_path, fresh_policy, version)
    weights = tmp_path / "step_000003" / "optimiser.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    gone = prune(saved_checkpoints(tmp_path), Retention(last=2), lambda path: is_complete(path, hashes=True))
    assert [p.name for p in gone] == ["step_000001"]


def test_what_is_being_deleted_is_no_checkpoint_any_more(tmp_path, fresh_policy, monkeypatch):
    path = save(tmp_path, fresh_policy)
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)  # killed before anything was removed
    discard(path)
    assert saved_checkpoints(tmp_path) == []


def test_the_recipe_says_what_stays():
    domains = {"train": ["reasoning-gym/arithmetic/gcd"]}
    recipe = build_recipe(
        {
            "domains": domains,
            "rl": {"keep_checkpoints": 3, "keep_best": 2, "keep_every": 50, "best_metric": "success"},
            "sft": {"keep_checkpoints": 4},
        }
    )
    assert retention_of(recipe.rl) == Retention(3, 2, 50, "success")
    assert retention_of(recipe.sft) == Retention(4)
