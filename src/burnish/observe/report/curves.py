"""Geometry of the training curves: small panels on one scale, as points that a polyline takes as they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.observe.report.source import Curves
from burnish.observe.text import number

WIDTH = 200
HEIGHT = 64
MAX_DOMAINS = 150
_BYTES = 700_000
_BYTES_A_POINT = 14

_ORDER = (
    "success", "reward", "loss", "zero_signal", "advantage_mass", "advantage_share", "length", "truncated",
    "entropy", "kl", "clipped", "ratio", "mismatch_k3", "grad_norm", "lr", "tokens_per_second", "seconds",
)  # fmt: skip
"""Metrics in the order a reader wants them; others follow by name."""

Curve = Sequence[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Panel:
    """One curve: `raw` as recorded and `smooth`, a trailing mean, as points of a polyline."""

    name: str
    raw: str
    smooth: str
    last: str
    """Where the smooth curve ends, in words."""


@dataclass(frozen=True, slots=True)
class CurveSet:
    """One metric of one stage, a panel a domain, all on the same scale."""

    key: str
    stage: str
    metric: str
    low: str
    high: str
    first_step: int
    last_step: int
    panels: tuple[Panel, ...]


def domain_curves(stages: Mapping[str, Curves], names: Mapping[str, str]) -> list[CurveSet]:
    """Every metric that is kept by domain; `names` maps a domain to what it is called in the report."""
    found = [
        (stage, metric, {d: curve for d, curve in by_domain.items() if d is not None})
        for stage, metrics in stages.items()
        for metric, by_domain in _ordered(metrics)
    ]
    found = [
        (stage, metric, dict(list(curves.items())[:MAX_DOMAINS])) for stage, metric, curves in found if curves
    ]
    points = _points_a_curve(sum(len(curves) for _, _, curves in found))
    sets = [_curve_set(stage, metric, curves, names, points) for stage, metric, curves in found]
    order = list(stages)
    # Reinforcement learning is what the page is about, so the stage that came last leads.
    return sorted((s for s in sets if s is not None), key=lambda s: -order.index(s.stage))


def run_curves(stages: Mapping[str, Curves]) -> list[CurveSet]:
    """Every metric of the whole run, each on its own scale."""
    sets = [
        _curve_set(stage, metric, {metric: by_domain[None]}, {metric: metric}, 120)
        for stage, metrics in stages.items()
        for metric, by_domain in _ordered(metrics)
        if None in by_domain
    ]
    return [s for s in sets if s is not None]


def _ordered(curves: Curves) -> list[tuple[str, Mapping[str | None, Curve]]]:
    return sorted(curves.items(), key=lambda item: (_place(_ORDER, item[0]), item[0]))


def _place(order: Sequence[str], name: str) -> int:
    return order.index(name) if name in order else len(order)


def _points_a_curve(curves: int) -> int:
    return max(12, min(120, _BYTES // (2 * _BYTES_A_POINT * max(curves, 1))))


def _curve_set(
    stage: str, metric: str, curves: Mapping[str, Curve], names: Mapping[str, str], points: int
) -> CurveSet | None:
    finite = {name: [(s, v) for s, v in curve if math.isfinite(v)] for name, curve in curves.items()}
    finite = {name: curve for name, curve in finite.items() if curve}
    if not finite:
        return None
    smooth = {name: _trailing_mean(curve) for name, curve in finite.items()}
    low, high = _scale([v for curve in finite.values() for _, v in curve])
    steps = [s for curve in finite.values() for s, _ in curve]
    box = _Box(min(steps), max(steps), low, high)
    panels = tuple(
        Panel(
            names.get(name, name),
            box.points(_thinned(curve, points)),
            box.points(_thinned(smooth[name], points)),
            number(smooth[name][-1][1]),
        )
        for name, curve in finite.items()
    )
    key = f"{stage}/{metric}"
    return CurveSet(key, stage, metric, number(low), number(high), box.first, box.last, panels)


@dataclass(frozen=True, slots=True)
class _Box:
    first: int
    last: int
    low: float
    high: float

    def points(self, curve: Curve) -> str:
        """`x,y x,y`: integers, because a fifth of a pixel is enough and bytes count."""
        across = max(self.last - self.first, 1)
        up = self.high - self.low
        return " ".join(
            f"{round(WIDTH * (step - self.first) / across)},{round(HEIGHT * (1 - (value - self.low) / up))}"
            for step, value in curve
        )


def _scale(values: Sequence[float]) -> tuple[float, float]:
    """From zero, unless that would squash the curve into a corner."""
    low, high = min(values), max(values)
    if low > 0 and low < 0.7 * high:
        low = 0.0
    if high == low:
        return (low - 1.0, high + 1.0) if low else (0.0, 1.0)
    return low, high


def _trailing_mean(curve: Curve) -> list[tuple[int, float]]:
    """Mean of the last tenth of the curve at each point, of one value at least."""
    window = max(1, len(curve) // 10)
    values = [value for _, value in curve]
    means = (
        math.fsum(part) / len(part)
        for n in range(len(curve))
        if (part := values[max(0, n + 1 - window) : n + 1])
    )
    return [(step, mean) for (step, _), mean in zip(curve, means, strict=True)]


def _thinned(curve: Curve, most: int) -> Curve:
    """At most `most` points, evenly chosen, the first and the last among them."""
    if len(curve) <= most:
        return curve
    return [curve[round(n * (len(curve) - 1) / (most - 1))] for n in range(most)]
