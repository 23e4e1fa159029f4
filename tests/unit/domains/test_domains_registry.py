"""Names, patterns, packages of others, and the domains of a recipe."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from importlib.metadata import EntryPoint
from random import Random

import pytest

from burnish.domains.functions import domain
from burnish.domains.generated import NAMES
from burnish.domains.registry import Registry, build_domains, default_registry
from burnish.domains.settings import DomainSettings
from burnish.errors import DomainError

GCD, LCM = "reasoning-gym/arithmetic/gcd", "reasoning-gym/arithmetic/lcm"


def make(rng: Random, level: int) -> tuple[str, int]:
    number = rng.randrange(10_000)
    return f"What is {number} + 1?", number + 1


OWN = domain("mine/next", make, levels=2)


def failing(_settings: DomainSettings):
    raise RuntimeError("no licence")


@pytest.fixture(scope="module")
def registry() -> Registry:
    return default_registry()


def test_patterns_resolve_to_unique_names_in_order(registry: Registry) -> None:
    found = registry.resolve([LCM, "reasoning-gym/arithmetic/[gl]*m", "*/gcd"])
    assert found == [LCM, GCD]


def test_exclusion_takes_names_and_patterns(registry: Registry) -> None:
    found = registry.resolve(["reasoning-gym/*"], ["*/games/*", GCD])
    assert GCD not in found
    assert not any("/games/" in name for name in found)


def test_everything_is_105_families_without_the_composite(registry: Registry) -> None:
    found = registry.resolve(["reasoning-gym/*"])
    assert len(found) == 105
    assert registry.resolve(["reasoning-gym/composite/composite"])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("reasoning-gym/arithmetic/gdc", "did you mean 'reasoning-gym/arithmetic/gcd'"),
        ("gcd", "did you mean 'reasoning-gym/arithmetic/gcd'"),
        ("reasoning-gym/arithmatic/*", "matches no domain"),
        ("zzz", "burnish domains list"),
    ],
)
def test_what_matches_nothing_is_an_error_with_a_hint(registry: Registry, asked: str, said: str) -> None:
    with pytest.raises(DomainError, match=asked.replace("*", r"\*")) as error:
        registry.resolve([asked])
    assert said in str(error.value)
    with pytest.raises(DomainError):
        registry.resolve(["*"], exclude=[asked])


@pytest.mark.parametrize("folder", NAMES)
def test_generated_families_are_those_of_their_folder(registry: Registry, folder: str) -> None:
    families = import_module(f"burnish.domains.{folder}.families").FAMILIES
    assert sorted(families) == list(NAMES[folder])
    assert [registry.load(name).name for name in NAMES[folder]] == list(NAMES[folder])


def test_naming_domains_imports_none_of_them() -> None:
    code = (
        "import sys; from burnish.domains.registry import default_registry;"
        "default_registry().resolve(['*']);"
        "sys.exit(any(name.endswith('.families') or name == 'reasoning_gym' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_two_domains_of_one_name_name_both_origins() -> None:
    registry = Registry()
    registry.register(OWN, origin="package a")
    with pytest.raises(DomainError, match=r"one from package a, one from package b"):
        registry.register(("mine/next", failing), origin="package b")


def test_a_factory_that_fails_is_named() -> None:
    registry = Registry()
    registry.register(("mine/broken", failing), origin="package b")
    with pytest.raises(DomainError, match="'mine/broken' of package b") as error:
        registry.load("mine/broken")
    assert "RuntimeError: no licence" in str(error.value)


class Point:
    """Looks like an entry point."""

    def __init__(self, load, value: str = "their_package:domains"):
        self.load = load
        self.value = value
        self.dist = None


def points(*made) -> list[EntryPoint]:
    return list(made)


def test_packages_bring_objects_and_factories() -> None:
    registry = Registry()
    registry.add_entry_points(points(Point(lambda: lambda: [OWN, ("their/next", lambda settings: OWN)])))
    assert registry.names() == ["mine/next", "their/next"]
    assert registry.load("their/next") is OWN


def test_a_broken_package_warns_and_fails_only_when_asked_for() -> None:
    def load():
        raise ImportError("no module named x")

    registry = Registry()
    registry.register(OWN)
    with pytest.warns(UserWarning, match="their_package cannot be loaded: ImportError"):
        registry.add_entry_points(points(Point(load)))
    assert registry.resolve(["*"]) == ["mine/next"]
    with pytest.raises(DomainError, match="package their_package is broken"):
        registry.resolve(["their/domain"])


def test_domains_of_settings() -> None:
    settings = DomainSettings(
        train=("*/arithmetic/gcd", "mine/next"),
        held_out=(LCM,),
        level=1,
        levels={"mine/*": 0, LCM: 3},
        answer_format="tags",
    )
    made = build_domains(settings, extra=[OWN])
    assert [d.name for d in made.train] == [GCD, "mine/next"]
    assert [d.name for d in made.held_out] == [LCM]
    assert [made.level(d.name) for d in made.all] == [1, 0, 3]
    assert made.get(GCD).task.__self__.answer_format == "tags"  # type: ignore[attr-defined]


def test_objects_that_nothing_names_are_trained_on() -> None:
    made = build_domains(DomainSettings(held_out=(GCD,)), extra=[OWN])
    assert [d.name for d in made.train] == ["mine/next"]


def test_trained_and_held_out_do_not_meet() -> None:
    with pytest.raises(DomainError, match="both trained on and held out") as error:
        build_domains(DomainSettings(train=("*/arithmetic/*",), held_out=(GCD,)))
    assert GCD in str(error.value)


@pytest.mark.parametrize(
    "settings",
    [DomainSettings(train=(GCD,), level=4), DomainSettings(train=(GCD,), levels={"*/gcd": 4})],
)
def test_a_level_out_of_range_says_which_there_are(settings: DomainSettings) -> None:
    with pytest.raises(DomainError, match="0 to 3") as error:
        build_domains(settings)
    assert "= 4" in str(error.value)


def test_a_level_for_an_unknown_domain_is_an_error() -> None:
    with pytest.raises(DomainError, match="no domain is called 'gcx'"):
        build_domains(DomainSettings(train=(GCD,), levels={"gcx": 1}))


def test_levels_below_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        DomainSettings(levels={"x": -1})
