"""What the sandbox promises, each beside what was measured: one table, and whether each row holds.

Timings need the whole machine; counts do not. `--long` takes the lengths and counts that the promises name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from burnish.bench.honest import run_corpus
from burnish.bench.leaks import distinct_results, left_behind
from burnish.bench.sandbox import bench_sandbox

SHORT_SECONDS, LONG_SECONDS = 9.0, 60.0
_SHORT = {"honest": 520, "leaks": 1000, "same": 200}
_LONG = {"honest": 10_000, "leaks": 10_000, "same": 1000}
_GROWTH_MB = 5.0


@dataclass(frozen=True, slots=True)
class Row:
    """One promise: what, how much it must be, what was measured."""

    what: str
    must: str
    measured: str
    held: bool


def measure(*, long: bool = False, seconds: float = 0.0, parts: tuple[str, ...] = ()) -> dict[str, Any]:
    """The measurements of the parts asked for, all when none is named, and the rows they make.

    Args:
        long: the full lengths and counts instead of those that fit into a minute and a half.
        seconds: length of the throughput measurement of each side; 0 takes the default.
        parts: of `speed`, `honest`, `leaks`, `same`.
    """
    counts = _LONG if long else _SHORT
    length = seconds or (LONG_SECONDS if long else SHORT_SECONDS)
    ways: dict[str, Callable[[], dict[str, Any]]] = {
        "speed": lambda: bench_sandbox(length),
        "honest": lambda: run_corpus(counts["honest"]),
        "leaks": lambda: left_behind(counts["leaks"]),
        "same": lambda: distinct_results(counts["same"]),
    }
    found: dict[str, Any] = {name: way() for name, way in ways.items() if not parts or name in parts}
    return found | {"rows": [asdict(row) for row in rows(found)]}


def rows(found: Mapping[str, Any]) -> list[Row]:
    """The table of what was measured."""
    makers = {"speed": _speed, "honest": _honest, "leaks": _leaks, "same": _same}
    return [row for name, make in makers.items() if name in found for row in make(found[name])]


def _speed(found: Mapping[str, Any]) -> list[Row]:
    rate = found["eight callers"]["burnish"]["per_second"]
    ratio = found["times a second, to"].get("bubblewrap")
    told = f"{rate:.0f}" + (f", {ratio:.1f} x bubblewrap" if ratio else ", no bubblewrap here")
    pair, rest = found["two callers"]["burnish"], found["at rest"]["burnish"]
    cases, hits = found["cases_per_second"], found["cache_hits_per_second"]
    return [
        Row(
            "runs/s, numpy warm, 8 callers", ">= 500 or >= 3 x bwrap", told, rate >= 500 or (ratio or 0) >= 3
        ),
        _latency("latency p50 / p99, 2 callers", pair, 3.5, 8),
        _latency("latency p50 / p99, parked", rest, 2, 4),
        Row("cases/s of one sample", ">= 700", f"{cases:.0f}", cases >= 700),
        Row("cache hits/s", ">= 50,000", f"{hits:,.0f}", hits >= 50_000),
    ]


def _latency(what: str, side: Mapping[str, float], p50: float, p99: float) -> Row:
    held = side["p50_ms"] <= p50 and side["p99_ms"] <= p99
    return Row(what, f"<= {p50} / {p99} ms", f"{side['p50_ms']:.2f} / {side['p99_ms']:.2f} ms", held)


def _honest(found: Mapping[str, Any]) -> list[Row]:
    wrong = found["false_failures"]
    what = f"false failures in {found['runs']:,} honest runs beside {found['hogs']} hogs"
    return [Row(what, "0", str(wrong), wrong == 0)]


def _leaks(found: Mapping[str, Any]) -> list[Row]:
    names = ("zombies", "processes", "mounts", "groups", "files", "descriptors")
    left = {name: found[name] for name in names if found[name] > 0}
    growth = found["supervisor_growth_mb"]
    return [
        Row(f"left after {found['runs']:,} runs", "nothing", str(left or "nothing"), not left),
        Row("growth of the supervisor", f"<= {_GROWTH_MB:g} MB", f"{growth:.1f} MB", growth <= _GROWTH_MB),
    ]


def _same(found: Mapping[str, Any]) -> list[Row]:
    what = f"distinct results of {found['runs']:,} equal runs"
    return [Row(what, "1", str(found["distinct"]), found["distinct"] == 1)]


def table(found_rows: list[dict[str, Any]]) -> str:
    """Rows as text."""
    lines = [("what", "must", "measured", "")]
    lines += [(r["what"], r["must"], r["measured"], "" if r["held"] else "NOT HELD") for r in found_rows]
    widths = [max(len(line[column]) for line in lines) for column in range(3)]
    cells = ([text.ljust(width) for text, width in zip(line, widths, strict=False)] for line in lines)
    return "\n".join("  ".join([*cell, line[3]]).rstrip() for cell, line in zip(cells, lines, strict=True))
