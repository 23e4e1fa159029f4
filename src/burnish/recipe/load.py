"""Reading a recipe: file, overrides, validation, all before anything heavy is loaded."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from burnish.errors import RecipeError, suggestion
from burnish.recipe.model import Recipe
from burnish.recipe.overrides import apply_overrides
from burnish.recipe.problems import Problem, problems_of, recipe_error, show


def load_recipe(path: str | Path, overrides: Mapping[str, Any] | None = None) -> Recipe:
    """The recipe in a TOML file, with overrides by dotted key (`{"rl.steps": 10}`) applied on top.

    Relative paths in the file are resolved against its folder, those in overrides against the current one.
    Override values that are text are read by the type of their key, so `"10"` and `10` are the same.

    Raises:
        RecipeError: the file cannot be read, is not TOML, or says something wrong; all problems at once.
    """
    path = Path(path).expanduser()
    data = read_toml(path)
    resolve_paths(data, path.resolve().parent)
    data.setdefault("name", path.stem)
    return build_recipe(data, overrides or {}, source=str(path))


def build_recipe(
    data: dict[str, Any], overrides: Mapping[str, Any] | None = None, source: str = "the command line"
) -> Recipe:
    """A validated recipe from plain data and overrides; `source` names the data in errors.

    Raises:
        RecipeError: something is wrong; all problems at once.
    """
    laid_over: dict[str, Any] = {}
    overridden = apply_overrides(laid_over, overrides or {})
    resolve_paths(laid_over, Path.cwd())
    merged = _merge(data, laid_over, set(overridden))
    unfit = _unfit(merged, ())
    if unfit:
        raise recipe_error(source, unfit)
    try:
        # JSON mode is strict about types yet takes lists for tuples and names for enums, as TOML has them.
        return Recipe.model_validate_json(json.dumps(merged), strict=True)
    except ValidationError as error:
        raise recipe_error(source, problems_of(error, overridden)) from None


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as plain data.

    Raises:
        RecipeError: no such file, a folder, not readable, not UTF-8, or not TOML (with line and column).
    """
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        raise _missing(path) from None
    except IsADirectoryError:
        inside = sorted(p.name for p in path.glob("*.toml"))
        found = f"it holds {', '.join(inside[:5])}" if inside else "it holds no TOML file"
        raise RecipeError(
            f"{path} is a folder", expected="a recipe (TOML file)", next_step=f"name a file; {found}"
        ) from None
    except UnicodeDecodeError as error:
        raise RecipeError(
            f"{path} is not text: byte {error.start} is not UTF-8",
            expected="a recipe (TOML file)",
            next_step="save the file as UTF-8, or name another one",
        ) from None
    except OSError as error:
        raise RecipeError(
            f"{path} cannot be read: {error.strerror}", next_step="check the path and its permissions"
        ) from None
    return parse_toml(text, str(path))


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """TOML text as plain data.

    Raises:
        RecipeError: not TOML; names line and column and shows the line.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        lines = text.splitlines() or [""]
        found = re.search(r"line (\d+), column (\d+)", str(error))
        line, column = (int(n) for n in found.groups()) if found else (len(lines), len(lines[-1]) + 1)
        reason = re.sub(r" \(at .*\)$", "", str(error))
        raise RecipeError(
            f"{source}, line {line}, column {column}: {reason}",
            got=lines[min(line, len(lines)) - 1].strip() or "an empty line",
            expected='TOML, for example  lr = 1e-5  or  name = "text"',
            next_step="correct that line",
        ) from None


def resolve_paths(data: dict[str, Any], folder: Path) -> None:
    """Make the paths in recipe data absolute, in place; what is not a path is left to validation."""
    model, domains = data.get("model"), data.get("domains")
    if isinstance(model, dict) and _is_local(model.get("name"), folder):
        model["name"] = _absolute(model["name"], folder)
    rows = domains.get("rows") if isinstance(domains, dict) else None
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and isinstance(row.get("path"), str) and row["path"]:
            row["path"] = _absolute(row["path"], folder)


def _is_local(name: object, folder: Path) -> bool:
    """Whether a model name is a path rather than a hub id: it says so, or the file or folder is there."""
    if not isinstance(name, str) or not name or name == "tiny" or name.startswith("package:"):
        return False
    return name.startswith((".", "~", "/")) or (folder / name).exists()


def _absolute(path: str, folder: Path) -> str:
    # os.path, because pathlib raises for the home of an unknown user; the file's owner says what is missing.
    return os.path.abspath(os.path.join(folder, os.path.expanduser(path)))


def _missing(path: Path) -> RecipeError:
    parent = path.parent
    if not parent.is_dir():
        return RecipeError(
            f"no such recipe: {path}",
            expected="a TOML file",
            next_step=f"the folder {parent} does not exist either",
        )
    names = sorted(p.name for p in parent.glob("*.toml"))
    near = suggestion(path.name, names) or suggestion(f"{path.name}.toml", names)
    there = f"recipes in {parent}: {', '.join(names[:6])}" if names else f"{parent} holds no TOML file"
    return RecipeError(f"no such recipe: {path}", expected="a TOML file", next_step=near or there)


def _merge(base: Any, over: Any, whole: set[tuple[str, ...]], path: tuple[str, ...] = ()) -> Any:
    """`over` laid on `base`; a key that was overridden itself is replaced, its parents are merged."""
    if path in whole or not (isinstance(base, dict) and isinstance(over, dict)):
        return over
    merged = dict(base)
    for key, value in over.items():
        merged[key] = _merge(base.get(key), value, whole, (*path, key)) if key in base else value
    return merged


def _unfit(value: Any, path: tuple[str | int, ...]) -> list[Problem]:
    """What TOML has and recipes do not: dates, which JSON would turn into text, and null characters."""
    where = ".".join(str(part) for part in path)
    if isinstance(value, (date, datetime, time)):
        return [Problem(where, "wrong value", f"{value} (date or time)", "text, so put it in quotes")]
    if isinstance(value, str) and "\0" in value:
        return [Problem(where, "wrong value", show(value), "text without null characters")]
    if isinstance(value, dict):
        return [p for key, item in value.items() for p in _unfit(item, (*path, key))]
    if isinstance(value, list):
        return [p for i, item in enumerate(value) for p in _unfit(item, (*path, i))]
    return []
