"""Walking the keys of a recipe: the type behind a key, and the list of all keys for help and docs."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel

from burnish.recipe.model import Recipe
from burnish.recipe.write import toml_value

Path = tuple[str | int, ...]

_PLAIN = {bool: "true or false", int: "whole number", float: "number", str: "text"}


@dataclass(frozen=True, slots=True)
class RecipeKey:
    """One key that a recipe may set."""

    key: str
    """Dotted name, for example `rl.lr`; a key of a list of tables has `[]`, `domains.rows[].path`."""
    type: str
    """Its type, in words."""
    default: str
    """Its default as TOML; empty when there is none."""
    doc: str
    """What it does, in one or two sentences."""


def strip(annotation: Any) -> Any:
    """The annotation without `Annotated` and without None: the type a file can give."""
    if get_origin(annotation) is Annotated:
        return strip(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        options = [option for option in get_args(annotation) if option is not type(None)]
        return strip(options[0]) if len(options) == 1 else Union[tuple(options)]  # noqa: UP007
    return annotation


def is_model(annotation: Any) -> TypeGuard[type[BaseModel]]:
    """Whether an annotation is a table with declared keys."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def is_list(annotation: Any) -> bool:
    """Whether an annotation is a list or tuple."""
    origin = get_origin(annotation) or annotation
    return isinstance(origin, type) and issubclass(origin, Sequence) and not issubclass(origin, (str, bytes))


def is_mapping(annotation: Any) -> bool:
    """Whether an annotation is a table with free keys."""
    origin = get_origin(annotation) or annotation
    return isinstance(origin, type) and issubclass(origin, Mapping)


def child(annotation: Any, part: str | int) -> Any | None:
    """The type behind one more part of a key, or None when there is no such key."""
    annotation = strip(annotation)
    if is_model(annotation):
        field = annotation.model_fields.get(str(part))
        return None if field is None else field.annotation
    if is_mapping(annotation) and isinstance(part, str):
        return get_args(annotation)[1]
    if is_list(annotation) and isinstance(part, int):
        return get_args(annotation)[0]
    return None


def known_prefix(path: Path) -> Path:
    """The longest beginning of `path` that names a key."""
    annotation: Any = Recipe
    for depth, part in enumerate(path):
        annotation = child(annotation, part)
        if annotation is None:
            return path[:depth]
    return path


def annotation_at(path: Path) -> Any | None:
    """The type of the key at `path`, or None when there is no such key."""
    annotation: Any = Recipe
    for part in path:
        annotation = child(annotation, part)
        if annotation is None:
            return None
    return strip(annotation)


def describe(annotation: Any) -> str:
    """A type in words: `number`, `list of text`, `"sft" or "rl"`, `[number, number]`."""
    annotation = strip(annotation)
    origin, options = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(f'"{value}"' for value in options)
    if origin is Union:
        return " or ".join(describe(option) for option in options)
    if is_mapping(annotation):
        return f"table of {describe(options[1])}"
    if is_list(annotation):
        fixed = origin is tuple and options[-1] is not Ellipsis
        inner = ", ".join(describe(option) for option in options)
        return f"[{inner}]" if fixed else f"list of {describe(options[0])}"
    return "table" if is_model(annotation) else _PLAIN.get(annotation, "text")


def recipe_schema() -> list[RecipeKey]:
    """Every key of a recipe, in the order of the file, with type, default and doc."""
    return list(_keys(Recipe, ""))


def _keys(model: type[BaseModel], prefix: str) -> Iterator[RecipeKey]:
    for name, field in model.model_fields.items():
        annotation = strip(field.annotation)
        inner = strip(get_args(annotation)[0]) if is_list(annotation) else None
        if is_model(annotation):
            yield from _keys(annotation, f"{prefix}{name}.")
        elif is_model(inner):
            yield from _keys(inner, f"{prefix}{name}[].")
        else:
            default = None if field.is_required() else field.get_default(call_default_factory=True)
            shown = "" if default is None else toml_value(default)
            yield RecipeKey(f"{prefix}{name}", describe(annotation), shown, field.description or "")
