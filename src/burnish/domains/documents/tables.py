"""A table of sales and a question about it: look up, compare, count, add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from burnish.domains.documents.base import WORDS, Documents, Reading
from burnish.domains.documents.filler import weave
from burnish.domains.documents.names import names

REGIONS = ("north", "south", "east", "west")
GOODS = ("pears", "plums", "figs", "nuts", "dates")

_ROWS = (4, 8, 14, 28, 55)
"""Rows, by level; the rest of the document is prose around the table."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table."""

    seller: str
    region: str
    goods: str
    sold: int


Asked = tuple[str, str] | None
"""A question and its answer; None when the table has no clear one."""


@dataclass(frozen=True)
class TableAggregation(Documents):
    """`documents/table_aggregation`: each level adds a kind of question, rows and prose."""

    @property
    def name(self) -> str:
        """Full name."""
        return "documents/table_aggregation"

    def make(self, rng: Random, level: int) -> Reading | None:
        """A table within prose; None when the answer would not be clear."""
        rows = [
            Row(seller, rng.choice(REGIONS), rng.choice(GOODS), rng.randint(2, 99))
            for seller in names(rng, _ROWS[level])
        ]
        asked = rng.choice(_QUESTIONS[: level + 2])(rng, rows)
        if asked is None:
            return None
        table = render(rows)
        prose = max(20, WORDS[level] - len(table.split()) * 3 // 4)
        before, after = weave(rng, (), prose // 2), weave(rng, (), prose // 2)
        return Reading(f"{before}\n\n{table}\n\n{after}", *asked)


def render(rows: Sequence[Row]) -> str:
    """The table in Markdown."""
    lines = [f"| {row.seller} | {row.region} | {row.goods} | {row.sold} |" for row in rows]
    return "\n".join(["| seller | region | goods | sold |", "|---|---|---|---|", *lines])


def _look_up(rng: Random, rows: Sequence[Row]) -> Asked:
    row = rng.choice(rows)
    return f"How many {row.goods} did {row.seller} sell?", str(row.sold)


def _most(_rng: Random, rows: Sequence[Row]) -> Asked:
    first, second = sorted(rows, key=lambda row: row.sold, reverse=True)[:2]
    return ("Which seller sold the most?", first.seller) if first.sold > second.sold else None


def _count(rng: Random, rows: Sequence[Row]) -> Asked:
    region = rng.choice(REGIONS)
    found = sum(row.region == region for row in rows)
    return (f"How many sellers are there in the region {region}?", str(found)) if found > 1 else None


def _sum_of_region(rng: Random, rows: Sequence[Row]) -> Asked:
    region = rng.choice(REGIONS)
    found = [row.sold for row in rows if row.region == region]
    if len(found) < 2:
        return None
    return f"How much was sold in the region {region} in all?", str(sum(found))


def _sum_of_two(rng: Random, rows: Sequence[Row]) -> Asked:
    region, goods = rng.choice(REGIONS), rng.choice(GOODS)
    found = [row.sold for row in rows if (row.region, row.goods) == (region, goods)]
    return (
        (f"How many {goods} were sold in the region {region} in all?", str(sum(found)))
        if len(found) > 1
        else None
    )


def _difference(rng: Random, rows: Sequence[Row]) -> Asked:
    one, other = rng.sample(REGIONS, 2)
    more, less = (sum(row.sold for row in rows if row.region == region) for region in (one, other))
    if more <= less or less == 0:
        return None
    return f"How much more was sold in the region {one} than in the region {other}?", str(more - less)


_QUESTIONS: tuple[Callable[[Random, Sequence[Row]], Asked], ...] = (
    _look_up,
    _most,
    _count,
    _sum_of_region,
    _sum_of_two,
    _difference,
)
