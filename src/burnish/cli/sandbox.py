"""`burnish sandbox run | selftest | bench | doctor`: untrusted code, and what holds it here."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from burnish.cli.arguments import Json
from burnish.cli.output import print_json
from burnish.sandbox.records import Case, Limits, Policy, RunRequest, SandboxError

if TYPE_CHECKING:
    from burnish.sandbox.records import CaseResult, RunResult

app = App(name="sandbox", help="Run untrusted code, and test the wall around it.", sort_key=10)
app.command("burnish.cli.sandbox_serve:serve", name="serve", help="Answer requests over HTTP.")
app.command("burnish.cli.sandbox_conform:conform", name="conform", help="Try all engines by the same rules.")
_PARTS = ("speed", "honest", "leaks", "same")
_SUFFIXES = {
    ".py": "python",
    ".sh": "shell",
    ".bash": "shell",
    ".js": "javascript",
    ".cjs": "javascript",
    ".c": "c",
    ".cpp": "cpp",
    ".cc": "cpp",
    ".cxx": "cpp",
    ".sql": "sql",
}

Profile = Annotated[str, Parameter(help="Warmed packages: bare, numpy, or import names separated by commas.")]


@app.command
def run(
    file: Annotated[
        Path, Parameter(help="The program; - reads it from standard input.", allow_leading_hyphen=True)
    ],
    *,
    stdin: Annotated[Path | None, Parameter(help="File given to the program as its standard input.")] = None,
    language: Annotated[str, Parameter(help="Its language; by its suffix when left out.")] = "",
    profile: Profile = "bare",
    cpu: Annotated[float, Parameter(help="CPU seconds.")] = 5.0,
    wall: Annotated[float, Parameter(help="Seconds.")] = 15.0,
    memory: Annotated[int, Parameter(help="Memory in MiB.")] = 256,
    processes: Annotated[int, Parameter(help="Processes it may start.")] = 0,
    json: Json = False,
) -> int:
    """Run one program; prints what it printed. Exit code 0 when it ended well, 1 when not."""
    code = sys.stdin.buffer.read() if str(file) == "-" else _read(file)
    given = _read(stdin) if stdin else b""
    limits = Limits(cpu_seconds=cpu, wall_seconds=wall, memory_bytes=memory << 20, processes=processes)
    kind = language or _SUFFIXES.get(file.suffix, "python")
    request = RunRequest(code, language=kind, cases=(Case(given),), limits=limits)
    from burnish.sandbox.client import Sandbox  # noqa: PLC0415 - starts with what it needs

    with Sandbox(Policy(profile=_profile(profile), workers=1)) as sandbox:
        result = sandbox.run(request)
    return _show_json(result) if json else _show(result.cases[0], result.detail)


@app.command
def selftest(*, json: Json = False) -> int:
    """Try to break out in the ways that matter most; exit code 1 when one succeeds."""
    from burnish.sandbox.selftest import run_selftest  # noqa: PLC0415

    checks = run_selftest()
    if json:
        print_json([asdict(check) for check in checks])
    else:
        for check in checks:
            print(
                f"{'ok  ' if check.held else 'FAIL'} {check.name}{'' if check.held else f': {check.found}'}"
            )
    return 0 if all(check.held for check in checks) else 1


@app.command
def bench(
    *,
    seconds: Annotated[float, Parameter(help="Length of the measurement of runs a second.")] = 0.0,
    long: Annotated[
        bool, Parameter(help="The lengths and counts that the promises name; 15 minutes.")
    ] = False,
    parts: Annotated[str, Parameter(help="Some of speed,honest,leaks,same; all when left out.")] = "",
    json: Json = False,
) -> int:
    """What the sandbox promises beside what it does here; exit code 1 when a row does not hold."""
    if seconds and not 0.2 <= seconds <= 600:
        raise SandboxError("--seconds is out of range", got=seconds, expected="a number in [0.2, 600]")
    wanted = tuple(part for part in parts.split(",") if part)
    for part in wanted:
        if part not in _PARTS:
            raise SandboxError("unknown --parts", got=part, expected=", ".join(_PARTS))
    from burnish.bench import sandbox as speed  # noqa: PLC0415
    from burnish.bench.sandbox_promises import measure, table  # noqa: PLC0415

    report = measure(long=long, seconds=seconds, parts=wanted)
    if json:
        print_json(report)
    else:
        if "speed" in report:
            print(speed.table(report["speed"]) + "\n")
        print(table(report["rows"]))
    return 0 if all(row["held"] for row in report["rows"]) else 1


@app.command
def doctor(*, json: Json = False) -> int:
    """What this machine offers for a wall, and what is missing; exit code 1 below tier T2."""
    from burnish.sandbox.doctor import examine  # noqa: PLC0415

    report = examine()
    if json:
        print_json(asdict(report))
    else:
        print("\n".join(report.lines()))
    return 0 if report.tier == "T2" else 1


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SandboxError(f"cannot read {path}", got=error.strerror, expected="a file") from None


def _profile(text: str) -> str | tuple[str, ...]:
    return text if text in ("bare", "numpy") else tuple(part.strip() for part in text.split(","))


def _show_json(result: RunResult) -> int:
    document: dict[str, Any] = {
        "state": result.state,
        "tier": result.tier.name,
        "digest": result.digest,
        "detail": result.detail,
        "cases": [_case_document(case) for case in result.cases],
    }
    print_json(document)
    return 0 if result.state == "ok" else 1


def _case_document(case: CaseResult) -> dict[str, Any]:
    texts = {name: getattr(case, name).decode(errors="replace") for name in ("stdout", "stderr")}
    return asdict(case) | texts


def _show(case: CaseResult, detail: str) -> int:
    sys.stdout.buffer.write(case.stdout)
    sys.stdout.flush()
    sys.stderr.buffer.write(case.stderr)
    if case.state == "ok":
        return 0
    how = f"signal {case.signal}" if case.signal else f"exit code {case.exit_code}"
    print(f"sandbox: {case.state} ({how}, {case.cpu_seconds:.2f} s CPU) {detail}".rstrip(), file=sys.stderr)
    return 1
