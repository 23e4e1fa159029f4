"""Overrides from the command line: dotted keys, and texts read by the type of the key."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from burnish.recipe.fields import annotation_at, is_list, is_mapping, is_model

_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def parse_text(text: str, annotation: Any) -> Any:
    """The value that `text` stands for when a key has this type; unreadable text is returned as it is.

    Text fields take the text as it stands, numbers and true/false their usual spellings, lists TOML or a
    comma-separated text, tables TOML; `none` unsets a key.
    """
    if annotation is str or get_origin(annotation) is Literal:
        return text
    if text.strip().lower() == "none":
        return None
    if annotation is bool:
        return _WORDS.get(text.strip().lower(), text)
    if annotation in (int, float):
        return _number(text)
    value = _toml(text)
    if isinstance(value, str) and is_list(annotation) and not text.lstrip().startswith("["):
        return [parse_text(part.strip(), get_args(annotation)[0]) for part in text.split(",") if part.strip()]
    return value


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text.strip()}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text


def split_key(key: str) -> tuple[str, ...]:
    """The parts of a dotted key; what follows a table with free keys is one part, dots and all.

    `rl.lr` is ("rl", "lr"); `domains.levels.my/v1.5` is ("domains", "levels", "my/v1.5").
    """
    parts = key.split(".")
    for depth in range(1, len(parts)):
        head = tuple(parts[:depth])
        if is_mapping(annotation_at(head)):
            return (*head, ".".join(parts[depth:]))
    return tuple(parts)


def apply_overrides(data: dict[str, Any], overrides: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Set every override in `data`, in place, and return the paths that were set.

    A value that is text is read by the type of its key; anything else is taken as it is.
    """
    paths = []
    for key, value in overrides.items():
        path = split_key(key)
        annotation = annotation_at(path)
        is_text = isinstance(value, str) and annotation is not None and not is_model(annotation)
        _set(data, path, parse_text(value, annotation) if is_text else value)
        paths.append(path)
    return paths


def _set(data: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for part in path[:-1]:
        if not isinstance(data.get(part), dict):
            data[part] = {}
        data = data[part]
    data[path[-1]] = value
