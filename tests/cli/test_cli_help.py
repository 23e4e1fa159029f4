from __future__ import annotations

import subprocess
import sys

import pytest

from burnish.recipe import recipe_schema

COMMANDS = (
    "train", "eval", "compare", "probe", "domains", "runs", "report", "export", "doctor", "init",
)  # fmt: skip


def test_help_lists_every_command(cli):
    done = cli("--help")
    assert done.code == 0
    assert [c for c in COMMANDS if f" {c} " not in done.out] == []


def test_no_arguments_show_the_help(cli):
    assert "Commands" in cli().out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(cli, command):
    done = cli(command, "--help")
    assert done.code == 0
    assert f"burnish {command}" in done.out


@pytest.mark.parametrize("command", ["list", "show", "validate", "play"])
def test_every_domains_command_has_help(cli, command):
    assert cli("domains", command, "--help").code == 0


def test_train_help_spells_out_every_recipe_key(cli):
    text = cli("train", "--help").out
    assert [k.key for k in recipe_schema() if "[]" not in k.key and f"--{k.key} " not in text] == []


def test_version(cli):
    assert cli("--version").out.strip()


def test_help_is_quick_and_loads_no_framework():
    code = (
        "import sys, time; from burnish.cli import main; main(['--help'])\n"
        "heavy = ('torch', 'transformers', 'reasoning_gym', 'peft')\n"
        "print([m for m in heavy if m in sys.modules], time.process_time() < 0.5, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[] True"


def test_python_dash_m():
    done = subprocess.run(
        [sys.executable, "-m", "burnish", "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "train" in done.stdout


def test_python_dash_m_hands_on_the_exit_code():
    done = subprocess.run(
        [sys.executable, "-m", "burnish", "trian"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
