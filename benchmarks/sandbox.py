"""Every promise of the sandbox: speed against bubblewrap, honest programs, leaks, sameness, attacks.

    python benchmarks/sandbox.py [--long] [--json] [--parts speed,honest,leaks,same,attacks]

Short by default (under 90 s); `--long` takes the counts that the promises name. Attacks are those of
`tests/attacks`, tried as the user who runs this and, for root, as an ordinary user too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from burnish.bench.sandbox_promises import Row, measure, table

TESTS = Path(__file__).resolve().parents[1] / "tests"
PARTS = ("speed", "honest", "leaks", "same", "attacks")
_HERE = "import json; from attacks.ordinary import try_all; print(json.dumps({'answers': try_all([])}))"


def attacks() -> list[Row]:
    """How many attacks got the answer they must get, for each kind of user."""
    commands = {"root" if os.geteuid() == 0 else "an ordinary user": ["-c", _HERE]}
    if os.geteuid() == 0:
        commands["an ordinary user"] = [str(TESTS / "attacks" / "ordinary.py")]
    return [_attacks_as(who, words) for who, words in commands.items()]


def _attacks_as(who: str, words: list[str]) -> Row:
    done = subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=TESTS,
        env={"PYTHONPATH": str(TESTS)},
    )
    answers: dict[str, str] = json.loads(done.stdout)["answers"] if done.returncode == 0 else {}
    right = sum(answer == "answered" for answer in answers.values())
    return Row(
        f"attacks answered, as {who}",
        "100 of 100",
        f"{right} of {len(answers)}",
        right == len(answers) == 100,
    )


def main() -> int:
    """Measure, print; the exit code is 1 when a row does not hold."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--parts", default="", help="some of " + ",".join(PARTS))
    options = parser.parse_args()
    parts = tuple(options.parts.split(",")) if options.parts else PARTS if options.long else PARTS[:-1]
    if unknown := set(parts) - set(PARTS):
        parser.error(f"unknown part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    report: dict[str, Any] = measure(
        long=options.long, parts=tuple(part for part in parts if part != "attacks") or ("",)
    )
    if "attacks" in parts:
        report["rows"] += [asdict(row) for row in attacks()]
    print(json.dumps(report, indent=2) if options.json else table(report["rows"]))
    return 0 if all(row["held"] for row in report["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
