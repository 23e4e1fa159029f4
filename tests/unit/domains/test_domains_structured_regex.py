"""Regular expressions: the automaton agrees with Python's matcher, and nothing makes it take long."""

from __future__ import annotations

import re
from random import Random

import pytest

from burnish.domains.structured.nfa import LONGEST_PATTERN, PatternError, compiled
from burnish.domains.structured.patterns import WAYS, damaged, draw_pieces, expression
from burnish.domains.structured.regex import INSIDE, SHOWN, Format, Regex
from burnish.records import Sample, Scored, Split
from burnish.rewards.judge import judge

CODE = Format(
    "two digits; then a dash; then capital letters",
    r"\d\d-[A-Z]+",
    ("12-A", "99-XYZ"),
    ("1-A", "12-a", "12A"),
)


@pytest.mark.parametrize(
    "answer",
    [r"\d\d-[A-Z]+", r"^\d{2}-[A-Z]+$", r"[0-9]{2}[-][A-Z][A-Z]*?", r"(?P<n>\d{2})\-([A-Z]+)",
     r"\A\d\d-(?:[A-Z]){1,}\Z",
     r"\b\d\d-[^\W\da-z_]+\b", r"(?:12|\d9)-(A|XYZ)"],
)  # fmt: skip
def test_any_expression_that_tells_the_texts_apart_is_right(answer):
    assert Regex().is_right(CODE, answer)
    assert Regex().verdict(CODE, f"```regex\n{answer}\n```") == Scored(1.0, passed=True)


@pytest.mark.parametrize(
    "answer",
    ["", ".*", r"\d\d-A", r"\d\d-[A-Za-z]+", r"\d+-[A-Z]+", r"\d\d", "(", "[", "*", "a{2",
     r"\d\d-[A-Z]+ ", r"/\d\d-[A-Z]+/",
     r"(?i)\d\d-[A-Z]+", r"(?=1)\d\d-[A-Z]+|99-XYZ", r"(\d)\1-XYZ|12-A", r"\d\d-(?>[A-Z]+)",
     r"\d\d-[A-Z]++",
     r"(?i:\d\d-[A-Z]+)", "12-A|99-XY", "x" * (LONGEST_PATTERN + 1)],
)  # fmt: skip
def test_what_does_not_or_is_refused_is_wrong(answer):
    assert not Regex().is_right(CODE, answer)


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "((a*)*)*b", "(.*)*(.*)*(.*)*x", "((((.*)*)*)*)*", "(?:a|a|a|a)*" * 30, "(?:.?){120}",
     "(?:.*){150}",
     "(?:(?:(?:.*.*.*.*)*.*.*)*.*.*)*" * 10, "(x+x+)+y", "(?:(?:a|aa)+)+b", "(?:\\b|\\B|^|a)*" * 20],
)  # fmt: skip
def test_explosive_expressions_take_little_work(pattern):
    """A move that is worked out looks at each state once at most, so the number of moves bounds the work."""
    automaton = compiled(pattern)
    texts = ["a" * 40, "x" * 40, "a" * 39 + "!", "ab" * 20]
    for text in texts:
        automaton.matches(text)
    assert len(automaton.known) <= sum(map(len, texts))
    assert sum(map(len, automaton.silent)) <= 4 * len(automaton.reads)


@pytest.mark.parametrize(
    "pattern",
    ["(?:x{1,100}){1,100}", ".{1300}", "(?:.{0,40}){0,40}", "(?:){9999999}", "(?:a?){9999}",
     "a{1,4294967294}",
     "a{99999999999}", "(" * 300, "(?:" * 99 + ")" * 99 + "(" , "(?P<a>x)(?P<a>y)", "(?(1)a|b)", "a**",
     "[z-a]", "\\",
     "(?<=a)b", "(?!)", "(?-i:a)", "\\Z\\q", "(?x) a"],
)  # fmt: skip
def test_what_is_too_large_or_malformed_is_refused(pattern):
    with pytest.raises(PatternError):
        compiled(pattern)


@pytest.mark.parametrize("level", range(4))
def test_references_pass_and_lists_of_what_was_shown_do_not(level):
    for index in range(60):
        task = Regex().task(Split.TRAIN, level, index)
        found = task.data["exercise"]
        assert isinstance(found, Format)
        assert judge(Regex(), task, Sample(task.gold or "")) == Scored(1.0, passed=True)
        assert all(re.fullmatch(found.pattern, text) for text in found.inside)
        assert not any(re.fullmatch(found.pattern, text) for text in found.outside)
        assert len(found.inside) > SHOWN
        assert len(found.outside) >= INSIDE
        listed = "|".join(map(re.escape, found.inside[:SHOWN]))
        assert judge(Regex(), task, Sample(listed)) == Scored(0.0, passed=False)
        for cheap in (".*", ".+", "\\S+", "[ -~]*", found.inside[0]):
            assert judge(Regex(), task, Sample(cheap)) == Scored(0.0, passed=False)


def test_a_little_wrong_is_noticed_most_of_the_time():
    """A part left out, or repeated: with a dozen texts of each kind hardly any such answer gets through."""
    passed = tried = 0
    for index in range(80):
        task = Regex().task(Split.TRAIN, 2, index)
        pieces = [piece.pattern for piece in draw_pieces(Random(index), 2)]
        found = task.data["exercise"]
        assert isinstance(found, Format)
        own = found.pattern
        for wrong in (own[:-1], f"{own}.?", f"(?:{own})+", f".?{own}", f"{own}{pieces[0]}"):
            tried += 1
            passed += Regex().is_right(found, wrong)
    assert passed <= 0.1 * tried


@pytest.mark.parametrize("way", range(WAYS))
def test_every_way_of_damage_leads_out_of_formats(way):
    rng = Random(0)
    pieces = [draw_pieces(Random(seed), seed % 4) for seed in range(100)]
    assert sum(not re.fullmatch(expression(found), damaged(rng, found, way)) for found in pieces) >= 30
