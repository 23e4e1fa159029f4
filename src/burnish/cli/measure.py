"""`burnish eval`, `burnish compare` and `burnish probe`: measuring models without training them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from burnish.cli.arguments import Json, Overrides, Quiet, levels_from, overrides_from
from burnish.cli.output import make_console, print_json
from burnish.errors import RecipeError, RunError

if TYPE_CHECKING:
    from burnish.evaluation.evaluation import Evaluation
    from burnish.observe.console import Console
    from burnish.recipe import Recipe

RecipeFile = Annotated[Path | None, Parameter(name="--recipe", help="Domains and sizes from this recipe.")]
Domains = Annotated[
    tuple[str, ...],
    Parameter(
        name="--domains",
        consume_multiple=True,
        help="Names or patterns such as reasoning-gym/arithmetic/*; instead of the recipe's.",
    ),
]
Tasks = Annotated[int | None, Parameter(help="Tasks per domain.")]
Samples = Annotated[int | None, Parameter(help="Sampled completions per task, beside one greedy.")]
Level = Annotated[int | None, Parameter(help="Difficulty for every domain; 0 is the easiest.")]
Out = Annotated[Path | None, Parameter(help="Save the evaluation here, for `burnish compare`.")]


def evaluate(
    model: Annotated[str, Parameter(help="Hub id, directory, checkpoint, run, package:NAME or tiny.")],
    /,
    *,
    recipe: RecipeFile = None,
    domains: Domains = (),
    tasks: Tasks = None,
    samples: Samples = None,
    level: Level = None,
    out: Out = None,
    json: Json = False,
    quiet: Quiet = False,
    set_: Overrides = (),
) -> int:
    """Measure a model on held-out tasks: greedy and sampled accuracy per domain, with intervals.

    A run or checkpoint is measured as its own recipe says, unless --recipe or --domains is given.
    """
    resolved = _resolve(model, recipe, domains, _sizes(tasks, samples, level) | overrides_from(set_))
    console = make_console(json=json, quiet=quiet)
    evaluation = _evaluate(model, resolved, console)
    if out is not None:
        _save(evaluation, out)
    _show([evaluation], console, json)
    return 0


def compare(
    first: Annotated[str, Parameter(help="A model or checkpoint, or a saved evaluation (.json).")],
    second: Annotated[str, Parameter(help="What to compare it with, of the same kind.")],
    /,
    *,
    recipe: RecipeFile = None,
    domains: Domains = (),
    tasks: Tasks = None,
    samples: Samples = None,
    level: Level = None,
    json: Json = False,
    quiet: Quiet = False,
    set_: Overrides = (),
) -> int:
    """Compare two models, or two saved evaluations, on the same tasks: differences with paired intervals."""
    from burnish.evaluation.evaluation import load_evaluation  # noqa: PLC0415 - loads numpy

    console = make_console(json=json, quiet=quiet)
    saved = [name.endswith(".json") for name in (first, second)]
    if all(saved):
        pair = [load_evaluation(Path(name)) for name in (first, second)]
    elif any(saved):
        raise RunError(
            "a saved evaluation cannot be compared with a model",
            got=f"{first} and {second}",
            expected="two models, or two saved evaluations (.json)",
            next_step="save the other one too: burnish eval MODEL --out FILE.json",
        )
    else:
        overrides = _sizes(tasks, samples, level) | overrides_from(set_)
        resolved = _resolve(second, recipe, domains, overrides)
        pair = [_evaluate(model, resolved, console) for model in (first, second)]
    _show(_told_apart(pair), console, json)
    return 0


def probe(
    model: Annotated[str, Parameter(help="Hub id, directory, checkpoint, package:NAME or tiny.")],
    /,
    *,
    recipe: RecipeFile = None,
    domains: Domains = (),
    levels: Annotated[str | None, Parameter(help="Levels to try, such as 0,1; `all` for every level.")] = "0",
    tasks: Tasks = None,
    samples: Samples = None,
    json: Json = False,
    quiet: Quiet = False,
    set_: Overrides = (),
) -> int:
    """Will post-training pay? Where RL has signal, where SFT comes first, what is solved, what it costs."""
    wanted = levels_from(levels)
    overrides = _sizes(tasks, samples, None) | overrides_from(set_)
    resolved = _resolve(model, recipe, domains, overrides)
    console = make_console(json=json, quiet=quiet)
    from burnish import pipeline  # noqa: PLC0415 - loads torch

    report = pipeline.probe_model(model, resolved, levels=wanted, console=console)
    if json:
        print_json(report.to_dict())
        return 0
    console.table(*probe_table([cell.to_dict() for cell in report.cells]), title="")
    for line in report.recommendation.splitlines():
        print(line)
    return 0


def _sizes(tasks: int | None, samples: int | None, level: int | None) -> dict[str, Any]:
    """The overrides behind the short flags."""
    given: dict[str, Any] = {"evaluate.tasks": tasks, "evaluate.samples": samples, "domains.level": level}
    found = {key: value for key, value in given.items() if value is not None}
    return found if level is None else found | {"domains.levels": {}}


def _resolve(model: str, recipe: Path | None, domains: Sequence[str], overrides: dict[str, Any]) -> Recipe:
    """The recipe that says what to measure: the given one, the run's own, or one made of the patterns."""
    from burnish.recipe import build_recipe, load_recipe  # noqa: PLC0415 - `burnish --help` needs none

    path = recipe or _recipe_of_run(Path(model))
    if domains:
        overrides = {"domains.train": list(domains), "domains.held_out": []} | overrides
    if path is not None:
        return load_recipe(path, {"stages": []} | overrides)
    if domains:
        return build_recipe({"name": "measure", "stages": [], "model": {"name": model}}, overrides)
    raise RecipeError(
        "measured on what?",
        expected="--domains PATTERN... or --recipe FILE",
        next_step="`burnish domains list` shows the domains, for example --domains 'reasoning-gym/games/*'",
    )


def _recipe_of_run(model: Path) -> Path | None:
    """The recipe of the run that a run folder or checkpoint belongs to."""
    if not model.is_dir():
        return None
    folders = [model, *model.resolve().parents[:3]]
    return next((f / "recipe.toml" for f in folders if (f / "recipe.toml").is_file()), None)


def _evaluate(model: str, recipe: Recipe, console: Console) -> Evaluation:
    from burnish import pipeline  # noqa: PLC0415 - loads torch

    return pipeline.evaluate_model(model, recipe, console=console)


def _told_apart(pair: Sequence[Evaluation]) -> list[Evaluation]:
    """Two evaluations whose names differ."""
    from dataclasses import replace  # noqa: PLC0415

    first, second = pair
    if first.name != second.name:
        return [first, second]
    return [replace(first, name=f"{first.name} (1)"), replace(second, name=f"{second.name} (2)")]


def _show(evaluations: Sequence[Evaluation], console: Console, json: bool) -> None:
    from burnish.evaluation.summary import summarise  # noqa: PLC0415 - loads numpy
    from burnish.observe import print_summary  # noqa: PLC0415

    summary = summarise(evaluations)
    if json:
        print_json(summary)
    else:
        print_summary(console, summary)


def _save(evaluation: Evaluation, path: Path) -> None:
    from burnish.store import write_json_atomic  # noqa: PLC0415

    write_json_atomic(path, evaluation.to_dict())


def probe_table(cells: Sequence[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a probe, a row a domain and level."""
    from burnish.observe.text import percent  # noqa: PLC0415

    columns = ["domain", "level", "verdict", "sampled", "greedy", "mixed groups", "why"]
    rows = [
        [
            cell["domain"],
            str(cell["level"]),
            str(cell["kind"]) + ("" if cell["sure"] else "?"),
            *(percent(cell[key]["value"]) for key in ("success", "greedy", "mixed")),
            cell["reason"],
        ]
        for cell in cells
    ]
    return columns, rows
