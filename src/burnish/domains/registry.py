"""Domains by name: what there is, what a pattern means, and the domains of a recipe.

Names come from three places: the sources of this package, objects registered in this process, and packages
that declare an entry point of the group `burnish.domains`. Such an entry point is a callable without
arguments; it returns an iterable of `Domain` objects or of `(name, factory)`, where a factory takes the
`DomainSettings` and makes the domain. Naming a domain builds nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from typing import get_args

from burnish.domains.base import Domain
from burnish.domains.generated import NAMES, make_generated
from burnish.domains.rg_families import FAMILIES, Family
from burnish.domains.settings import CodeConvention, DomainSettings, RowsSettings
from burnish.errors import BurnishError, DomainError, suggestion
from burnish.records import Split

ENTRY_POINT_GROUP = "burnish.domains"
NOT_IN_PATTERNS = frozenset({FAMILIES["composite"].full_name})
"""Left out by patterns, loaded by name: `composite` repeats the tasks of other families."""

Factory = Callable[[DomainSettings], Domain]


@dataclass(frozen=True, slots=True)
class _Entry:
    factory: Factory
    origin: str


class Registry:
    """A set of named domain factories."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._broken: dict[str, str] = {}

    def names(self) -> list[str]:
        """Every name, sorted."""
        return sorted(self._entries)

    def register(self, domain: Domain | tuple[str, Factory], origin: str = "this program") -> None:
        """Add a domain object, or a name and a factory.

        Raises:
            DomainError: the name is taken; both origins are named.
        """
        name, factory = domain if isinstance(domain, tuple) else (domain.name, partial(_given, domain))
        if name in self._entries:
            raise DomainError(
                f"two domains are called {name!r}",
                got=f"one from {self._entries[name].origin}, one from {origin}",
                expected="unique names",
                next_step="rename one of them",
            )
        self._entries[name] = _Entry(factory, origin)

    def add_entry_points(self, points: Iterable[EntryPoint] | None = None) -> None:
        """Add the domains of installed packages; a broken one warns, and fails only when it is asked for."""
        for point in entry_points(group=ENTRY_POINT_GROUP) if points is None else points:
            package = point.dist.name if point.dist else point.value.partition(":")[0]
            try:
                domains = list(point.load()())
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                self._broken[package] = reason
                warnings.warn(f"the domains of package {package} cannot be loaded: {reason}", stacklevel=2)
                continue
            for domain in domains:
                self.register(domain, origin=f"package {package}")

    def resolve(self, patterns: Iterable[str], exclude: Iterable[str] = ()) -> list[str]:
        """The names that patterns match, each once, in the order of the patterns.

        Raises:
            DomainError: a pattern or a name that matches nothing.
        """
        dropped = {name for pattern in exclude for name in self._matches(pattern)}
        found = dict.fromkeys(name for pattern in patterns for name in self._matches(pattern))
        return [name for name in found if name not in dropped]

    def load(self, name: str, settings: DomainSettings | None = None) -> Domain:
        """The domain called `name`.

        Raises:
            DomainError: no such domain, or its own code cannot make it.
        """
        entry = self._entries.get(name)
        if entry is None:
            raise self._unknown(name)
        try:
            return entry.factory(settings or DomainSettings())
        except BurnishError:
            raise
        except Exception as error:
            raise DomainError(
                f"domain {name!r} of {entry.origin} cannot be made",
                got=f"{type(error).__name__}: {error}",
                next_step="mend its factory, or exclude the domain",
            ) from error

    def _matches(self, pattern: str) -> list[str]:
        if pattern in self._entries:
            return [pattern]
        matched = [
            name for name in self.names() if name not in NOT_IN_PATTERNS and fnmatchcase(name, pattern)
        ]
        if not matched:
            raise self._unknown(pattern)
        return matched

    def _unknown(self, name: str) -> DomainError:
        is_pattern = any(character in name for character in "*?[")
        hints = [_near(name, self.names()), *(f"package {p} is broken: {r}" for p, r in self._broken.items())]
        return DomainError(
            f"the pattern {name!r} matches no domain" if is_pattern else f"no domain is called {name!r}",
            expected=f"one of {len(self._entries)} names or a pattern such as 'reasoning-gym/arithmetic/*'",
            next_step="; ".join(filter(None, hints)) or "burnish domains list",
        )


@dataclass(frozen=True)
class DomainSet:
    """The domains of a run and the level of each."""

    train: list[Domain]
    held_out: list[Domain]
    levels: dict[str, int] = field(default_factory=dict)

    @property
    def all(self) -> list[Domain]:
        """Trained and held-out domains, in this order."""
        return [*self.train, *self.held_out]

    def level(self, name: str) -> int:
        """The level of a domain of the set."""
        return self.levels[name]

    def get(self, name: str) -> Domain:
        """The domain called `name`, a member of the set."""
        return next(domain for domain in self.all if domain.name == name)


def default_registry(rows: Sequence[RowsSettings] = (), extra: Sequence[Domain] = ()) -> Registry:
    """reasoning-gym, generated families, installed packages, the row files of a recipe, and given objects."""
    registry = Registry()
    for family in FAMILIES.values():
        registry.register((family.full_name, partial(_reasoning_gym, family)), origin="reasoning-gym")
    for folder, names in NAMES.items():
        for name in names:
            made = partial(make_generated, folder, name)
            registry.register((name, made), origin=f"burnish.domains.{folder}")
    registry.add_entry_points()
    for row in rows:
        registry.register((row.name, partial(_rows, row)), origin=f"domains.rows ({row.path})")
    for domain in extra:
        registry.register(domain)
    return registry


def build_domains(settings: DomainSettings, extra: Sequence[Domain] = ()) -> DomainSet:
    """The domains that settings name; objects in `extra` that nothing names are trained on.

    Raises:
        DomainError: unknown name or pattern, a domain both trained and held out, level out of range, a
            trained domain without TRAIN tasks or any domain without EVAL tasks at its level.
    """
    registry = default_registry(settings.rows, extra)
    held_out = registry.resolve(settings.held_out, settings.exclude)
    train = registry.resolve(settings.train, settings.exclude)
    named = {*train, *held_out}
    train += [domain.name for domain in extra if domain.name not in named]
    both = sorted(set(train) & set(held_out))
    if both:
        raise DomainError(
            "a domain cannot be both trained on and held out",
            got=", ".join(both),
            expected="domains.train and domains.held_out without a common member",
            next_step="name it in one of them, or add it to domains.exclude",
        )
    domains = {name: registry.load(name, settings) for name in (*train, *held_out)}
    keys = {name: key for key in settings.levels for name in registry.resolve([key])}
    levels = {name: level_of(domain, settings, keys.get(name)) for name, domain in domains.items()}
    for name in train:
        _check_has_tasks(domains[name], Split.TRAIN, levels[name])
    for name, domain in domains.items():
        _check_has_tasks(domain, Split.EVAL, levels[name])
    return DomainSet([domains[name] for name in train], [domains[name] for name in held_out], levels)


def level_of(domain: Domain, settings: DomainSettings, chosen: str | None) -> int:
    """The level that settings give a domain.

    Args:
        domain: any domain.
        settings: of the recipe.
        chosen: the last key of `levels` that matches the domain; None when none does.

    Raises:
        DomainError: out of range.
    """
    level = settings.level if chosen is None else settings.levels[chosen]
    if 0 <= level < domain.levels:
        return level
    key = "domains.level" if chosen is None else f"domains.levels, {chosen!r}"
    raise DomainError(
        f"{domain.name} has no level {level}",
        got=f"{key} = {level}",
        expected=f"0 to {domain.levels - 1}" if domain.levels > 1 else "0, its only level",
        next_step=f'set a level for it alone: domains.levels = {{"{domain.name}" = {domain.levels - 1}}}',
    )


def _check_has_tasks(domain: Domain, split: Split, level: int) -> None:
    if domain.size(split, level) == 0:
        raise DomainError(
            f"{domain.name} has no task of split {split} at level {level}",
            expected="at least one",
            next_step="add rows, choose another level, or leave the domain out",
        )


def _given(domain: Domain, _settings: DomainSettings) -> Domain:
    return domain


def _reasoning_gym(family: Family, settings: DomainSettings) -> Domain:
    from burnish.domains.reasoning_gym import ReasoningGymDomain  # noqa: PLC0415

    return ReasoningGymDomain(family, settings.answer_format, settings.instruction, settings.graded)


def _rows(row: RowsSettings, settings: DomainSettings) -> Domain:
    if row.adapter in get_args(CodeConvention):
        from burnish.domains.code.rows import open_code_rows  # noqa: PLC0415

        return open_code_rows(row, settings)
    from burnish.domains.rows import open_rows  # noqa: PLC0415

    return open_rows(row, settings)


def _near(name: str, known: Iterable[str]) -> str:
    """Suggestions by full name, else by the last part of the name."""
    known = list(known)
    found = suggestion(name, known)
    if found:
        return found
    by_last = {full.rpartition("/")[2]: full for full in known}
    last = name.rpartition("/")[2]
    full = by_last.get(last)
    return f"did you mean {full!r}?" if full else suggestion(last, by_last)
