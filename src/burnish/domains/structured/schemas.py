"""JSON Schemas: the part of the language that tasks use, drawn at random and checked exactly.

Keywords have the meaning of JSON Schema 2020-12: `type`, `properties`, `required`, `items`, `enum`,
`additionalProperties: false`, `minItems`, `maxItems`, `uniqueItems`, `minimum`, `maximum`, `multipleOf` (of
integers), `minLength`, `maxLength`, and `pattern` of the form `^prefix`. `holds` refuses to judge any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from random import Random
from typing import Any

from burnish.domains.structured.base import same_json

Schema = Mapping[str, Any]

NAMES = (
    "title", "city", "owner", "colour", "street", "author", "email", "brand", "country", "label", "phone",
    "comment", "year", "age", "pages", "stock", "weight", "height", "seats", "floor", "rating", "active",
    "paid", "hidden", "fresh", "codes", "tags", "notes", "scores", "parts", "address", "size", "origin",
)  # fmt: skip
"""Names of properties; none is a keyword of JSON Schema other than in the place of a name."""
WORDS = ("red", "green", "blue", "small", "large", "north", "south", "new", "used", "open", "closed", "solid")
PREFIXES = ("ID-", "ref:", "A1", "X_", "#", "no ")
KEYWORDS = {
    "type", "properties", "required", "additionalProperties", "items", "minItems", "maxItems", "uniqueItems",
    "enum", "minimum", "maximum", "multipleOf", "minLength", "maxLength", "pattern",
}  # fmt: skip


def holds(schema: Schema, value: object) -> bool:
    """Whether a value is valid.

    Raises:
        ValueError: a keyword that tasks do not use.
    """
    unknown = schema.keys() - KEYWORDS
    if unknown:
        raise ValueError(f"no such keyword here: {sorted(unknown)}")
    if "enum" in schema and not any(same_json(value, allowed) for allowed in schema["enum"]):
        return False
    return "type" not in schema or _TYPES[schema["type"]](schema, value)


def _is_object(schema: Schema, value: object) -> bool:
    if not isinstance(value, dict):
        return False
    known = schema.get("properties", {})
    if schema.get("additionalProperties") is False and value.keys() - known.keys():
        return False
    return all(key in value for key in schema.get("required", ())) and all(
        holds(known[key], inner) for key, inner in value.items() if key in known
    )


def _is_array(schema: Schema, value: object) -> bool:
    if not isinstance(value, list) or not _within(len(value), schema, "minItems", "maxItems"):
        return False
    if schema.get("uniqueItems") and any(same_json(a, b) for a, b in combinations(value, 2)):
        return False
    return all(holds(schema.get("items", {}), item) for item in value)


def _is_string(schema: Schema, value: object) -> bool:
    return (
        isinstance(value, str)
        and _within(len(value), schema, "minLength", "maxLength")
        and value.startswith(schema.get("pattern", "^").removeprefix("^"))
    )


def _is_number(schema: Schema, value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return _within(value, schema, "minimum", "maximum")


def _is_integer(schema: Schema, value: object) -> bool:
    if not _is_number(schema, value) or not isinstance(value, int | float) or value != int(value):
        return False
    return int(value) % schema.get("multipleOf", 1) == 0


def _within(number: float, schema: Schema, low: str, high: str) -> bool:
    return schema.get(low, number) <= number <= schema.get(high, number)


_TYPES: Mapping[str, Callable[[Schema, object], bool]] = {
    "object": _is_object,
    "array": _is_array,
    "string": _is_string,
    "number": _is_number,
    "integer": _is_integer,
    "boolean": lambda _schema, value: isinstance(value, bool),
}


def draw_schema(rng: Random, level: int) -> Schema:
    """The schema of an object, larger and deeper with the level."""
    low, high = ((1, 2), (2, 4), (3, 5), (4, 6))[level]
    return _object(rng, level, depth=max(level - 1, 0), size=rng.randint(low, high))


def _object(rng: Random, level: int, depth: int, size: int) -> Schema:
    names = rng.sample(NAMES, size)
    required = [name for name in names if level < 2 or rng.random() < 0.7] or names[:1]
    return {
        "type": "object",
        "properties": {name: _any(rng, level, depth) for name in names},
        "required": required,
        "additionalProperties": False,
    }


def _any(rng: Random, level: int, depth: int) -> Schema:
    if depth > 0 and rng.random() < 0.45:
        if rng.random() < 0.4:
            return _object(rng, level, depth - 1, rng.randint(2, 3))
        return _array(rng, level, depth - 1)
    return _leaf(rng, level)


def _array(rng: Random, level: int, depth: int) -> Schema:
    low = rng.randint(1, level)
    schema = {
        "type": "array",
        "items": _any(rng, level, depth),
        "minItems": low,
        "maxItems": low + rng.randint(0, 2),
    }
    is_varied = schema["items"].get("type") in ("integer", "string") and "enum" not in schema["items"]
    return {**schema, "uniqueItems": True} if is_varied and rng.random() < 0.5 else schema


def _leaf(rng: Random, level: int) -> Schema:
    kind = rng.choice(
        ("string", "integer", "boolean", "number", "enum") if level else ("string", "integer", "boolean")
    )
    if kind == "enum":
        return {"enum": rng.sample(WORDS, rng.randint(2, 4))}
    if level == 0 or kind == "boolean":
        return {"type": kind}
    if kind == "string":
        return _string(rng)
    low = rng.randint(-50, 900)
    bounds = {"type": kind, "minimum": low, "maximum": low + rng.randint(20, 100)}
    is_multiple = kind == "integer" and level > 1 and rng.random() < 0.4
    return {**bounds, "multipleOf": rng.choice((3, 4, 5, 7))} if is_multiple else bounds


def _string(rng: Random) -> Schema:
    if rng.random() < 0.4:
        return {"type": "string", "pattern": f"^{rng.choice(PREFIXES)}"}
    low = rng.randint(2, 8)
    return {"type": "string", "minLength": low, "maxLength": low + rng.randint(0, 6)}


def example(schema: Schema, rng: Random) -> Any:
    """A valid value."""
    if "enum" in schema:
        return rng.choice(schema["enum"])
    kind = schema["type"]
    if kind == "object":
        return {name: example(schema["properties"][name], rng) for name in schema["required"]}
    if kind == "array":
        return _examples(schema, rng)
    if kind == "boolean":
        return rng.random() < 0.5
    if kind == "string":
        return _text(schema, rng)
    step = schema.get("multipleOf", 1)
    low = -(-schema.get("minimum", 0) // step)
    return rng.randint(low, schema.get("maximum", 99) // step) * step


def _examples(schema: Schema, rng: Random) -> list[Any]:
    found: list[Any] = []
    while len(found) < schema["minItems"]:
        item = example(schema["items"], rng)
        if not schema.get("uniqueItems") or item not in found:
            found.append(item)
    return found


def _text(schema: Schema, rng: Random) -> str:
    start = schema.get("pattern", "^").removeprefix("^")
    text = start + rng.choice(WORDS)
    return text.ljust(schema.get("minLength", 0), rng.choice("aeiou"))[: schema.get("maxLength", 99)]
