"""Builds `report.html` from a run directory and its database.

The page works from a `file://` address and loads nothing. Everything that comes from outside (models,
recipes, errors) reaches it as text through a template that escapes, and a content security policy admits
only the page's own script, by its hash.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burnish.errors import RunError
from burnish.observe.report.curves import HEIGHT, MAX_DOMAINS, WIDTH, CurveSet, domain_curves, run_curves
from burnish.observe.report.facts import (
    event_rows,
    machine_facts,
    mixture,
    read_object,
    read_recipe,
    run_facts,
    stage_rows,
    verdict_rows,
)
from burnish.observe.report.intervals import PLOT_LEFT, PLOT_RIGHT, interval_chart
from burnish.observe.report.intervals import WIDTH as CHART_WIDTH
from burnish.observe.report.samples import chosen_samples
from burnish.observe.report.source import Curves, ReportSource
from burnish.observe.summary import Interval, Mode, Summary, abbreviation, label, short_names
from burnish.observe.text import percent, points
from burnish.observe.words import headline, losses

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES = Path(__file__).parent / "templates"


def build_report(run_dir: Path, source: ReportSource) -> Path:
    """Write `report.html` into the run directory and return its path.

    Args:
        run_dir: holds summary.json, recipe.toml, environment.json and status.json; any may be missing.
        source: the run's database.

    Raises:
        RunError: the file cannot be written.
        StoreError: the database cannot be read.
    """
    run_dir = Path(run_dir)
    page = _environment().get_template("report.html.j2").render(report_data(run_dir, source))
    path = run_dir / "report.html"
    _write(path, page)
    return path


def report_data(run_dir: Path, source: ReportSource) -> dict[str, Any]:
    """Everything the template shows, as plain text, numbers and records."""
    notes: list[str] = []
    summary = Summary(read_object(run_dir / "summary.json", notes))
    status = read_object(run_dir / "status.json", notes)
    machine = read_object(run_dir / "environment.json", notes)
    recipe_text, recipe = read_recipe(run_dir / "recipe.toml")
    metrics = {stage: source.curves(stage) for stage in source.metric_stages()}
    names = short_names(_all_domains(summary, source, metrics))
    curves = domain_curves(metrics, names)
    samples, samples_left_out = chosen_samples(source, names)
    events, events_left_out = event_rows(source, names)
    script = (_TEMPLATES / "report.js").read_text(encoding="utf-8")
    return {
        "name": recipe.get("name") or run_dir.resolve().name,
        "state": status.get("state", "unknown"),
        "notes": notes,
        "facts": run_facts(status, recipe, machine),
        "headlines": [(mode, _tiles(summary, mode), headline(summary, mode)) for mode in summary.modes],
        "losses": losses(summary),
        "has_losses": bool(summary.losses),
        "modes": [_mode_data(summary, mode, names) for mode in summary.modes],
        "curves": curves,
        "curve_data": {s.key: _curve_data(s) for s in curves},
        "curve_box": (WIDTH, HEIGHT),
        "curve_domains": MAX_DOMAINS,
        "run_curves": run_curves(metrics),
        "mixture": mixture(source, names),
        "stages": stage_rows(source, summary),
        "events": events,
        "events_left_out": events_left_out,
        "verdicts": verdict_rows(source, names),
        "samples": samples,
        "samples_left_out": samples_left_out,
        "sample_stages": list(source.sample_stages()),
        "recipe": recipe_text,
        "machine": machine_facts(machine),
        "chart": {"width": CHART_WIDTH, "left": PLOT_LEFT, "right": PLOT_RIGHT},
        "style": (_TEMPLATES / "report.css").read_text(encoding="utf-8"),
        "script": script,
        "script_hash": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }


def _all_domains(summary: Summary, source: ReportSource, metrics: Mapping[str, Curves]) -> list[str]:
    by_metric = (by_domain for curves in metrics.values() for by_domain in curves.values())
    with_metrics = {domain for by_domain in by_metric for domain in by_domain if domain is not None}
    return sorted({*summary.domains, *source.domains(), *with_metrics})


def _tiles(summary: Summary, mode: Mode) -> list[dict[str, str]]:
    figures = [(name, summary.accuracy(name, mode)) for name in summary.names]
    return [
        {"label": label(name), "value": percent(f.value), "range": _range(f)}
        for name, f in figures
        if f is not None
    ]


def _mode_data(summary: Summary, mode: Mode, names: Mapping[str, str]) -> dict[str, Any]:
    rows = [_table_row(summary, mode, d, names[d]) for d in summary.domains]
    return {
        "mode": mode,
        "chart": interval_chart(summary, mode),
        "columns": [abbreviation(name) for name in summary.names],
        "pairs": [pair.label for pair in summary.pairs],
        "macro": _table_row(summary, mode, None, "macro average"),
        "rows": rows,
    }


def _table_row(summary: Summary, mode: Mode, domain: str | None, name: str) -> dict[str, Any]:
    accuracies = [summary.accuracy(evaluation, mode, domain) for evaluation in summary.names]
    differences = [summary.difference(pair, mode, domain) for pair in summary.pairs]
    return {
        "name": name,
        "full_name": domain or "",
        "held_out": domain is not None and summary.is_held_out(domain),
        "tasks": None if domain is None else summary.tasks(domain),
        "accuracies": [("-", "") if f is None else (percent(f.value), _range(f)) for f in accuracies],
        "differences": [_difference_cell(d) for d in differences],
    }


def _difference_cell(difference: Interval | None) -> dict[str, str]:
    if difference is None:
        return {"value": "-", "range": "", "judgement": ""}
    judgement = "better" if difference.is_gain else "worse" if difference.is_loss else ""
    bounds = "" if difference.low is None else f"{points(difference.low)} to {points(difference.high)}"
    return {"value": points(difference.value), "range": bounds, "judgement": judgement}


def _range(figure: Interval) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f"{percent(figure.low)} to {percent(figure.high)}"


def _curve_data(curves: CurveSet) -> dict[str, Any]:
    """What the page's script needs to show another metric in the same panels."""
    return {
        "low": curves.low,
        "high": curves.high,
        "steps": [curves.first_step, curves.last_step],
        "panels": {p.name: [p.raw, p.smooth, p.last] for p in curves.panels},
    }


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - only a report needs it

    return Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _write(path: Path, page: str) -> None:
    aside = path.with_name(f".{path.name}.{os.getpid()}.aside")
    try:
        aside.write_text(page, encoding="utf-8", errors="replace")
        aside.replace(path)
    except OSError as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise RunError(
            f"cannot write {path}",
            got=error.strerror or str(error),
            next_step="free some space or mend the folder's permissions, then run `burnish report` again",
        ) from error
