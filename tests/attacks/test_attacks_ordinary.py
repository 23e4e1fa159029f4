"""Every attack, tried as an ordinary user: in a child process that gives up being root."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from attacks.lab import ATTACKS
from attacks.ordinary import load_all

load_all()


@pytest.fixture(scope="module")
def outcome():
    program = Path(__file__).with_name("ordinary.py")
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_it_was_an_ordinary_user(outcome):
    assert outcome["uid"] != 0
    assert os.geteuid() == 0 or outcome["uid"] == os.geteuid()


@pytest.mark.parametrize("number", sorted(ATTACKS), ids=lambda n: f"{n}-{ATTACKS[n].title}")
def test_attack_is_answered(outcome, number):
    assert outcome["answers"][str(number)] == "answered"
