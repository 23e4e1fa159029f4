"""`burnish algorithms`: the presets, a line on each, and the recipe keys that each reads."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from burnish.cli.arguments import Json
from burnish.cli.output import make_console, print_json
from burnish.errors import RecipeError, suggestion

if TYPE_CHECKING:
    from burnish.algorithms.catalogue import Preset

Name = Annotated[str | None, Parameter(help="A preset, for example grpo; all of them when left out.")]


def algorithms(name: Name = None, /, *, json: Json = False) -> int:
    """The presets of `algorithm.name`, with the keys of [algorithm] that each reads and their defaults."""
    from burnish.algorithms.catalogue import PRESETS  # noqa: PLC0415 - `burnish --help` needs no presets

    if name is not None and name not in PRESETS:
        raise RecipeError(
            f"there is no algorithm {name!r}",
            expected=", ".join(PRESETS),
            next_step=suggestion(name, PRESETS) or "`burnish algorithms` lists them",
        )
    chosen = [PRESETS[name]] if name else list(PRESETS.values())
    if json:
        print_json([_plain(preset) for preset in chosen])
    elif name:
        _print_one(chosen[0])
    else:
        _print_all(chosen)
    return 0


def _keys(preset: Preset) -> list[dict[str, Any]]:
    """Every key that a preset reads, with its default and what it does."""
    from burnish.algorithms.settings import AlgorithmSettings  # noqa: PLC0415

    settings = AlgorithmSettings.model_validate({"name": preset.name})
    fields = AlgorithmSettings.model_fields
    return [
        {"key": f"algorithm.{key}", "default": getattr(settings, key), "doc": fields[key].description}
        for key in preset.keys
    ]


def _plain(preset: Preset) -> dict[str, Any]:
    return {
        "name": preset.name,
        "line": preset.line,
        "paper": preset.paper,
        "per_domain": preset.per_domain,
        "least_samples": preset.least_samples,
        "keys": _keys(preset),
    }


def _print_all(presets: list[Preset]) -> None:
    from burnish.algorithms.catalogue import PULLS, RUN_WIDE  # noqa: PLC0415

    rows = [[p.name, p.line, ", ".join(p.own) or "-", p.paper] for p in presets]
    console = make_console()
    console.table(["algorithm", "what it does", "keys of its own", "paper"], rows, title="Algorithms")
    print(f"Every algorithm also reads {', '.join((*PULLS, *RUN_WIDE))}.")
    print("`burnish algorithms NAME` shows defaults.")


def _print_one(preset: Preset) -> None:
    from burnish.recipe.write import toml_value  # noqa: PLC0415

    print(f"{preset.name}: {preset.line} (arXiv {preset.paper})\n")
    for row in _keys(preset):
        print(f"{row['key']} = {toml_value(row['default'])}")
        print(fill(" ".join(row["doc"].split()), 100, initial_indent="    ", subsequent_indent="    "))
    if preset.per_domain:
        print("It may be chosen for some domains only, in [[algorithm.overrides]].")
