"""The smaller parts of the report: mixture, time, what broke, recipe and machine."""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.observe.report.source import EventLike, ReportSource
from burnish.observe.summary import Summary
from burnish.observe.text import duration

_EVENTS = 200
_RECIPE_CHARACTERS = 100_000
_KEY_PACKAGES = ("burnish", "torch", "transformers", "peft", "reasoning-gym", "math-verify", "numpy")


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole, with its length as a percentage."""

    name: str
    amount: str
    percent: float


@dataclass(frozen=True, slots=True)
class StageRow:
    """What one stage cost."""

    name: str
    seconds: str
    percent: float
    tasks: str
    tokens_generated: str
    tokens_trained: str
    pace: str


@dataclass(frozen=True, slots=True)
class EventRow:
    """Something that happened."""

    time: str
    stage: str
    step: int
    level: str
    kind: str
    domain: str
    message: str


def mixture(source: ReportSource, names: Mapping[str, str]) -> dict[str, list[Share]]:
    """Share of groups drawn from each domain, for every stage that trained on samples."""
    trained = set(source.metric_stages())
    drawn = {stage: source.groups_drawn(stage) for stage in source.sample_stages() if stage in trained}
    return {
        stage: _shares({names.get(d, d): n for d, n in counts.items()})
        for stage, counts in drawn.items()
        if counts
    }


def _shares(counts: Mapping[str, int]) -> list[Share]:
    whole, most = sum(counts.values()), max(counts.values())
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [Share(name, f"{n:,} ({100 * n / whole:.1f}%)", 100 * n / most) for name, n in ordered]


def stage_rows(source: ReportSource, summary: Summary) -> list[StageRow]:
    """Time and tokens of each stage, from the database or else from the summary."""
    costs = [(s.name, s.seconds, s.tasks, s.tokens_generated, s.tokens_trained) for s in source.stages()]
    if not costs:
        tokens = summary.tokens
        costs = [(name, s, 0, 0, int(tokens.get(name, 0))) for name, s in summary.seconds.items()]
    longest = max((seconds for _, seconds, *_ in costs), default=0.0) or 1.0
    return [
        StageRow(
            name,
            duration(seconds),
            100 * seconds / longest,
            _count(tasks),
            _count(generated),
            _count(trained),
            f"{(generated + trained) / seconds:,.0f}" if seconds > 0 and generated + trained else "-",
        )
        for name, seconds, tasks, generated, trained in costs
    ]


def event_rows(source: ReportSource, names: Mapping[str, str]) -> tuple[list[EventRow], int]:
    """Errors and warnings first to be kept, in order of time; and how many events were left out."""
    events = list(source.events())
    serious = [n for n, event in enumerate(events) if event.level != "info"][-_EVENTS:]
    others = [n for n, event in enumerate(events) if event.level == "info"]
    room = _EVENTS - len(serious)
    kept = sorted(serious + others[len(others) - min(room, len(others)) :])
    return [_event_row(events[n], names) for n in kept], len(events) - len(kept)


def _event_row(event: EventLike, names: Mapping[str, str]) -> EventRow:
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(event.time))
    domain = names.get(event.domain, event.domain) if event.domain else ""
    return EventRow(at, event.stage, event.step, event.level, event.kind, domain, event.message[:2000])


def verdict_rows(source: ReportSource, names: Mapping[str, str]) -> list[tuple[str, str, int, int, int]]:
    """(stage, domain, scored, abstained, faulted) where some sample was not scored."""
    rows = [
        (stage, names.get(d, d), kinds.get("scored", 0), kinds.get("abstained", 0), kinds.get("faulted", 0))
        for stage in source.sample_stages()
        for d, kinds in source.verdict_counts(stage).items()
    ]
    return [row for row in rows if row[3] or row[4]]


def read_object(path: Path, notes: list[str]) -> dict[str, Any]:
    """The object in a JSON file; empty, with a note, when it is missing or damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        notes.append(f"{path.name} is missing: the run has not got that far.")
        return {}
    except (OSError, ValueError) as error:
        notes.append(f"{path.name} cannot be read: {error}")
        return {}
    return value if isinstance(value, dict) else {}


def read_recipe(path: Path) -> tuple[str, dict[str, Any]]:
    """The resolved recipe as text and as data; empty when it is missing or damaged."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        return text[:_RECIPE_CHARACTERS], tomllib.loads(text)
    except (OSError, tomllib.TOMLDecodeError):
        return "", {}


def run_facts(
    status: Mapping[str, Any], recipe: Mapping[str, Any], machine: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """What a reader wants to know first: model, stages, when, for how long, on what."""
    model = recipe.get("model")
    cpu = machine.get("cpu")
    facts = [
        ("model", model.get("name") if isinstance(model, Mapping) else None),
        (
            "stages",
            ", ".join(map(str, stages)) if isinstance(stages := recipe.get("stages"), Sequence) else None,
        ),
        ("seed", recipe.get("seed")),
        ("started", _clock_time(status.get("started"))),
        ("took", _time_taken(status)),
        ("machine", f"{cpu.get('model')}, {cpu.get('cores')} cores" if isinstance(cpu, Mapping) else None),
    ]
    return [(name, str(value)) for name, value in facts if value not in (None, "")]


def machine_facts(machine: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Versions and machine as rows; key packages only."""
    packages = machine.get("packages")
    packages = packages if isinstance(packages, Mapping) else {}
    memory = machine.get("memory_bytes")
    rows = [
        ("python", machine.get("python")),
        ("platform", machine.get("platform")),
        ("memory", f"{memory / 1e9:.1f} GB" if isinstance(memory, int | float) else None),
        ("threads", machine.get("threads")),
        ("commit", _commit(machine.get("git"))),
        *((name, packages.get(name)) for name in _KEY_PACKAGES),
    ]  # fmt: skip
    return [(name, str(value)) for name, value in rows if value is not None]


def _count(n: int) -> str:
    return f"{n:,}" if n else "-"


def _clock_time(seconds: object) -> str | None:
    return (
        time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds)) if isinstance(seconds, int | float) else None
    )


def _time_taken(status: Mapping[str, Any]) -> str | None:
    started, updated = status.get("started"), status.get("updated")
    if not isinstance(started, int | float) or not isinstance(updated, int | float):
        return None
    return duration(updated - started)


def _commit(git: object) -> str | None:
    if not isinstance(git, Mapping):
        return None
    return f"{git.get('commit')}{' (modified)' if git.get('modified') else ''}"
