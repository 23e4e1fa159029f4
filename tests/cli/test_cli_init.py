from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_new_domain_passes_the_test_that_comes_with_it(cli):
    done = cli("init", "domain", "my-team/invoices")
    assert done.code == 0, done.err
    command = done.out.partition("run `pytest ")[2].partition("`")[0]
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", command], capture_output=True, text=True, check=False
    )
    assert tests.returncode == 0, tests.stdout + tests.stderr


def test_files_written_are_named(cli):
    lines = cli("init", "domain", "my-team/invoices").out.splitlines()
    written = [line.removeprefix("wrote ") for line in lines if line.startswith("wrote ")]
    assert written
    assert all(Path(path).is_file() for path in written)


def test_domain_goes_where_it_is_told(cli):
    cli("init", "domain", "my-team/invoices", "--folder", "elsewhere")
    assert any(Path("elsewhere").rglob("pyproject.toml"))


def test_nothing_is_overwritten(cli):
    cli("init", "domain", "my-team/invoices")
    done = cli("init", "domain", "my-team/invoices")
    assert done.code == 2
    assert "exists" in done.err


def test_name_that_cannot_be_one(cli):
    done = cli("init", "domain", "../a b")
    assert done.code == 2
    assert "not a name for a domain" in done.err


def test_domain_without_a_name(cli):
    assert "NAME requires an argument" in cli("init", "domain").err
