from __future__ import annotations

import math

import pytest

from burnish.observe.report.curves import HEIGHT, WIDTH, domain_curves, run_curves
from burnish.observe.report.intervals import PLOT_LEFT, PLOT_RIGHT, interval_chart
from burnish.observe.report.samples import describe, shortened
from burnish.observe.summary import Summary
from burnish.records import Abstained, Boundary, Faulted, Scored


def _points(text: str) -> list[tuple[int, int]]:
    return [(int(x), int(y)) for x, y in (pair.split(",") for pair in text.split())]


def test_a_curve_goes_from_corner_to_corner_of_its_panel() -> None:
    (curves,) = run_curves({"rl": {"success": {None: [(1, 0.0), (2, 0.25), (5, 1.0)]}}})
    assert _points(curves.panels[0].raw) == [(0, HEIGHT), (WIDTH // 4, HEIGHT * 3 // 4), (WIDTH, 0)]
    assert (curves.low, curves.high, curves.first_step, curves.last_step) == ("0", "1", 1, 5)


def test_panels_of_a_metric_share_one_scale() -> None:
    metrics = {"rl": {"success": {"a": [(1, 0.0), (2, 1.0)], "b": [(1, 0.5), (2, 0.5)], None: [(1, 9.0)]}}}
    (curves,) = domain_curves(metrics, {"a": "short a"})
    assert [panel.name for panel in curves.panels] == ["short a", "b"]
    assert _points(curves.panels[1].raw) == [(0, HEIGHT // 2), (WIDTH, HEIGHT // 2)]


def test_the_smooth_curve_is_a_trailing_mean_of_a_tenth() -> None:
    values = [(step, float(step % 2)) for step in range(20)]
    (curves,) = run_curves({"rl": {"x": {None: values}}})
    assert curves.panels[0].last == "0.5"
    assert {y for _, y in _points(curves.panels[0].smooth)[1:]} == {HEIGHT // 2}


@pytest.mark.parametrize(
    "curve", [[(3, 0.7)], [(1, 0.0), (2, 0.0)], [(1, -2.0), (2, -2.0)], [(1, math.nan), (2, 0.1)]]
)
def test_short_flat_and_broken_curves_stay_in_their_panel(curve: list[tuple[int, float]]) -> None:
    (curves,) = run_curves({"rl": {"x": {None: curve}}})
    for x, y in _points(curves.panels[0].raw):
        assert 0 <= x <= WIDTH
        assert 0 <= y <= HEIGHT


def test_a_metric_that_never_was_a_number_is_left_out() -> None:
    assert run_curves({"rl": {"x": {None: [(1, math.nan), (2, math.inf)]}}}) == []


def test_long_curves_of_many_domains_are_thinned_but_keep_their_ends() -> None:
    curve = [(step, step / 5000) for step in range(5001)]
    sets = domain_curves({"rl": {"a": {f"d{n}": curve for n in range(400)}}}, {})
    assert len(sets[0].panels) == 150
    points = _points(sets[0].panels[0].raw)
    assert 12 <= len(points) <= 120
    assert (points[0], points[-1]) == ((0, HEIGHT), (WIDTH, 0))


def test_the_last_stage_leads_and_known_metrics_come_in_a_fixed_order() -> None:
    curve = {"d": [(1, 0.5)]}
    metrics = {"sft": {"loss": curve}, "rl": {"zeta": curve, "kl": curve, "success": curve}}
    assert [s.key for s in domain_curves(metrics, {})] == ["rl/success", "rl/kl", "rl/zeta", "sft/loss"]


def test_interval_chart_scales_to_the_highest_bound(finished) -> None:
    chart = interval_chart(Summary(finished), "greedy")
    assert [row.label for row in chart.rows] == ["macro average", "gcd", "sum", "maze"]
    assert [row.kind for row in chart.rows] == ["macro", "trained", "trained", "held_out"]
    assert [row.worse for row in chart.rows] == [False, True, False, False]
    assert chart.ticks[0] == (PLOT_LEFT, "0%")
    assert chart.ticks[-1] == (PLOT_RIGHT, "60%")
    best = chart.rows[2].marks[2]
    assert best.x == pytest.approx(PLOT_LEFT + (PLOT_RIGHT - PLOT_LEFT) * 0.5 / 0.6, abs=0.1)
    assert best.low < best.x < best.high


def test_verdicts_in_words() -> None:
    assert describe(Scored(0.5, True, {"format": 1.0})) == ("passed", "reward 0.5, format 1")
    assert describe(Scored(0.0, False))[0] == "failed"
    assert describe(Abstained("no key"))[0] == "abstained"
    assert describe(Faulted(Boundary.JUDGE, "timed out")) == ("faulted", "judge broke: timed out")
    assert describe(None)[0] == "ungraded"


def test_long_text_keeps_its_beginning_and_end() -> None:
    text = "a" * 1000 + "b" * 1000
    short = shortened(text, 300)
    assert short == "a" * 200 + "\n[... 1,700 characters ...]\n" + "b" * 100
    assert shortened(text, 2000) == text
