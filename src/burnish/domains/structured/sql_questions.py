"""Questions about tables, with a query that answers each.

A maker draws a question from a generator, a world and the rows that are shown. Orders asked for are those of
columns without repetition, so every question has one right result.
"""

# ruff: noqa: S608 - queries are put together from our own names only
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from burnish.domains.structured.sql_runner import Database
from burnish.domains.structured.sql_worlds import Column, Kind, World


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and a query that answers it."""

    text: str
    query: str
    ordered: bool = False
    """Whether the order of rows was asked for."""


Maker = Callable[[Random, World, Database], Question]


def _pick(rng: Random, world: World, shown: Database) -> tuple[Kind, Column, Column, float, str]:
    """A table with one of its numbers and its group, and a value that each has."""
    which = rng.randrange(2)
    kind, data = (world.parent, world.child)[which], shown[which]
    number, group = rng.choice(kind.named("number", "price")), kind.named("group")[0]
    names = [name for name, _ in data.columns]
    numbers = sorted(float(row[names.index(number.name)] or 0) for row in data.rows)
    value = numbers[rng.randint(1, len(numbers) - 2)]
    text = str(rng.choice(data.rows)[names.index(group.name)])
    return kind, number, group, int(value) if number.role == "number" else value, text


def _comparison(rng: Random) -> tuple[str, str]:
    return rng.choice((("greater than", ">"), ("less than", "<"), ("at least", ">="), ("at most", "<=")))


def _by_number(rng: Random, world: World, shown: Database) -> Question:
    kind, number, _, value, _ = _pick(rng, world, shown)
    words, sign = _comparison(rng)
    return Question(
        f"List the {kind.label} of every {kind.one} whose {number.name} is {words} {value}.",
        f"SELECT {kind.label} FROM {kind.table} WHERE {number.name} {sign} {value}",
    )


def _by_group(rng: Random, world: World, shown: Database) -> Question:
    kind, _, group, _, text = _pick(rng, world, shown)
    plain = [column.name for column in kind.named("id", "label", "number", "price")]
    columns = rng.sample(plain, rng.randint(1, len(plain)))
    words, sign = rng.choice((("is", "="), ("is not", "<>")))
    *first, last = (f"the {column}" for column in columns)
    asked = f"{', '.join(first)} and {last}" if first else last
    return Question(
        f"List {asked} of every {kind.one} whose {group.name} {words} '{text}'.",
        f"SELECT {', '.join(columns)} FROM {kind.table} WHERE {group.name} {sign} '{text}'",
    )


def _how_many(rng: Random, world: World, shown: Database) -> Question:
    kind, number, _, value, _ = _pick(rng, world, shown)
    words, sign = _comparison(rng)
    return Question(
        f"How many {kind.table} have a {number.name} that is {words} {value}?",
        f"SELECT COUNT(*) FROM {kind.table} WHERE {number.name} {sign} {value}",
    )


def _aggregate(rng: Random, world: World, shown: Database) -> Question:
    kind, number, group, _, text = _pick(rng, world, shown)
    words, function = rng.choice(
        (("sum", "SUM"), ("average", "AVG"), ("largest", "MAX"), ("smallest", "MIN"))
    )
    of = f"{words} {number.name}" if function in ("MAX", "MIN") else f"{words} of the {number.name}"
    return Question(
        f"What is the {of} of all {kind.table} whose {group.name} is '{text}'?",
        f"SELECT {function}({number.name}) FROM {kind.table} WHERE {group.name} = '{text}'",
    )


def _sorted(rng: Random, world: World, shown: Database) -> Question:
    kind, number, _, _, _ = _pick(rng, world, shown)
    words, sign = rng.choice((("smallest", "ASC"), ("largest", "DESC")))
    return Question(
        f"List the {kind.label} of every {kind.one}, sorted by {number.name}, the {words} first.",
        f"SELECT {kind.label} FROM {kind.table} ORDER BY {number.name} {sign}",
        ordered=True,
    )


def _top(rng: Random, world: World, shown: Database) -> Question:
    kind, number, _, _, _ = _pick(rng, world, shown)
    words, sign = rng.choice((("smallest", "ASC"), ("largest", "DESC")))
    n = rng.randint(2, 3)
    return Question(
        f"List the {kind.label} of the {n} {kind.table} with the {words} {number.name}, the {words} first.",
        f"SELECT {kind.label} FROM {kind.table} ORDER BY {number.name} {sign} LIMIT {n}",
        ordered=True,
    )


def _counts(rng: Random, world: World, shown: Database) -> Question:
    kind, _, group, _, _ = _pick(rng, world, shown)
    return Question(
        f"For each {group.name} of the {kind.table}, give the {group.name} and the number of {kind.table}.",
        f"SELECT {group.name}, COUNT(*) FROM {kind.table} GROUP BY {group.name}",
    )


def _group_values(rng: Random, world: World, shown: Database) -> Question:
    kind, number, group, _, _ = _pick(rng, world, shown)
    words, function = rng.choice(
        (("total", "SUM"), ("average", "AVG"), ("largest", "MAX"), ("smallest", "MIN"))
    )
    return Question(
        f"For each {group.name} with at least two {kind.table}, give the {group.name} and the {words} "
        f"{number.name}.",
        f"SELECT {group.name}, {function}({number.name}) FROM {kind.table} GROUP BY {group.name} "
        "HAVING COUNT(*) >= 2",
    )


def _two_conditions(rng: Random, world: World, shown: Database) -> Question:
    kind, number, group, value, text = _pick(rng, world, shown)
    words, sign = _comparison(rng)
    joint = rng.choice(("and", "or"))
    return Question(
        f"List the {kind.label} of every {kind.one} whose {group.name} is '{text}' {joint} whose "
        f"{number.name} is "
        f"{words} {value}, sorted by {number.name}, the largest first.",
        f"SELECT {kind.label} FROM {kind.table} WHERE {group.name} = '{text}' {joint.upper()} "
        f"{number.name} {sign} "
        f"{value} ORDER BY {number.name} DESC",
        ordered=True,
    )


def _joined(rng: Random, world: World, shown: Database) -> Question:
    parent, child = world.parent, world.child
    group = parent.named("group")[0].name
    names = [name for name, _ in shown[0].columns]
    text = rng.choice(shown[0].rows)[names.index(group)]
    return Question(
        f"For each {child.one} of a {parent.one} whose {group} is '{text}', give the {child.label} of the "
        f"{child.one} "
        f"and the {parent.label} of the {parent.one}.",
        f"SELECT c.{child.label}, p.{parent.label} FROM {child.table} c JOIN {parent.table} p "
        f"ON c.{world.link} = p.id WHERE p.{group} = '{text}'",
    )


def _parent_totals(rng: Random, world: World, shown: Database) -> Question:
    del shown
    parent, child = world.parent, world.child
    number = child.named("number", "price")[0].name
    words, function = rng.choice((("total", "SUM"), ("average", "AVG"), ("largest", "MAX")))
    return Question(
        f"For each {parent.one} that has {child.table}, give its {parent.label} and the {words} {number} "
        "of its "
        f"{child.table}, sorted by {parent.label}.",
        f"SELECT p.{parent.label}, {function}(c.{number}) FROM {parent.table} p JOIN {child.table} c "
        f"ON c.{world.link} = p.id GROUP BY p.id ORDER BY p.{parent.label}",
        ordered=True,
    )


def _without(rng: Random, world: World, shown: Database) -> Question:
    del rng, shown
    parent, child = world.parent, world.child
    return Question(
        f"List the {parent.label} of every {parent.one} that has no {child.table}.",
        f"SELECT {parent.label} FROM {parent.table} WHERE id NOT IN (SELECT {world.link} FROM {child.table})",
    )


def _above_average(rng: Random, world: World, shown: Database) -> Question:
    kind, number, _, _, _ = _pick(rng, world, shown)
    words, sign = rng.choice((("greater", ">"), ("less", "<")))
    return Question(
        f"List the {kind.label} of every {kind.one} whose {number.name} is {words} than the average "
        f"{number.name} of "
        f"all {kind.table}.",
        f"SELECT {kind.label} FROM {kind.table} WHERE {number.name} {sign} "
        f"(SELECT AVG({number.name}) FROM {kind.table})",
    )


def _best_of_group(rng: Random, world: World, shown: Database) -> Question:
    kind, number, group, _, _ = _pick(rng, world, shown)
    words, function = rng.choice((("largest", "MAX"), ("smallest", "MIN")))
    return Question(
        f"For each {group.name}, give the {group.name} and the {kind.label} of the {kind.one} with the "
        f"{words} "
        f"{number.name}.",
        f"SELECT {group.name}, {kind.label} FROM {kind.table} t WHERE {number.name} = (SELECT "
        f"{function}({number.name}) "
        f"FROM {kind.table} WHERE {group.name} = t.{group.name})",
    )


def _counted_parents(rng: Random, world: World, shown: Database) -> Question:
    del shown
    parent, child = world.parent, world.child
    n = rng.randint(1, 2)
    return Question(
        f"For every {parent.one}, give its {parent.label} and the number of its {child.table} (0 when it "
        "has none), "
        f"but only for {parent.table} with at most {n} {child.table}.",
        f"SELECT p.{parent.label}, COUNT(c.id) FROM {parent.table} p LEFT JOIN {child.table} c "
        f"ON c.{world.link} = p.id GROUP BY p.id HAVING COUNT(c.id) <= {n}",
    )


LEVELS: tuple[tuple[Maker, ...], ...] = (
    (_by_number, _by_group),
    (_how_many, _aggregate, _sorted, _top),
    (_counts, _group_values, _two_conditions),
    (_joined, _parent_totals, _without),
    (_above_average, _best_of_group, _counted_parents),
)
"""Conditions; aggregates and order; groups; two tables; queries within queries and outer joins."""
