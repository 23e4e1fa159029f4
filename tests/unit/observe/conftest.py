"""A clock that a test moves, and the summary of a small finished run."""

from __future__ import annotations

from typing import Any

import pytest


class FakeClock:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def _figure(value: float, margin: float = 0.05) -> dict[str, float]:
    return {"value": value, "low": value - margin, "high": value + margin}


def _part(macro: float, domains: dict[str, float], tasks: bool = True) -> dict[str, Any]:
    extra = {"tasks": 64} if tasks else {}
    return {
        "macro": _figure(macro, 0.03),
        "domains": {
            name: {**_figure(value), **extra, **({"held_out": name.endswith("maze")} if tasks else {})}
            for name, value in domains.items()
        },
    }


@pytest.fixture
def finished() -> dict[str, Any]:
    """Two trained domains and a held-out one; `gcd` ends significantly worse, greedy."""
    sum_, gcd, maze = "toy/arithmetic/sum", "toy/arithmetic/gcd", "toy/games/maze"
    return {
        "evaluations": [
            {"name": "before", "sampled": _part(0.1, {sum_: 0.1, gcd: 0.1, maze: 0.05}),
             "greedy": _part(0.2, {sum_: 0.2, gcd: 0.2, maze: 0.05})},
            {"name": "sft", "sampled": _part(0.2, {sum_: 0.2, gcd: 0.2, maze: 0.05}),
             "greedy": _part(0.3, {sum_: 0.3, gcd: 0.3, maze: 0.05})},
            {"name": "rl", "sampled": _part(0.3, {sum_: 0.4, gcd: 0.2, maze: 0.06}),
             "greedy": _part(0.29, {sum_: 0.5, gcd: 0.1, maze: 0.05})},
        ],
        "differences": [
            {"from": "before", "to": "sft", "sampled": _part(0.1, {sum_: 0.1, gcd: 0.1, maze: 0.0}, False),
             "greedy": _part(0.1, {sum_: 0.1, gcd: 0.1, maze: 0.0}, False)},
            {"from": "before", "to": "rl", "sampled": _part(0.2, {sum_: 0.3, gcd: 0.1, maze: 0.01}, False),
             "greedy": _part(0.09, {sum_: 0.3, gcd: -0.04, maze: 0.0}, False)},
            {"from": "sft", "to": "rl", "sampled": _part(0.1, {sum_: 0.2, gcd: 0.0, maze: 0.01}, False),
             "greedy": _part(-0.01, {sum_: 0.2, gcd: -0.2, maze: 0.0}, False)},
        ],
        "seconds": {"before": 60.0, "sft": 200.0, "rl": 600.0},
        "tokens": {"sft": 50_000, "rl": {"generated": 90_000, "trained": 80_000}},
    }  # fmt: skip
