"""Steps of a response: lines that are not blank, wherever their ends come from."""

from __future__ import annotations

import pytest

from burnish.rewards.steps import MAX_STEPS, step_spans, step_texts


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("", ()),
        (" \n\t\r\n\n", ()),
        ("one", ("one",)),
        ("one\ntwo", ("one", "two")),
        ("one\r\ntwo\rthree\n", ("one", "two", "three")),
        ("\n\n  one \n \n\n\ttwo\t\n\n", ("one", "two")),
        ("one\u2028still one\x0bstill", ("one\u2028still one\x0bstill",)),
        ("\u00a0one\u3000\n<answer>2</answer>", ("one", "<answer>2</answer>")),
        ("a\x00b\n\ud800", ("a\x00b", "\ud800")),
    ],
)
def test_steps_are_lines_that_are_not_blank(text, steps):
    assert step_texts(text) == steps
    assert tuple(text[start:end] for start, end in step_spans(text)) == steps


def test_the_last_of_too_many_steps_reaches_to_the_end():
    text = "\n".join(f"line {n}" for n in range(MAX_STEPS + 40)) + "\n \n"
    spans = step_spans(text)
    assert len(spans) == MAX_STEPS
    assert text[slice(*spans[-2])] == f"line {MAX_STEPS - 2}"
    assert text[slice(*spans[-1])].startswith(f"line {MAX_STEPS - 1}\n")
    assert text[slice(*spans[-1])].endswith(f"line {MAX_STEPS + 39}")


def test_exactly_as_many_as_allowed_stay_single():
    assert step_texts("a\nb\nc\n\n", most=3) == ("a", "b", "c")
    assert step_texts("a\nb\nc\nd", most=3) == ("a", "b", "c\nd")


@pytest.mark.parametrize("text", ["x\n" * 500_000, "x" * 1_000_000, "\n \r" * 300_000, " " * 1_000_000 + "x"])
@pytest.mark.timeout(5)
def test_giant_texts_take_no_time(text):
    assert len(step_spans(text)) <= MAX_STEPS
