"""Pairs of tables with rows drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

from burnish.domains.structured.sql_runner import Database, TableData, Value

Role = Literal["id", "parent", "label", "group", "number", "price"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column: what it is for and what is in it."""

    name: str
    role: Role
    values: tuple[str, ...] = ()
    """Texts of a label or a group."""
    low: int = 1
    high: int = 100

    @property
    def type(self) -> str:
        """Type in SQL."""
        if self.role in ("label", "group"):
            return "TEXT"
        return "REAL" if self.role == "price" else "INTEGER"


@dataclass(frozen=True, slots=True)
class Kind:
    """What the rows of a table are."""

    table: str
    one: str
    """One of them, in words."""
    columns: tuple[Column, ...]

    def named(self, *roles: Role) -> list[Column]:
        """Columns with one of the roles."""
        return [column for column in self.columns if column.role in roles]

    @property
    def label(self) -> str:
        """The column that names a row."""
        return self.named("label")[0].name


@dataclass(frozen=True, slots=True)
class World:
    """A table and another whose rows belong to rows of the first."""

    parent: Kind
    child: Kind

    @property
    def link(self) -> str:
        """The column of the child that names its parent."""
        return self.child.named("parent")[0].name


_ID = Column("id", "id")
_PEOPLE = (
    "Ada", "Ben", "Cleo", "Dov", "Elif", "Femi", "Gus", "Hana", "Ivo", "Jun", "Kaya", "Lars", "Mina",
    "Nora", "Omar",
)  # fmt: skip
_CITIES = ("Oslo", "Lima", "Cairo", "Kyoto")

WORLDS = (
    World(
        Kind(
            "products",
            "product",
            (
                _ID,
                Column("name", "label", ("lamp", "chair", "desk", "shelf", "tent", "kettle", "rug", "vase",
                    "stool")),
                Column("category", "group", ("home", "garden", "office")),
                Column("price", "price", low=300, high=9900),
                Column("stock", "number", low=0, high=90),
            ),
        ),
        Kind(
            "orders",
            "order",
            (
                _ID,
                Column("product_id", "parent"),
                Column("customer", "label", _PEOPLE),
                Column("status", "group", ("open", "paid", "sent")),
                Column("quantity", "number", low=1, high=40),
            ),
        ),
    ),
    World(
        Kind(
            "authors",
            "author",
            (
                _ID,
                Column("name", "label", _PEOPLE),
                Column("country", "group", ("Chile", "Egypt", "Japan", "Norway")),
                Column("born", "number", low=1900, high=1990),
            ),
        ),
        Kind(
            "books",
            "book",
            (
                _ID,
                Column("author_id", "parent"),
                Column("title", "label", ("Rain", "Home", "Salt", "Echo", "North", "Ash", "Glass", "Tide",
                    "Dust", "Maps",
                                          "Iron", "Lime", "Moth")),
                Column("genre", "group", ("novel", "poetry", "history")),
                Column("pages", "number", low=60, high=900),
            ),
        ),
    ),
    World(
        Kind(
            "teams",
            "team",
            (
                _ID,
                Column("name", "label", ("Foxes", "Bears", "Hawks", "Wolves", "Lynx", "Otters", "Crows",
                    "Bison")),
                Column("city", "group", _CITIES),
                Column("founded", "number", low=1890, high=2010),
            ),
        ),
        Kind(
            "players",
            "player",
            (
                _ID,
                Column("team_id", "parent"),
                Column("name", "label", _PEOPLE),
                Column("position", "group", ("goal", "defence", "attack")),
                Column("goals", "number", low=0, high=60),
            ),
        ),
    ),
    World(
        Kind(
            "shops",
            "shop",
            (
                _ID,
                Column("name", "label", ("Corner", "Market", "Station", "Harbour", "Square", "Bridge",
                    "Park", "Mill")),
                Column("city", "group", _CITIES),
                Column("staff", "number", low=1, high=60),
            ),
        ),
        Kind(
            "sales",
            "sale",
            (
                _ID,
                Column("shop_id", "parent"),
                Column("item", "label", ("pen", "ink", "map", "cup", "bag", "hat", "toy", "jar", "mug",
                    "kit", "fan")),
                Column("channel", "group", ("web", "phone", "counter")),
                Column("amount", "price", low=200, high=20000),
            ),
        ),
    ),
)  # fmt: skip


def draw_database(rng: Random, world: World) -> Database:
    """Rows for both tables: labels and numbers without repetition, one parent without children."""
    parents = _rows(rng, world.parent, rng.randint(4, 6), [])
    ids = [row[0] for row in parents]
    children = _rows(rng, world.child, rng.randint(7, 10), rng.sample(ids, len(ids) - 1))
    return _table(world.parent, parents), _table(world.child, children)


def _table(kind: Kind, rows: list[tuple[Value, ...]]) -> TableData:
    return TableData(kind.table, tuple((column.name, column.type) for column in kind.columns), tuple(rows))


def _rows(rng: Random, kind: Kind, count: int, parents: list[Value]) -> list[tuple[Value, ...]]:
    columns = [_cells(rng, column, count, parents) for column in kind.columns]
    return list(zip(*columns, strict=True))


def _cells(rng: Random, column: Column, count: int, parents: list[Value]) -> list[Value]:
    """The cells of a column."""
    if column.role == "id":
        return list(range(1, count + 1))
    if column.role == "parent":
        return [rng.choice(parents) for _ in range(count)]
    if column.role == "group":
        return [rng.choice(column.values) for _ in range(count)]
    if column.role == "label":
        return list(rng.sample(column.values, count))
    numbers = rng.sample(range(column.low, column.high + 1), count)
    return [number / 100 if column.role == "price" else number for number in numbers]
