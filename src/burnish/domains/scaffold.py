"""A start for a domain of one's own: a small package that installs, with a test that proves the domain."""

from __future__ import annotations

import keyword
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from string import Template

from burnish.domains.rg_families import SOURCE
from burnish.errors import DomainError

_NAME = re.compile(r"[a-z][a-z0-9]*([_-][a-z0-9]+)*(/[a-z0-9]+([_-][a-z0-9]+)*)*")
_LONGEST = 100

PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "$package"
version = "0.1.0"
description = "Domain $name for Burnish."
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["burnish"]

[project.entry-points."burnish.domains"]
$package = "$module:domains"

[tool.hatch.build.targets.wheel]
packages = ["src/$module"]

[tool.pytest.ini_options]
pythonpath = ["src"]
"""

README = """\
# $name

    pip install -e .                    # Burnish finds the domain by its entry point
    pytest                              # gold answers pass, wrong ones do not, splits share nothing
    burnish domains show $name
    burnish domains play $name

Then name it in a recipe:

    [domains]
    train = ["$name"]

The domain is in `src/$module/__init__.py`. `make` draws a question and its answer, and must draw from `rng`
only; `grade` judges a completion. Level 0 is the easiest.
"""

MODULE = '''\
"""The domain $name."""

from random import Random

from burnish.domains.base import Domain
from burnish.domains.functions import domain


def make(rng: Random, level: int) -> tuple[str, int]:
    """A question and its answer."""
    prices = [rng.randrange(1, 100) for _ in range(level + 2)]
    return f"An invoice lists {', '.join(map(str, prices))} euros. What is the total?", sum(prices)


def grade(question: str, answer: int, text: str) -> bool:
    """Whether a completion is right; a number between 0 and 1 gives partial credit."""
    return text.strip().removesuffix(" euros") == str(answer)


def domains() -> list[Domain]:
    """What this package brings; named as an entry point in pyproject.toml."""
    return [domain("$name", make, grade, levels=3)]
'''

TEST = """\
from burnish.domains.validate import validate_domain
from $module import domains, grade


def test_the_domain_is_sound():
    for domain in domains():
        report = validate_domain(domain)
        assert report.ok, "\\n".join(report.problems)


def test_grade():
    assert grade("", 12, "12 euros")
    assert not grade("", 12, "120")
"""


def scaffold_domain(name: str, folder: Path) -> list[Path]:
    """Write a package for the domain `name` into a new folder within `folder`.

    Returns:
        The files written; the last is the test.

    Raises:
        DomainError: an unusable name, a folder that exists already or cannot be written.
    """
    _check(name)
    package, module = re.sub("[/_]", "-", name), re.sub("[/-]", "_", name)
    _check_module(name, module)
    root = Path(folder) / package
    texts = {
        root / "pyproject.toml": PROJECT,
        root / "README.md": README,
        root / "src" / module / "__init__.py": MODULE,
        root / "tests" / f"test_{module}.py": TEST,
    }
    try:
        root.mkdir(parents=True)
        for path, text in texts.items():
            _write(path, Template(text).substitute(name=name, package=package, module=module))
    except FileExistsError as error:
        raise DomainError(
            "nothing that exists is overwritten",
            got=f"{error.filename} exists",
            expected="a new folder",
            next_step="choose another name, or another place with --folder",
        ) from error
    except OSError as error:
        raise DomainError(
            f"domain {name!r} cannot be written to {root}",
            got=f"{type(error).__name__}: {error}",
            next_step="choose another place with --folder",
        ) from error
    return list(texts)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


def _check(name: str) -> None:
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise DomainError(
            "not a name for a domain",
            got=repr(name),
            expected=f"up to {_LONGEST} lower-case letters, digits, - and _, in parts joined by /",
            next_step="name it like my-team/invoices",
        )
    if name.partition("/")[0] == SOURCE:
        raise DomainError(
            f"names that begin with {SOURCE} belong to the domains of that source",
            got=repr(name),
            next_step="begin with a name of your own, like my-team/invoices",
        )


def _check_module(name: str, module: str) -> None:
    """Refuse a name whose module could not be imported, or would hide another."""
    if keyword.iskeyword(module) or module in sys.stdlib_module_names or _is_installed(module):
        raise DomainError(
            f"a domain called {name!r} would need a Python module called {module!r}, which is taken",
            next_step=f"put a name of your own in front: my-team/{name}",
        )


def _is_installed(module: str) -> bool:
    """Whether a module of this name can be imported; bare folders do not count."""
    try:
        spec = find_spec(module)
    except ValueError:
        return True
    return spec is not None and spec.origin is not None
