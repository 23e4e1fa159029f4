"""Write JSON that is valid against a schema."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random

from burnish.domains.structured.base import Structured, read_json
from burnish.domains.structured.schemas import Schema, draw_schema, example, holds

LEVELS = 4


@dataclass(frozen=True, slots=True)
class Form:
    """A schema and a valid value."""

    schema: Schema
    example: str
    """A JSON text."""


@dataclass(frozen=True)
class JsonSchema(Structured[Form]):
    """`structured/json_schema`."""

    @property
    def name(self) -> str:
        """Full name."""
        return "structured/json_schema"

    @property
    def levels(self) -> int:
        """Flat without bounds, flat with bounds, nested once, nested twice."""
        return LEVELS

    def make(self, rng: Random, level: int) -> Form:
        """A schema with a valid value."""
        schema = draw_schema(rng, level)
        return Form(schema, json.dumps(example(schema, rng)))

    def question(self, exercise: Form) -> str:
        """The schema."""
        return f"Write a JSON value that is valid against this JSON Schema:\n{json.dumps(exercise.schema)}"

    def kind(self) -> str:
        """What an answer is."""
        return "the JSON value"

    def answer(self, exercise: Form) -> str:
        """A valid value."""
        return exercise.example

    def is_right(self, exercise: Form, answer: str) -> bool:
        """Whether an answer is JSON and valid."""
        read = read_json(answer)
        return read is not None and holds(exercise.schema, read[0])
