"""Write a query that answers a question about tables.

A query is right when it gives the rows of the reference query on the database that is shown and on `HIDDEN`
others with the same tables and other rows: a query that spells out the answer it was shown is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from burnish.domains.structured.base import Structured
from burnish.domains.structured.sql_questions import LEVELS
from burnish.domains.structured.sql_runner import Database, Row, TableData, same_rows, select
from burnish.domains.structured.sql_worlds import WORLDS, draw_database

HIDDEN = 2
"""Databases that are not shown."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """A question about databases, and its results."""

    question: str
    query: str
    ordered: bool
    databases: tuple[Database, ...]
    """The first one is shown."""
    results: tuple[tuple[Row, ...], ...]
    """The rows of the reference query on each."""


@dataclass(frozen=True)
class Sql(Structured[Exercise]):
    """`structured/sql`."""

    @property
    def name(self) -> str:
        """Full name."""
        return "structured/sql"

    @property
    def levels(self) -> int:
        """By the parts of SQL that a question needs."""
        return len(LEVELS)

    def make(self, rng: Random, level: int) -> Exercise | None:
        """A question with a result that is not empty, and other rows where it is another."""
        world = rng.choice(WORLDS)
        databases = tuple(draw_database(rng, world) for _ in range(1 + HIDDEN))
        question = rng.choice(LEVELS[level])(rng, world, databases[0])
        results = [select(database, question.query) for database in databases]
        rows = tuple(tuple(result) for result in results if result is not None)
        if len(rows) < len(databases) or not rows[0] or any(other == rows[0] for other in rows[1:]):
            return None
        return Exercise(question.text, question.query, question.ordered, databases, rows)

    def question(self, exercise: Exercise) -> str:
        """The tables that the question is about with their rows, and the question."""
        named = exercise.query.replace(")", " ").split()
        tables = "\n\n".join(_shown(table) for table in exercise.databases[0] if table.name in named)
        return (
            "An SQLite database has these tables; the rows below are an example, and others may be in them."
            f"\n\n{tables}\n\nWrite one SELECT statement that answers the question with exactly the columns "
            f"it asks for, in its order. {exercise.question}"
        )

    def kind(self) -> str:
        """What an answer is."""
        return "the SQL statement"

    def answer(self, exercise: Exercise) -> str:
        """The reference query."""
        return f"{exercise.query};"

    def is_right(self, exercise: Exercise, answer: str) -> bool:
        """Whether a query gives the rows of the reference query on every database."""
        return all(
            (found := select(database, answer)) is not None
            and same_rows(found, rows, ordered=exercise.ordered)
            for database, rows in zip(exercise.databases, exercise.results, strict=True)
        )


def _shown(table: TableData) -> str:
    return "\n".join([f"{table.create};", *(f"-- {', '.join(map(str, row))}" for row in table.rows)])
