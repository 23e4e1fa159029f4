"""All commands under one name."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from cyclopts import App, Parameter

from burnish.cli import algorithms, bench, doctor, domains, init, measure, runs

_HELP = """Post-train language models with reinforcement learning, jointly over many domains.

Start with `burnish doctor`, then `burnish train RECIPE`.
"""


def _version() -> str:
    try:
        return version("burnish")
    except PackageNotFoundError:
        return "unknown (not installed)"


app = App(
    name="burnish",
    help=_HELP,
    version=_version,
    help_format="plaintext",
    default_parameter=Parameter(negative=(), show_default=False),
    suppress_keyboard_interrupt=False,
)
# Loaded when used: its help spells out every key of a recipe, which takes longer than all the rest.
app.command("burnish.cli.train:app", name="train", help="Run a recipe, or continue a run.", sort_key=1)
app.command(measure.evaluate, name="eval", sort_key=2)
app.command(measure.compare, sort_key=3)
app.command(measure.probe, sort_key=4)
app.command(domains.app)
app.command(algorithms.algorithms, sort_key=5)
app.command(runs.app)
app.command(runs.report, sort_key=7)
app.command(runs.export, sort_key=8)
app.command(doctor.doctor, sort_key=9)
app.command(bench.app)
app.command(init.app)
app.command("burnish.cli.sandbox:app", name="sandbox", help="Run untrusted code in a sandbox.", sort_key=10)
