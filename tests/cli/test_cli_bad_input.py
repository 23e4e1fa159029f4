"""Bad input meets the real pipeline: a clear error before any work, and nothing left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CHAIN_SUM = "reasoning-gym/arithmetic/chain_sum"


@pytest.fixture
def refused(cli, tmp_path: Path):
    """What `burnish train` says about a recipe that cannot be run."""

    def _refused(text: str, *flags: str) -> str:
        (tmp_path / "r.toml").write_text(text)
        done = cli("train", "r.toml", "--run-dir", "run", *flags)
        assert done.code == 2, done.out + done.err
        assert done.err.startswith("error: ")
        assert "Traceback" not in done.err
        return done.err

    return _refused


def test_unknown_domain(refused):
    text = refused('[domains]\ntrain = ["reasoning-gym/arithmetic/chain_sums"]')
    assert f"did you mean '{CHAIN_SUM}'" in text
    assert not Path("run").exists()


def test_pattern_that_matches_nothing(refused):
    assert "matches no domain" in refused('[domains]\ntrain = ["nothing/*"]')
    assert not Path("run").exists()


def test_level_out_of_range(refused):
    assert "expected: 0 to 10" in refused(f'[domains]\ntrain = ["{CHAIN_SUM}"]\nlevel = 99')
    assert not Path("run").exists()


def test_missing_row_file(refused, tmp_path):
    text = refused('[domains]\ntrain = ["x"]\n[[domains.rows]]\nname = "x"\npath = "gone.jsonl"')
    assert str(tmp_path / "gone.jsonl") in text
    assert not Path("run").exists()


def test_model_that_is_not_there(refused):
    text = refused(f'[model]\nname = "./gone"\n[domains]\ntrain = ["{CHAIN_SUM}"]')
    assert "gone" in text


def test_existing_run_is_never_overwritten(refused, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "precious").write_text("mine")
    assert "never overwritten" in refused(f'[domains]\ntrain = ["{CHAIN_SUM}"]')
    assert os.listdir(run) == ["precious"]
