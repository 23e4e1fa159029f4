"""`burnish sandbox conform`: the same trials on every engine, and what holds on each."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from burnish.cli.arguments import Json
from burnish.cli.output import print_json
from burnish.sandbox.records import Policy, SandboxError


def conform(
    *engines: Annotated[str, Parameter(help="native, bwrap, nsjail, runsc, or the address of a service.")],
    json: Json = False,
) -> int:
    """Try answers, states and walls on engines; all that are installed when none is named.

    Exit code 1 when something does not hold.
    """
    from burnish.sandbox.engines import ENGINES  # noqa: PLC0415 - starts with what it needs

    tables = {name: held for name in engines or ENGINES if (held := _table(name, asked=bool(engines)))}
    if json:
        print_json(tables)
    else:
        print("\n".join(_lines(tables)))
    return 0 if all(seen == "" for held in tables.values() for seen in held.values()) else 1


def _table(name: str, *, asked: bool) -> dict[str, str]:
    """What was seen in each trial, empty where it held; an empty table for what is not installed."""
    from burnish.sandbox.engines import open_engine  # noqa: PLC0415
    from burnish.sandbox.engines.conformance import conformance  # noqa: PLC0415

    try:
        engine = open_engine(Policy(engine=name))
    except SandboxError:
        if asked:
            raise
        return {}
    try:
        return {finding.name: finding.seen for finding in conformance(engine)}
    finally:
        engine.close()


def _lines(tables: dict[str, dict[str, str]]) -> list[str]:
    trials = list(dict.fromkeys(name for held in tables.values() for name in held))
    width = max(map(len, trials), default=0)
    lines = [" " * width + "".join(f"  {name}" for name in tables)]
    for trial in trials:
        marks = (("ok" if held[trial] == "" else "FAIL").ljust(len(name)) for name, held in tables.items())
        lines.append(trial.ljust(width) + "".join(f"  {mark}" for mark in marks))
    failed = [f"{n}, {t}: {seen}" for n, held in tables.items() for t, seen in held.items() if seen]
    return [*lines, *failed]
