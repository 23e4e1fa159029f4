"""Writing a recipe back as TOML, and telling two recipes apart."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

from burnish.recipe.model import Recipe

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(recipe: Recipe) -> str:
    """The recipe as TOML with every key spelled out; `load_recipe` reads the same recipe back.

    Settings that are not set (None) have no place in TOML and are left out: their default is None.
    """
    lines: list[str] = []
    _table(recipe.model_dump(mode="json"), (), lines)
    return "\n".join(lines).strip() + "\n"


def toml_value(value: Any) -> str:
    """One value in TOML's inline notation."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, Enum, Path)):
        text = value.value if isinstance(value, Enum) else str(value)
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = (f"{toml_key(key)} = {toml_value(item)}" for key, item in value.items() if item is not None)
        body = ", ".join(pairs)
        return f"{{ {body} }}" if body else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    return repr(value)


def toml_key(key: str) -> str:
    """A key, quoted when TOML asks for it."""
    return key if _BARE_KEY.fullmatch(key) else toml_value(key)


def _table(values: Mapping[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    """Plain values first, then tables: TOML has no way back to the table above."""
    nested = {key: value for key, value in values.items() if _is_table(value) or _is_tables(value)}
    for key, value in values.items():
        if key not in nested and value is not None:
            lines.append(f"{toml_key(key)} = {toml_value(value)}")
    for key, value in nested.items():
        name = ".".join(toml_key(part) for part in (*path, key))
        for table in value if _is_tables(value) else [value]:
            lines.extend(["", f"[[{name}]]" if _is_tables(value) else f"[{name}]"])
            _table(table, (*path, key), lines)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def differences(old: Recipe, new: Recipe) -> dict[str, tuple[Any, Any]]:
    """The dotted keys whose values differ, each with its old and new value."""
    before, after = flatten(old.model_dump(mode="json")), flatten(new.model_dump(mode="json"))
    keys = [*before, *(key for key in after if key not in before)]
    return {key: (before.get(key), after.get(key)) for key in keys if before.get(key) != after.get(key)}


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested tables as one level of dotted keys; lists stay whole, empty tables vanish."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat.update(flatten(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat
