"""Instructions: every constraint tells right from wrong, every request can be met, nothing cheap passes."""

from __future__ import annotations

import pickle
from itertools import combinations
from random import Random
from typing import Any

import pytest

from burnish.domains.generated import NAMES as GENERATED
from burnish.domains.instructions.base import Constraint, conflict, names
from burnish.domains.instructions.families import (
    CONSTRAINTS,
    FAMILIES,
    LONGEST,
    Combined,
    Instructions,
    Request,
    compose,
    question_of,
)
from burnish.domains.instructions.text import Text
from burnish.domains.registry import default_registry
from burnish.domains.settings import DomainSettings
from burnish.domains.validate import validate_domain
from burnish.errors import DomainError
from burnish.records import Sample, Scored, Split, Task
from burnish.rewards.judge import judge

NAMES = sorted(FAMILIES)
FORMS = ("plain", "tags")

Example = tuple[dict[str, Any], list[str], list[str]]
EXAMPLES: dict[str, Example] = {
    "length/words_exact": ({"n": 3}, ["One two three.", "It's well-known: yes"], ["One two.", "a b c d"]),
    "length/words_at_least": ({"n": 3}, ["a b c", "a b c d"], ["a b", "", "... - !"]),
    "length/words_at_most": ({"n": 3}, ["a b c", "a"], ["a b c d"]),
    "length/words_between": ({"low": 2, "high": 3}, ["a b", "a b c"], ["a", "a b c d"]),
    "length/characters_at_most": ({"n": 5}, ["abcde", " abcde \n"], ["abcdef"]),
    "length/characters_between": ({"low": 2, "high": 3}, ["ab", "abc"], ["a", "abcd"]),
    "length/sentences_exact": ({"n": 2}, ["A b. C d!", "Pi is 3.14. Is it?"], ["A b.", "A. B. C."]),
    "length/sentences_at_least": ({"n": 2}, ["A b. C d!", "A. B. C."], ["A b.", "A... "]),
    "length/short_sentences": ({"n": 3}, ["A b c. D e f.", "A"], ["A b c d. E."]),
    "length/paragraphs": ({"n": 2}, ["A.\n\nB.", "A.\n \n\nB.\nC."], ["A.\nB.", "A.\n\nB.\n\nC."]),
    "length/lines": ({"n": 2}, ["a\nb", "a\n\nb"], ["a", "a\nb\nc"]),
    "length/short_words": ({"n": 4}, ["four is fine"], ["fiver is not"]),
    "length/average_sentence": ({"n": 3}, ["A b c.", "A. B c d e f."], ["A b.", "A b c. D.", ""]),
    "format/bullets": ({"n": 2}, ["- a\n- b"], ["- a", "- a\n- b\n- c", "- a\nb", "* a\n* b", "x\n- a\n- b"]),
    "format/numbered": ({"n": 2}, ["1. a\n2. b"], ["1. a\n3. b", "1) a\n2) b", "1. a\n2. ", "1. a"]),
    "format/labelled_lines": (
        {"keys": ("Name", "Use")},
        ["Name: a\nUse: b"],
        ["Use: b\nName: a", "Name: a", "Name: a\nUse:", "Name: a\nUse: b\nmore"],
    ),
    "format/sections": (
        {"n": 2},
        ["Section 1\na\nSection 2\nb", "Section 1\n\na\nb\n\nSection 2\nc"],
        ["Section 1\na", "Section 1\nSection 2\nb", "x\nSection 1\na\nSection 2\nb",
         "Section 1\na\nSection 2\nb\nSection 3\nc", "a", "Section 2\na\nSection 1\nb"],
    ),
    "format/json_object": (
        {"keys": ("Name", "Use")},
        ['{"Name": "a", "Use": "b"}', '```json\n{"Use": "b", "Name": "a"}\n```'],
        ['{"Name": "a"}', '{"Name": "a", "Use": ""}', '{"Name": "a", "Use": 1}', "[]", "Name: a", "[" * 3000,
         '{"Name": "a", "Use": "b", "x": "y"}', 'Here: {"Name": "a", "Use": "b"}'],
    ),
    "format/json_list": ({"n": 2}, ['["a", "b"]'], ['["a"]', '["a", " "]', '["a", 1]', '{"a": "b"}', "a, b"]),
    "format/table": (
        {"keys": ("Name", "Use"), "n": 1},
        ["| Name | Use |\n|---|---|\n| a | b |", "|Name|Use|\n|:-|-:|\n|a|b|"],
        ["| Name | Use |\n| a | b |", "| Use | Name |\n|---|---|\n| a | b |",
         "| Name | Use |\n|---|---|\n| a | |", "| Name | Use |\n|---|---|", "Name Use\n---\na b"],
    ),
    "format/title": ({"n": 2}, ["<<big day>>\nText."], ["<<big day>>", "<<day>>\nText.", "big day\nText."]),
    "format/quoted": ({"n": 1}, ['"A b."'], ["A b.", '"A b.', '"A "b" c."', '""']),
    "format/fenced": ({"n": 1}, ["```\na\n```", "```text\na\n```"], ["a", "```\na", "```\na\n```\nb\n```"]),
    "format/highlights": ({"n": 1}, ["A *big* day."], ["A day.", "*a* *b*", "**a**", "* a", "*a* *"]),
    "format/semicolon_list": ({"n": 3}, ["a; b; c."], ["a; b", "a; b; c; d", "a; ; c", "a;\nb; c"]),
    "keywords/include": ({"words": ("oak", "sea")}, ["The SEA, an oak."], ["The oak.", "oaks at sea"]),
    "keywords/exclude": ({"words": ("the", "of")}, ["Then often a"], ["At The sea", "a bit of a"]),
    "keywords/exactly": ({"word": "oak", "n": 2}, ["Oak, oak", "oak oaks OAK"], ["oak", "oak oak oak"]),
    "keywords/at_least": ({"word": "oak", "n": 2}, ["Oak, oak", "oak oak oak"], ["oak oaks"]),
    "keywords/more_often": (
        {"words": ("oak", "sea"), "n": 2}, ["oak oak sea"], ["oak sea", "oak oak", "oak oak sea sea"],
    ),
    "keywords/ordered": (
        {"words": ("oak", "sea")}, ["oak sea", "oak x sea oak"], ["sea oak", "oak", "sea oak sea"],
    ),
    "keywords/phrase": ({"phrase": "old oak"}, ["An Old oak!"], ["oak old", "old big oak", "old oaks"]),
    "keywords/one_of": ({"words": ("oak", "sea")}, ["oak oak", "a sea"], ["oak sea", "none"]),
    "keywords/together": ({"words": ("oak", "sea")}, ["A. Oak sea. B."], ["Oak. Sea.", "Oak."]),
    "case/lower": ({}, ["all small."], ["Not all.", "123"]),
    "case/upper": ({}, ["ALL BIG."], ["NOT ALl.", "123"]),
    "case/title": ({}, ["Each Word 7 Counts."], ["Each word.", ""]),
    "case/alternate": ({}, ["one TWO three FOUR", "a B"], ["One TWO", "one two", "one"]),
    "case/only_first": ({}, ["Only this. not here", '"Only'], ["only", "Only This", ""]),
    "case/shouted_exactly": ({"n": 1}, ["A BIG day."], ["A big day.", "A BIG DAY."]),
    "case/shouted_at_least": ({"n": 1}, ["A BIG day.", "A BIG DAY."], ["A big day."]),
    "language/ascii": ({}, ["plain"], ["na\u00efve", "a \u2013 b"]),
    "language/script": ({"script": "Cyrillic"}, ["море, 7!"], ["море sea", "θάλασσα", "7!"]),
    "language/without_letter": ({"letter": "e"}, ["A sunny day"], ["the", "E"]),
    "language/letter_at_least": ({"letter": "e", "n": 2}, ["Eve", "she he"], ["the"]),
    "language/initial": ({"letter": "b", "n": 2}, ["Big bad"], ["big, a tab"]),
    "language/no_repeats": ({"n": 2}, ["one two"], ["one", "one two One"]),
    "language/different_words": ({"n": 2}, ["one two one"], ["one One one"]),
    "language/long_words": ({"n": 1}, ["incredible"], ["large words"]),
    "structure/first_word": ({"word": "oak"}, ["Oak trees.", '"oak" it is'], ["An oak.", "oaks", ""]),
    "structure/last_word": ({"word": "oak"}, ["An oak.", "oak"], ["Oak trees.", ""]),
    "structure/opening": ({"phrase": "Dear reader"}, ["Dear reader, a."], ["dear reader", "Dear readers"]),
    "structure/closing": ({"phrase": "The end."}, ["It was. The end."], ["The end.", "It was. the end."]),
    "structure/postscript": ({"n": 1}, ["Hello.\nP.S. Bye."], ["Hi. P.S. Bye.", "P.S. Bye.", "a\nPS b."]),
    "structure/divided": ({"n": 2}, ["a\n***\nb"], ["a\n***", "a", "a\n***\nb\n***\nc", "a *** b"]),
    "structure/placeholders": ({"n": 1}, ["Dear [name]."], ["Dear name.", "[a] [b]", "[]"]),
    "structure/same_ends": ({"word": "oak"}, ["Oak is oak."], ["oak", "Oak is.", "An oak."]),
    "structure/sentence_starts": ({"word": "oak", "n": 2}, ["Oak a. Oak b!"], ["Oak a. An oak.", "Oak."]),
    "structure/acrostic": ({"word": "tea"}, ["Two\nEight\nall"], ["Two\nEight", "tea", "Two\nall\nEight"]),
    "structure/paragraph_start": (
        {"n": 2, "k": 2, "word": "oak"}, ["A.\n\nOak b."], ["Oak a.\n\nB.", "A.\nOak b.", "A.\n\nOak.\n\nB."],
    ),
    "punctuation/no_commas": ({}, ["a b"], ["a, b"]),
    "punctuation/commas": ({"n": 1}, ["a, b"], ["a b", "a, b,"]),
    "punctuation/no_full_stop": ({}, ["A!"], ["A. B!"]),
    "punctuation/all_exclaim": ({"n": 2}, ["A! B!"], ["A!", "A. B!"]),
    "punctuation/exclamations": ({"n": 1}, ["A! B."], ["A.", "A!!"]),
    "punctuation/questions": ({"n": 1}, ["A? B."], ["A.", "A? B?"]),
    "punctuation/ends_with_question": ({"n": 1}, ["A. B?"], ["B?", "A. B.", "A. B. C?"]),
    "punctuation/no_digits": ({}, ["one"], ["1", "a \u0663"]),
    "punctuation/numbers": ({"n": 1}, ["12 days", "3.14 days", "1,000."], ["days", "1 of 2"]),
    "punctuation/semicolons": ({"n": 1}, ["a; b"], ["a b", "a;;"]),
    "punctuation/brackets": ({"n": 1}, ["a (b)."], ["a", "(a) (b)", "(a", "((a))"]),
    "punctuation/hyphenated": ({"n": 1}, ["a low-cost day"], ["a - b", "low cost"]),
    "punctuation/only_ends": ({"n": 2}, ["A b. C!"], ["a", "a, b", "a-b c", "a.b c", "a_b c"]),
}  # fmt: skip


def made(name: str, form: str = "plain", *, graded: bool = False) -> Instructions:
    return FAMILIES[name](DomainSettings(answer_format=form, graded=graded))  # pyright: ignore[reportArgumentType]


def scored(domain: Instructions, request: Request, text: str) -> Scored:
    task = Task(domain.name, Split.TRAIN, 0, 0, (), data={"exercise": request})
    verdict = judge(domain, task, Sample(text))
    assert isinstance(verdict, Scored), verdict
    return verdict


def test_the_registry_knows_them():
    assert sorted(GENERATED["instructions"]) == NAMES
    registry = default_registry()
    assert registry.resolve(["instructions/*"]) == NAMES
    assert all(registry.load(name).name == name for name in NAMES)


def test_every_constraint_has_examples():
    assert len(CONSTRAINTS) >= 40
    assert set(EXAMPLES) == set(CONSTRAINTS)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints_tell_right_from_wrong(name):
    params, right, wrong = EXAMPLES[name]
    check = CONSTRAINTS[name].check
    assert [text for text in right if not check(Text(text), params)] == []
    assert [text for text in wrong if check(Text(text), params)] == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMS)
def test_they_validate(name, form):
    report = validate_domain(made(name, form), tasks=4)
    assert report.ok, report.problems


@pytest.mark.parametrize("constraint", CONSTRAINTS.values(), ids=CONSTRAINTS)
def test_the_reference_meets_every_request(constraint: Constraint):
    for level in range(4):
        for seed in range(25):
            rng = Random(seed)
            request = compose(rng, [(constraint, constraint.sample(rng, level))])
            assert request is not None, (level, seed)
            assert made("instructions/length").verdict(request, request.reference) == Scored(
                1.0, passed=True, parts={constraint.name: 1.0}
            )


def test_constraints_that_are_not_in_conflict_can_be_met_together():
    pairs = [pair for pair in combinations(CONSTRAINTS.values(), 2) if not conflict(*pair)]
    assert len(pairs) > 1500
    for one, other in pairs:
        tries = (compose(rng, [(c, c.sample(rng, 0)) for c in (one, other)]) for rng in map(Random, range(4)))
        assert any(tries), (one.name, other.name)


@pytest.mark.parametrize("level", range(4))
def test_combinations_are_met_over_hundreds_of_seeds(level):
    domain = Combined()
    found = [domain.make(Random(seed), level) for seed in range(300)]
    requests = [request for request in found if request is not None]
    assert len(requests) >= 280
    for request in requests:
        assert len(request.demands) == level + 2
        assert not any(conflict(a, b) for (a, _), (b, _) in combinations(request.constraints, 2))
        assert scored(domain, request, request.reference).passed


def test_a_combination_is_wrong_when_one_constraint_is():
    request = Request(
        "a note",
        "oak",
        (("length/words_exact", {"n": 5}), ("case/lower", {}), ("punctuation/no_commas", {})),
        "",
    )
    right, wrong = "this is an oak tree.", "This is an, oak tree."
    assert scored(made("instructions/combined"), request, right).value == 1.0
    strict = scored(made("instructions/combined"), request, wrong)
    graded = scored(made("instructions/combined", graded=True), request, wrong)
    assert (strict.value, strict.passed) == (0.0, False)
    assert (graded.value, graded.passed) == (pytest.approx(1 / 3), False)
    assert strict.parts == {"length/words_exact": 1.0, "case/lower": 0.0, "punctuation/no_commas": 0.0}
    assert scored(made("instructions/combined", graded=True), request, "").value == 0.0


def test_conflicts_are_symmetric_and_cover_the_plain_contradictions():
    for one, other in combinations(CONSTRAINTS.values(), 2):
        assert conflict(one, other) == conflict(other, one)
    for pair in (
        ("case/lower", "case/upper"),
        ("length/words_exact", "length/words_at_most"),
        ("punctuation/no_commas", "format/json_object"),
        ("language/without_letter", "keywords/include"),
        ("language/script", "structure/first_word"),
        ("format/bullets", "length/paragraphs"),
        ("length/short_words", "language/long_words"),
    ):
        assert conflict(*(CONSTRAINTS[name] for name in pair)), pair


@pytest.mark.parametrize("name", NAMES)
def test_tasks_are_pure_varied_and_survive_a_journey(name):
    domain = pickle.loads(pickle.dumps(made(name)))
    for level in range(domain.levels):
        tasks = [domain.task(Split.TRAIN, level, index) for index in range(20)]
        again = [made(name).task(Split.TRAIN, level, index) for index in range(20)]
        assert [(t.messages, t.gold, t.data) for t in tasks] == [(t.messages, t.gold, t.data) for t in again]
        assert len({task.messages[-1].content for task in tasks}) == 20
    with pytest.raises(DomainError, match="no such level"):
        domain.task(Split.TRAIN, domain.levels, 0)


PLAIN = Request("a note", "oak", (("punctuation/no_commas", {}),), "")


@pytest.mark.parametrize(
    "text",
    ["", "   \n ", "oak.", "oak oak oak oak oak oak oak oak oak oak oak oak oak.",
     "This note is about no tree at all but it is long enough to count.",
     "This note is about an oak and it is long enough but it stops in the middle of",
     "word " * 3000 + "oak.", "oak " * 50_000,
     "```\nThis note is about an oak and it is long enough to count as one.\n```"],
)  # fmt: skip
def test_cheap_responses_are_worth_nothing(text):
    copied = question_of(PLAIN)
    for graded in (False, True):
        domain = made("instructions/punctuation", graded=graded)
        assert scored(domain, PLAIN, text) == Scored(0.0, passed=False)
        assert scored(domain, PLAIN, f"{text}\n{copied}").value == 0.0
        assert scored(domain, PLAIN, f"{copied} {copied}").value == 0.0


def test_an_honest_response_passes():
    text = "An oak is a tall tree that gives us acorns in every autumn of its life."
    assert scored(made("instructions/punctuation"), PLAIN, text).passed
    assert scored(made("instructions/punctuation", "tags"), PLAIN, f"Hm.<answer>{text}</answer>").passed
    assert not scored(made("instructions/punctuation", "tags"), PLAIN, text).passed


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text",
    ["\ud800", "\x00", "(" * LONGEST, "a" * LONGEST, "a." * (LONGEST // 2), "\n \n" * (LONGEST // 3),
     "*" * LONGEST,
          "[" * LONGEST, "{" * LONGEST, "<<" * 4000, ". \n" * 2000, "a-" * 4000, "```" * 2000, "|" * LONGEST,
     "<answer>", "</answer><answer>", "١ ٢", "P.S. ", '"', "1. \n2. "],
)  # fmt: skip
def test_no_text_breaks_a_grader_or_passes(name, text):
    for form in FORMS:
        domain = made(name, form)
        for index in range(4):
            verdict = judge(domain, domain.task(Split.TRAIN, index, index), Sample(text))
            assert isinstance(verdict, Scored), verdict
            assert not verdict.passed


def test_constraints_of_one_trait_share_its_name():
    """A trait that is barred is brought by something, or nothing would ever be kept out."""
    brought = names(*(trait for c in CONSTRAINTS.values() for trait in c.brings))
    assert all(c.bars <= brought for c in CONSTRAINTS.values())
