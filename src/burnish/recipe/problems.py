"""What is wrong with a recipe, in the words of the person who wrote it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from burnish.errors import RecipeError, suggestion
from burnish.recipe.fields import Path, annotation_at, describe, is_model, known_prefix, recipe_schema
from burnish.recipe.model import Recipe
from burnish.recipe.write import toml_value

SHOWN = 6
"""Problems spelled out in one message; the rest are counted."""

_EXPECTED = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "finite_number": "a finite number",
}

_UNKNOWN = "unknown key"

_BOUNDS = {
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "above",
    "less than": "below",
}

_OTHER_NAMES = {
    "learning_rate": "lr",
    "batch_size": "batch",
    "group_size": "samples",
    "num_generations": "samples",
    "temp": "temperature",
    "max_new_tokens": "max_tokens",
    "max_completion_length": "max_tokens",
    "warmup_steps": "warmup",
    "max_steps": "steps",
    "grad_clip": "max_grad_norm",
    "beta": "kl_coef",
    "kl": "kl_coef",
    "epsilon": "trust_region",
    "model_name": "name",
    "path": "name",
    "lora_r": "lora_rank",
    "lr_scheduler": "schedule",
    "scheduler": "schedule",
    "save_every": "checkpoint_every",
    "eval": "evaluate",
    "evaluation": "evaluate",
    "sampling": "rollout",
    "dataset": "domains",
    "datasets": "domains",
    "tasks": "domains",
    "training": "rl",
    "reinforcement": "rl",
}
"""What other trainers call a key; a suggestion only, never accepted."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong."""

    where: str
    """The key as its reader knows it: `[rl] lr` in a file, `--rl.lr` on the command line."""
    what: str
    got: str | None = None
    expected: str | None = None
    hint: str = ""

    def line(self) -> str:
        """The problem in one line."""
        parts = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.got is not None and self.expected is not None and not (self.hint and self.what == _UNKNOWN):
            parts.append(f"got {self.got}, expected {self.expected}")
        return "; ".join([*parts, self.hint] if self.hint else parts)


def recipe_error(source: str, problems: Sequence[Problem]) -> RecipeError:
    """One error for all problems found in `source`, or on the command line when all come from there."""
    if all(problem.where.startswith("--") for problem in problems):
        source = "the command line"
    next_step = f"correct {source}; `burnish train --help` lists every key"
    if len(problems) == 1:
        only = problems[0]
        where = f" {only.where}:" if only.where else ""
        return RecipeError(
            f"{source}:{where} {only.what}",
            got=only.got,
            expected=only.expected,
            next_step=only.hint or next_step,
        )
    lines = [f"{source} has {len(problems)} problems", *(f"  {p.line()}" for p in problems[:SHOWN])]
    if len(problems) > SHOWN:
        lines.append(f"  ... and {len(problems) - SHOWN} more")
    return RecipeError("\n".join(lines), next_step=next_step)


def problems_of(error: ValidationError, overridden: Collection[Path]) -> list[Problem]:
    """The problems behind a validation error; `overridden` are the paths set on the command line."""
    merged: dict[tuple[Path, str], Problem] = {}
    for details in error.errors():
        for problem, key in _translate(details, overridden):
            first = merged.get(key)
            merged[key] = problem if first is None else _either(first, problem)
    return list(merged.values())


def _either(first: Problem, second: Problem) -> Problem:
    """One problem for a key that accepts several types and got none of them."""
    if second.expected is None or first.expected is None or second.expected in first.expected:
        return first
    return Problem(first.where, first.what, first.got, f"{first.expected} or {second.expected}", first.hint)


def _translate(details: ErrorDetails, overridden: Collection[Path]) -> list[tuple[Problem, tuple[Path, str]]]:
    loc, kind, value = tuple(details["loc"]), details["type"], details["input"]
    if kind == "extra_forbidden":
        return [(_unknown_key(loc, value, overridden), (loc, kind))]
    if kind == "missing" and isinstance(loc[-1], str):
        hint = f"add it: {_doc(loc)}" if _doc(loc) else ""
        return [(Problem(_where(loc, overridden), "this key is missing", hint=hint), (loc, kind))]
    path = known_prefix(loc)
    if kind == "value_error":
        sentences = str(details["msg"]).removeprefix("Value error, ").splitlines()
        where = _where(path, overridden)
        return [(Problem(where, sentence), (path, sentence)) for sentence in sentences]
    if kind == "missing" or (kind == "too_long" and path):  # an entry of a list of fixed length
        path = path[:-1] if kind == "missing" else path
        problem = Problem(_where(path, overridden), "wrong value", show(value), describe(annotation_at(path)))
        return [(problem, (path, "value"))]
    return [(_wrong_value(path, kind, str(details["msg"]), value, overridden), (path, "value"))]


def _wrong_value(path: Path, kind: str, message: str, value: Any, overridden: Collection[Path]) -> Problem:
    expected = _EXPECTED.get(kind) or message.removeprefix("Input should be ")
    for long, short in _BOUNDS.items():
        expected = expected.replace(long, short)
    hint = ""
    if kind == "literal_error" and isinstance(value, str):
        hint = suggestion(value, expected.split("'")[1::2])
    return Problem(_where(path, overridden), "wrong value", show(value), expected, hint)


def _doc(path: Path) -> str:
    """What the key at `path` does."""
    parts = ["[]" if isinstance(part, int) else part for part in path]
    return next((key.doc for key in recipe_schema() if key.key == ".".join(parts).replace(".[]", "[]")), "")


def _unknown_key(path: Path, value: Any, overridden: Collection[Path]) -> Problem:
    table = annotation_at(path[:-1]) if len(path) > 1 else Recipe
    known = list(table.model_fields) if table is not None and is_model(table) else []
    key = str(path[-1]) if path else ""
    return Problem(
        _where(path, overridden),
        _UNKNOWN,
        got=f"{key} = {show(value)}",
        expected=f"one of {', '.join(known)}",
        hint=_nearest(key, known),
    )


def _nearest(wrong: str, known: list[str]) -> str:
    """The key of this table that was meant, or else the same key of another table."""
    usual = _OTHER_NAMES.get(wrong) or next(
        (key for n, key in _OTHER_NAMES.items() if suggestion(wrong, [n])), ""
    )
    if _OTHER_NAMES.get(wrong) in known:
        return f"did you mean {usual!r}?"
    return (
        _elsewhere(wrong)
        or suggestion(wrong, known)
        or (f"did you mean {usual!r}?" if usual in known else _elsewhere(usual))
    )


def _elsewhere(name: str) -> str:
    """The keys of any table that have just this name."""
    keys = [key.key for key in recipe_schema() if key.key.rpartition(".")[2] == name]
    return f"did you mean {' or '.join(repr(key) for key in keys)}?" if keys else ""


def _where(path: Path, overridden: Collection[Path]) -> str:
    """The key as it is written in a file, or as a flag when it came from the command line."""
    if any(path[: len(flag)] == flag for flag in overridden):
        return "--" + ".".join(str(part) for part in path)
    tables, keys = _split_tables(path)
    named = f"[{'.'.join(str(part) for part in tables if isinstance(part, str))}]" if tables else ""
    entry = next((f" #{part + 1}" for part in tables if isinstance(part, int)), "")
    inner = ".".join(str(part) for part in keys if isinstance(part, str))
    item = next((f", entry {part + 1}" for part in keys if isinstance(part, int)), "")
    return f"{named}{entry} {inner}{item}".strip()


def _split_tables(path: Path) -> tuple[Path, Path]:
    """A path as the tables it goes through and the key within the last of them."""
    depth = 0
    for end in range(1, len(path) + 1):
        annotation = annotation_at(path[:end])
        if annotation is not None and is_model(annotation):
            depth = end
    return path[:depth], path[depth:]


def show(value: Any) -> str:
    """A value as TOML, cut to a readable length, with its type in words."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a table"
    text = toml_value(value)
    text = text if len(text) <= 60 else text[:57] + "..."
    kinds = {str: "text", bool: "true or false", int: "whole number", float: "number", list: "list"}
    return f"{text} ({kinds[type(value)]})" if type(value) in kinds else text
