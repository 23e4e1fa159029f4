"""`burnish runs`, `burnish report` and `burnish export`: what has been run, and what came of it."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from burnish.cli.arguments import Json
from burnish.cli.output import make_console, print_json

if TYPE_CHECKING:
    from burnish.store import RunInfo
    from burnish.store.check import Finding

EXIT_VIOLATED = 1
"""Exit code of `runs check` when an invariant does not hold."""

Root = Annotated[Path, Parameter(help="Folder of run folders, or one run.")]
Run = Annotated[Path, Parameter(help="A run's folder.")]

app = App(name="runs", sort_key=6, help="Runs under a folder: list (also without a word), show, check.")


@app.default
@app.command(name="list")
def list_runs(root: Root = Path("runs"), /, *, json: Json = False) -> int:
    """Runs under a folder, newest first, with their state and accuracy."""
    from burnish.store import list_runs as runs_in  # noqa: PLC0415

    found = runs_in(root)
    if json:
        print_json([asdict(run) for run in found])
        return 0
    if not found:
        print(f"no runs in {root}; `burnish train RECIPE` makes one")
        return 0
    columns = ["run", "state", "stage", "step", "accuracy", "started"]
    make_console().table(columns, [_row(run) for run in found])
    return 0


def _row(run: RunInfo) -> list[str]:
    from burnish.observe.text import percent  # noqa: PLC0415

    started = "-" if run.started is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(run.started))
    return [str(run.path), run.state, run.stage or "-", str(run.step), percent(run.macro), started]


@app.command
def show(run: Run, /, *, json: Json = False) -> int:
    """One run: its state, its results, and where its files are."""
    from burnish.observe import print_summary  # noqa: PLC0415
    from burnish.store import RunDir, effective_state, read_json  # noqa: PLC0415

    opened = RunDir.open(run)
    status = opened.read_status()
    state = effective_state(status)
    summary = read_json(opened.summary) if opened.summary.is_file() else None
    places = {
        name: path
        for name, path in (
            ("recipe", opened.recipe),
            ("report", opened.report),
            ("samples", opened.database),
            ("models", opened.checkpoints),
        )
        if path.exists()
    }
    if json:
        print_json({"state": state, "status": asdict(status), "summary": summary, "places": places})
        return 0
    console = make_console()
    console.say(f"{opened.path}: {state}, stage {status.stage}, step {status.step}")
    print_summary(console, summary or {}, places)
    return 0


@app.command
def check(run: Run, /, *, json: Json = False) -> int:
    """Prove from a run's files that no group was lost, trained on twice or too old, and no step skipped.

    Only reads, so the run may go on meanwhile. Exit code 1 when something is violated or cannot be proved.
    """
    from burnish.store.check import check_run  # noqa: PLC0415

    found = check_run(run)
    holds = all(f.holds for f in found)
    if json:
        print_json({"run": str(run), "holds": holds, "invariants": [asdict(f) for f in found]})
    else:
        for f in found:
            print(_line(f))
        print(f"{run}: {'every invariant holds' if holds else 'NOT PROVED, see above'}")
    return 0 if holds else EXIT_VIOLATED


def _line(found: Finding) -> str:
    head = f"{found.status:<8}  {found.name:<12}  {found.checked:>6} checked  "
    if found.status in ("ok", "warning"):
        return head + "; ".join((found.statement, *found.examples))
    unseen = found.violations - len(found.examples)
    return head + "; ".join(found.examples) + (f" (and {unseen} more)" if unseen > 0 else "")


def report(run: Run, /) -> int:
    """Write a run's report again: one self-contained HTML file."""
    from burnish.observe.report import build_report  # noqa: PLC0415
    from burnish.store import RunDir, RunStore  # noqa: PLC0415

    opened = RunDir.open(run)
    with RunStore.open(opened.database) as store:
        print(build_report(opened.path, store))
    return 0


def export(
    run: Run,
    dest: Annotated[Path, Parameter(help="New folder for the model.")],
    /,
    *,
    stage: Annotated[
        str | None, Parameter(help="Model after this stage (sft or rl); the last one when not given.")
    ] = None,
) -> int:
    """Copy a run's model out: safetensors with tokenizer, loadable by plain transformers."""
    from burnish import pipeline  # noqa: PLC0415 - loads torch

    print(pipeline.export(run, dest, stage=stage))
    return 0
