"""Command-line words before and after cyclopts: recipe keys as flags, `--resume DIR`, usage errors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import CycloptsError, Parameter, UnknownCommandError, UnknownOptionError

from burnish.errors import RecipeError

Overrides = Annotated[
    tuple[str, ...],
    Parameter(
        name="--set",
        help="KEY=VALUE: override a key of the recipe, for example rl.steps=10; so does --rl.steps 10.",
    ),
]
Json = Annotated[bool, Parameter(help="Machine-readable output on standard output.")]
Quiet = Annotated[bool, Parameter(help="No progress.")]

_TAKES_RECIPE_KEYS = ("train", "eval", "compare", "probe")
_TOP_KEYS = ("name", "seed", "threads", "stages")
"""Keys of a recipe outside every table; all others have a dot."""
_FLAG = re.compile(r"--([^=\s]+)(?:=(.*))?", re.DOTALL)
_NUMBER = re.compile(r"-[\d.]")


def expand(arguments: Sequence[str]) -> list[str]:
    """Arguments as cyclopts takes them.

    `--rl.steps 10` becomes `--set rl.steps=10`, and `--resume DIR` becomes `--resume --run-dir DIR`.

    Raises:
        RecipeError: a recipe key lacks its value.
    """
    words = list(arguments)
    if not words or words[0] not in _TAKES_RECIPE_KEYS:
        return words
    expanded, position = [words[0]], 1
    while position < len(words):
        taken, replacement = _expand_one(words[position:])
        expanded += replacement
        position += taken
    return expanded


def _expand_one(words: Sequence[str]) -> tuple[int, list[str]]:
    """How many words the first flag takes, and what stands for them."""
    flag = _FLAG.fullmatch(words[0])
    if flag is None:
        return 1, [words[0]]
    name, value = flag[1], flag[2]
    if name == "resume":
        return _expand_resume(value, words[1:])
    if "." not in name and name not in _TOP_KEYS:
        return 1, [words[0]]
    key = _recipe_key(name)
    if value is not None:
        return 1, ["--set", f"{key}={value}"]
    if len(words) > 1 and (not words[1].startswith("-") or _NUMBER.match(words[1])):
        return 2, ["--set", f"{key}={words[1]}"]
    if _type_of(key) is bool:
        return 1, ["--set", f"{key}=true"]
    raise RecipeError(f"--{name} needs a value", expected=f"--{name} VALUE", next_step="add the value")


def _expand_resume(value: str | None, rest: Sequence[str]) -> tuple[int, list[str]]:
    """`--resume` may name the run directory; a recipe (a file or a .toml name) after it is not one."""
    if value is not None:
        return 1, ["--resume", "--run-dir", value]
    if rest and not rest[0].startswith("-") and not rest[0].endswith(".toml") and not Path(rest[0]).is_file():
        return 2, ["--resume", "--run-dir", rest[0]]
    return 1, ["--resume"]


def _recipe_key(name: str) -> str:
    """The recipe's spelling of a flag: keys are written with underscores, flags often with hyphens."""
    spelled = name.replace("-", "_")
    return spelled if _type_of(name) is None and _type_of(spelled) is not None else name


def _type_of(key: str) -> object:
    from burnish.recipe.fields import annotation_at  # noqa: PLC0415 - `burnish --help` needs no recipe
    from burnish.recipe.overrides import split_key  # noqa: PLC0415

    return annotation_at(split_key(key))


def overrides_from(pairs: Sequence[str]) -> dict[str, str]:
    """The dotted keys and texts behind `--set KEY=VALUE`.

    Raises:
        RecipeError: no `=`.
    """
    found: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise RecipeError(
                "--set needs KEY=VALUE",
                got=pair,
                expected="for example --set rl.steps=10",
                next_step="add the value",
            )
        found[_recipe_key(key)] = value
    return found


def levels_from(text: str | None) -> tuple[int, ...] | None:
    """The levels behind `0,1`; None for `all` or nothing.

    Raises:
        RecipeError: not a list of whole numbers from 0.
    """
    if text is None or text == "all":
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdecimal() for part in parts):
        raise RecipeError(
            "--levels is not a list of levels",
            got=text,
            expected="whole numbers separated by commas, such as 0,1,2, or all",
            next_step="`burnish domains show NAME` says which levels there are",
        )
    return tuple(dict.fromkeys(int(part) for part in parts))


def usage_error(error: CycloptsError, arguments: Sequence[str]) -> RecipeError:
    """What cyclopts found wrong with the arguments, as one of our errors."""
    text = re.sub(r"\s+", " ", str(error)).strip()
    command = next((word for word in arguments if not word.startswith("-")), "")
    if isinstance(error, UnknownCommandError) or not command:
        return RecipeError(text, next_step="`burnish --help` lists the commands")
    step = f"`burnish {command} --help` shows what it takes"
    if isinstance(error, UnknownOptionError) and command in _TAKES_RECIPE_KEYS:
        wrong = error.token.keyword or error.token.value
        meant = _keys_called(wrong.lstrip("-").replace("-", "_"))
        if meant:
            return RecipeError(f"unknown option {wrong}", next_step=f"did you mean {meant}?")
    return RecipeError(text, next_step=step)


def _keys_called(name: str) -> str:
    """The flags whose last part is `name`."""
    from burnish.recipe import recipe_schema  # noqa: PLC0415

    return " or ".join(f"--{key.key}" for key in recipe_schema() if key.key.rpartition(".")[2] == name)
