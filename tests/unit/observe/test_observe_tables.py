from __future__ import annotations

import io
from typing import Any

import pytest

from burnish.observe import Console, print_summary
from burnish.observe.summary import Interval, Pair, Summary, short_names
from burnish.observe.tables import accuracy_rows, difference_cell
from burnish.observe.words import headline, losses


def _printed(data: dict[str, Any], **places: str) -> str:
    out = io.StringIO()
    print_summary(Console(stdout=out), data, places)
    return out.getvalue()


def test_rows_hold_every_stage_and_both_differences(finished) -> None:
    columns, rows = accuracy_rows(Summary(finished), "sampled")
    assert columns == ["domain", "before", "after SFT", "after RL", "RL - SFT [95%]", "RL - before [95%]"]
    assert [row[0] for row in rows] == ["gcd", "sum", "maze (held out)", "macro average", "held-out mean"]
    assert rows[1] == ["sum", "10.0%", "20.0%", "40.0%", "+20.0 [+15.0, +25.0]", "+30.0 [+25.0, +35.0]"]
    assert rows[3][1:4] == ["10.0%", "20.0%", "30.0%"]
    assert rows[4] == ["held-out mean", "5.0%", "5.0%", "6.0%", "", ""]


def test_a_significant_loss_is_named_in_words(finished) -> None:
    (sentence,) = losses(Summary(finished))
    assert sentence == (
        "Significantly worse after RL than after SFT: gcd, greedy, "
        "-20.0 points (95% interval -25.0 to -15.0)."
    )
    assert "worse -20.0 [-25.0, -15.0]" in accuracy_rows(Summary(finished), "greedy")[1][0]


def test_no_loss_is_said_too(finished) -> None:
    del finished["differences"][2]
    assert losses(Summary(finished)) == ["No domain ended significantly worse."]


def test_headline_judges_each_change(finished) -> None:
    assert headline(Summary(finished), "sampled") == (
        "Sampled accuracy, averaged over domains: 10.0% before, 20.0% after SFT, 30.0% after RL. "
        "RL against SFT: +10.0 points (95% interval +7.0 to +13.0): a clear gain. "
        "RL against the start: +20.0 points (95% interval +17.0 to +23.0): a clear gain."
    )
    assert "RL against SFT: -1.0 points (95% interval -4.0 to +2.0): no clear difference." in headline(
        Summary(finished), "greedy"
    )


def test_the_end_of_a_run_says_where_things_are(finished) -> None:
    text = _printed(finished, report="runs/a/report.html", checkpoint="runs/a/checkpoints/step_000160")
    assert "report:     runs/a/report.html" in text
    assert "checkpoint: runs/a/checkpoints/step_000160" in text
    assert "Time: before 1m 00s, sft 3m 20s, rl 10m 00s." in text
    assert text.index("Accuracy, sampled") < text.index("Accuracy, greedy")


@pytest.mark.parametrize("missing", ["sft", "rl", "before"])
def test_a_run_without_a_stage_still_has_its_table(finished, missing: str) -> None:
    finished["evaluations"] = [e for e in finished["evaluations"] if e["name"] != missing]
    finished["differences"] = [d for d in finished["differences"] if missing not in (d["from"], d["to"])]
    columns, rows = accuracy_rows(Summary(finished), "sampled")
    assert len(columns) == 1 + 2 + 1
    assert all(len(row) == len(columns) for row in rows)
    assert "macro average" in _printed(finished)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"evaluations": []},
        {"evaluations": None, "differences": "?", "seconds": 3, "tokens": []},
        {"evaluations": [{"name": "before"}]},
        {"evaluations": [{"name": "before", "sampled": {"macro": {"value": None}, "domains": {"a": None}}}]},
        {"evaluations": [{"name": "before", "greedy": {"macro": {"value": float("nan")}}}]},
        {"evaluations": [7, {"sampled": {}}], "differences": [{"from": "a"}]},
        {"differences": [{"from": "a", "to": "b", "sampled": {"macro": {"value": 0.1}}}]},
    ],
)
def test_a_partial_summary_never_breaks_the_table(data: dict[str, Any]) -> None:
    _printed(data)


def test_a_domain_missing_from_one_evaluation_shows_a_dash(finished) -> None:
    del finished["evaluations"][0]["sampled"]["domains"]["toy/arithmetic/sum"]
    _, rows = accuracy_rows(Summary(finished), "sampled")
    assert rows[1][:3] == ["sum", "-", "20.0%"]


def test_an_unknown_interval_shows_the_value_alone() -> None:
    assert difference_cell(Interval(0.1)) == "+10.0"
    assert difference_cell(None) == "-"
    assert Summary(
        {"differences": [{"from": "a", "to": "b", "greedy": {"macro": {"value": 0.1}}}]}
    ).difference(Pair("a", "b"), "greedy") == Interval(0.1)


def test_short_names_are_used_only_where_they_are_unique() -> None:
    assert short_names(["x/a/sum", "x/b/sum", "x/b/gcd"]) == {
        "x/a/sum": "x/a/sum", "x/b/sum": "x/b/sum", "x/b/gcd": "gcd",
    }  # fmt: skip


def test_tokens_are_added_up_where_they_are_given_apart(finished) -> None:
    assert Summary(finished).tokens == {"sft": 50_000, "rl": 170_000}
