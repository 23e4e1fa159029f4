"""What `burnish init domain` writes is a package that works."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from burnish.domains.scaffold import scaffold_domain
from burnish.errors import DomainError


@pytest.fixture
def written(tmp_path: Path) -> list[Path]:
    return scaffold_domain("my-team/invoices", tmp_path)


def run(*arguments: str, root: Path) -> subprocess.CompletedProcess[str]:
    paths = [str(root / "src"), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.run(
        [sys.executable, *arguments], env=env, cwd=root.parent, capture_output=True, text=True, check=False
    )


def test_files(written, tmp_path):
    assert [str(path.relative_to(tmp_path)) for path in written] == [
        "my-team-invoices/pyproject.toml",
        "my-team-invoices/README.md",
        "my-team-invoices/src/my_team_invoices/__init__.py",
        "my-team-invoices/tests/test_my_team_invoices.py",
    ]
    assert not any("$" in path.read_text() for path in written)


def test_its_own_test_passes(written, tmp_path):
    done = run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", str(written[-1]), root=tmp_path / "my-team-invoices"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_entry_point_leads_to_the_domain(written, tmp_path):
    project = tomllib.loads(written[0].read_text())["project"]
    (value,) = project["entry-points"]["burnish.domains"].values()
    code = (
        "from importlib.metadata import EntryPoint; from burnish.domains.registry import Registry\n"
        "registry = Registry()\n"
        f"registry.add_entry_points([EntryPoint('x', {value!r}, 'burnish.domains')])\n"
        "print(registry.names())"
    )
    done = run("-c", code, root=tmp_path / "my-team-invoices")
    assert done.stdout.strip() == "['my-team/invoices']", done.stderr


def test_nothing_is_overwritten(written, tmp_path):
    written[2].write_text("mine")
    with pytest.raises(DomainError, match="nothing that exists is overwritten"):
        scaffold_domain("my-team/invoices", tmp_path)
    assert written[2].read_text() == "mine"


def test_folder_is_made(tmp_path):
    assert (
        scaffold_domain("invoices_v2", tmp_path / "a" / "b")[0].parent == tmp_path / "a" / "b" / "invoices-v2"
    )


def test_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DomainError, match="cannot be written"):
        scaffold_domain("invoices", tmp_path / "file")


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "Invoices",
        "my team",
        "../up",
        "/etc",
        "a//b",
        "a/",
        "-a",
        "a-",
        "9a",
        "ä",
        "a\n",
        "a.b",
        "a" * 101,
    ],
)
def test_invalid_names(name, tmp_path):
    with pytest.raises(DomainError, match="not a name for a domain"):
        scaffold_domain(name, tmp_path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["json", "class", "burnish", "numpy"])
def test_names_of_modules_that_exist(name, tmp_path):
    with pytest.raises(DomainError, match="which is taken"):
        scaffold_domain(name, tmp_path)
    assert not any(tmp_path.iterdir())


def test_names_of_another_source(tmp_path):
    with pytest.raises(DomainError, match="belong to the domains of that source"):
        scaffold_domain("reasoning-gym/mine", tmp_path)
