"""`burnish train`: run a recipe, or continue a run."""

from __future__ import annotations

import re
import sys
import textwrap
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from burnish.cli.arguments import Overrides, Quiet, overrides_from
from burnish.cli.output import print_json, size
from burnish.errors import RecipeError, RunError
from burnish.recipe import Recipe, load_recipe, recipe_schema, to_toml

if TYPE_CHECKING:
    from burnish.pipeline import Estimate

RUNS = Path("runs")
"""Where runs go unless --run-dir says otherwise."""


def keys_help() -> str:
    """Every recipe key as a flag, for --help."""
    lines = ["Every key of the recipe is a flag too (lists: a,b or TOML; `none` unsets):", ""]
    for key in recipe_schema():
        if "[]" not in key.key:
            default = f" [{key.default}]" if key.default else ""
            doc = " ".join(key.doc.split())
            lines.append(f"  --{key.key}  {key.type}{default}")
            lines += textwrap.wrap(doc, 78, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return "\n".join(lines)


app = App(name="train", help_format="plaintext", help_epilogue=keys_help())


@app.default
def train(
    recipe: Annotated[Path | None, Parameter(help="The recipe, a TOML file.")] = None,
    /,
    *,
    run_dir: Annotated[
        Path | None,
        Parameter(help="New folder for the run; runs/NAME, or runs/NAME-2 and so on, when not given."),
    ] = None,
    resume: Annotated[
        bool,
        Parameter(help="Continue the run in --run-dir; `--resume DIR` needs no recipe."),
    ] = False,
    dry_run: Annotated[
        bool, Parameter(help="Print the resolved recipe with an estimate of memory and time, and stop.")
    ] = False,
    timeline: Annotated[
        bool, Parameter(help="Leave timeline.json in the run's folder: open it at ui.perfetto.dev.")
    ] = False,
    json: Annotated[bool, Parameter(help="One JSON object a line; the last one holds the summary.")] = False,
    quiet: Quiet = False,
    set_: Overrides = (),
) -> int:
    """Run a recipe: evaluate, fine-tune, evaluate, reinforce, evaluate.

    Ctrl-C finishes the step and saves; `burnish train --resume DIR` goes on.
    """
    overrides = overrides_from(set_)
    if resume:
        run_dir = run_dir or _newest_run(recipe, overrides)
        resolved = load_recipe(recipe or _saved_recipe(run_dir), overrides)
    elif recipe is None:
        raise RecipeError(
            "which recipe?",
            expected="burnish train RECIPE, or burnish train --resume DIR",
            next_step="examples/ holds recipes to start from",
        )
    else:
        resolved = load_recipe(recipe, overrides)
    if dry_run:
        return _dry_run(resolved, json)
    folder = run_dir or _next_free(resolved.name)
    with _recorded(folder) if timeline else nullcontext():
        return _train(resolved, folder, resume=resume, json=json, quiet=quiet)


def _recorded(folder: Path) -> AbstractContextManager[object]:
    from burnish.observe.timeline import timeline_into  # noqa: PLC0415

    return timeline_into(folder)


def _train(recipe: Recipe, run_dir: Path, *, resume: bool, json: bool, quiet: bool) -> int:
    from burnish import pipeline  # noqa: PLC0415 - loads torch
    from burnish.observe.console import Console  # noqa: PLC0415

    console = Console(quiet=quiet, json=json)
    result = pipeline.train(recipe, run_dir, resume=resume, console=console)
    console.emit("result", run_dir=str(result.run_dir), summary=result.summary)
    return 0


def _dry_run(recipe: Recipe, json: bool) -> int:
    from burnish import pipeline  # noqa: PLC0415 - loads torch

    estimate = pipeline.dry_run(recipe)
    if json:
        print_json(
            {
                "recipe": recipe.model_dump(mode="json"),
                "memory_bytes": estimate.memory_bytes,
                "seconds": estimate.seconds,
                "lines": list(estimate.lines),
            }
        )
    else:
        sys.stdout.write(dry_run_text(recipe, estimate))
    return 0


def dry_run_text(recipe: Recipe, estimate: Estimate) -> str:
    """The recipe with the estimate in comments above it: still a recipe that can be saved and run."""
    from burnish.observe.text import duration  # noqa: PLC0415

    head = f"estimate: {size(estimate.memory_bytes)} of memory, {duration(estimate.seconds)}"
    comments = "".join(f"# {line}\n" for line in (head, *estimate.lines))
    return f"{comments}\n{to_toml(recipe)}"


def _saved_recipe(run_dir: Path) -> Path:
    from burnish.store import RunDir  # noqa: PLC0415

    return RunDir.open(run_dir).recipe


def _next_free(name: str) -> Path:
    """runs/NAME, or the first of runs/NAME-2, runs/NAME-3, ... that does not exist."""
    folder = RUNS / _folder_name(name)
    number, free = 1, folder
    while free.exists():
        number += 1
        free = folder.with_name(f"{folder.name}-{number}")
    return free


def _newest_run(recipe: Path | None, overrides: dict[str, str]) -> Path:
    """The last of the runs that this recipe has made under runs/."""
    if recipe is None:
        raise RunError(
            "which run?",
            expected="burnish train --resume DIR",
            next_step="`burnish runs` lists the runs",
        )
    name = _folder_name(load_recipe(recipe, overrides).name)
    numbered = re.compile(re.escape(name) + r"(?:-(\d+))?")
    found = [(int(m[1] or 1), p) for p in RUNS.glob("*") if (m := numbered.fullmatch(p.name))]
    if not found:
        raise RunError(
            f"there is no run of {name} to continue",
            got=f"no {RUNS / name}",
            next_step="leave --resume out to start one, or name its folder: --resume DIR",
        )
    return max(found)[1]


def _folder_name(name: str) -> str:
    """A name as a folder: one path component without surprises."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "run"
