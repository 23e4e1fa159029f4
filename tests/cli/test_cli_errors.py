from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.errors import Interrupted, TrainingError


def raising(error: BaseException):
    def _raise(*_args, **_named):
        raise error

    return _raise


def test_unknown_command_is_suggested(cli):
    done = cli("trian")
    assert (done.code, done.out) == (2, "")
    assert 'Did you mean "train"?' in done.err


def test_unknown_option_is_suggested(cli, recipe):
    assert "Did you mean --dry-run?" in cli("train", recipe, "--dry-rn").err


def test_bare_recipe_key_says_its_table(cli, recipe):
    assert "did you mean --sft.steps or --rl.steps?" in cli("train", recipe, "--steps", "3").err


def test_value_of_the_wrong_type(cli):
    done = cli("eval", "tiny", "--tasks", "x", "--domains", "a")
    assert done.code == 2
    assert "--tasks" in done.err


def test_missing_argument(cli):
    assert "MODEL requires an argument" in cli("eval").err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[rl\n", "line 1, column 4"),
        ("[rl]\nlerning_rate = 1", "did you mean 'lr'?"),
        ('[rl]\nsteps = "ten"', 'got:      "ten" (text)'),
        ("", "domains.train = []"),
        ('[domains]\ntrain = ["a"]\n[rollout]\nsamples = 1', "rollout.samples = 1"),
    ],
)
def test_wrong_recipe_is_explained_without_a_traceback(cli, tmp_path: Path, text, said):
    (tmp_path / "r.toml").write_text(text)
    done = cli("train", "r.toml")
    assert done.code == 2
    assert said in done.err
    assert "r.toml" in done.err
    assert "Traceback" not in done.err


def test_missing_recipe_names_a_near_one(cli, recipe):
    assert "did you mean 'quick.toml'?" in cli("train", "quik.toml").err


def test_wrong_override_is_named_as_the_flag_it_was(cli, recipe):
    done = cli("train", recipe, "--rl.lr", "fast", "--rl.stpes", "3")
    assert done.code == 2
    assert "the command line has 2 problems" in done.err
    assert "--rl.lr: wrong value" in done.err
    assert "--rl.stpes: unknown key; did you mean 'steps'?" in done.err


def test_override_without_a_value(cli, recipe):
    assert "--rl.steps needs a value" in cli("train", recipe, "--rl.steps", "--dry-run").err


def test_set_without_a_value(cli, recipe):
    assert "--set needs KEY=VALUE" in cli("train", recipe, "--set", "rl.steps").err


def test_train_without_a_recipe(cli):
    assert "burnish train RECIPE" in cli("train").err


def test_error_of_training_has_its_own_exit_code(cli, recipe, pipeline):
    pipeline(train=raising(TrainingError("the loss is not a number")))
    done = cli("train", recipe)
    assert done.code == 3
    assert done.err.startswith("error: the loss is not a number")


def test_interrupted_run_exits_as_shells_expect(cli, recipe, pipeline):
    pipeline(train=raising(Interrupted("stopped", next_step="burnish train --resume runs/quick")))
    done = cli("train", recipe)
    assert done.code == 130
    assert "--resume runs/quick" in done.err


def test_control_c_is_not_an_error(cli, recipe, pipeline):
    pipeline(train=raising(KeyboardInterrupt()))
    done = cli("train", recipe)
    assert (done.code, done.err) == (130, "interrupted\n")


def test_unforeseen_error_saves_its_traceback(cli, recipe, pipeline, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pipeline(train=raising(ZeroDivisionError("by zero")))
    done = cli("train", recipe)
    assert done.code == 1
    assert "unexpected error: ZeroDivisionError: by zero" in done.err
    assert "Traceback" not in done.err
    saved = re.search(r"traceback: (\S+)", done.err)
    assert saved
    assert "ZeroDivisionError" in Path(saved[1]).read_text()


def test_unforeseen_error_shows_its_traceback_when_asked(cli, recipe, pipeline, monkeypatch):
    monkeypatch.setenv("BURNISH_DEBUG", "1")
    pipeline(train=raising(ZeroDivisionError("by zero")))
    assert "Traceback (most recent call last)" in cli("train", recipe).err


def test_traceback_is_shown_when_it_cannot_be_saved(cli, recipe, pipeline, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    pipeline(train=raising(ZeroDivisionError("by zero")))
    assert "Traceback (most recent call last)" in cli("train", recipe).err


def test_reader_that_goes_away_is_not_an_error():
    code = "import sys; from burnish.cli import main; sys.exit(main(['domains', 'list']))"
    command = f'{sys.executable} -c "{code}" | head -1; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 141)
    assert done.stderr == ""
