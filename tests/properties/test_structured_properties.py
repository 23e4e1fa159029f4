"""Laws of structured answers: graders are total, and their parts agree with what they stand for."""

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.domains.settings import DomainSettings
from burnish.domains.structured.base import read_json, same_json
from burnish.domains.structured.families import FAMILIES
from burnish.domains.structured.nfa import compiled
from burnish.domains.structured.sql_runner import same_rows
from burnish.records import Sample, Scored, Split
from burnish.rewards.judge import judge

DOMAINS = [make(DomainSettings()) for make in FAMILIES.values()]
PLACES = st.tuples(
    st.sampled_from(DOMAINS), st.sampled_from(list(Split)), st.integers(0, 3), st.integers(0, 10_000)
)
WRITTEN = st.text(st.sampled_from('SELECTfromwhere*(),;01.9-[]{}":truenl|?+^$\\db` \n'), max_size=60)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
ATOMS = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", "\\d", "\\w", "\\b", "\\B", "^", "$", "(?:)", "-"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: (
        st.tuples(inner, inner).map("".join)
        | st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})")
        | st.tuples(inner, st.sampled_from(["*", "+", "?", "*?", "{2}", "{1,2}", "{0,2}?", "{2,}"])).map(
            lambda pair: f"({pair[0]}){pair[1]}"
        )
    ),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None)
@given(PLACES, WRITTEN | st.text(max_size=30))
def test_every_text_gets_a_score_and_what_is_added_to_gold_is_noticed(place, text):
    domain, split, level, index = place
    task = domain.task(split, level, index)
    assert judge(domain, task, Sample(task.gold or "")) == Scored(1.0, passed=True)
    for sample in (text, f"{task.gold} {text}", f"{text}\n{task.gold}"):
        assert isinstance(judge(domain, task, Sample(sample)), Scored)
    assert judge(domain, task, Sample(f"{task.gold} word")) == Scored(0.0, passed=False)


@settings(max_examples=400, deadline=None)
@given(PATTERNS, st.lists(st.text("ab1-", min_size=1, max_size=5), max_size=8))
def test_the_automaton_agrees_with_the_matcher_of_python(pattern, texts):
    """Texts are not empty, because Python before 3.14 finds neither `\\b` nor `\\B` in an empty one."""
    automaton = compiled(pattern)
    for text in texts:
        assert automaton.matches(text) == bool(re.fullmatch(pattern, text)), text


@settings(max_examples=200, deadline=None)
@given(JSON, JSON)
def test_json_equality_is_that_of_values(one, other):
    again = read_json(json.dumps(one))
    assert again is not None
    assert same_json(one, again[0])
    assert same_json(one, other) == same_json(other, one)
    if same_json(one, other):
        assert one == other


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.none() | st.floats(0, 9)), max_size=6),
    st.data(),
)
def test_results_without_order_are_multisets(rows, data):
    shuffled = data.draw(st.permutations(rows))
    assert same_rows(rows, shuffled, ordered=False)
    assert same_rows(rows, shuffled, ordered=True) == all(
        map(lambda a, b: same_rows([a], [b], ordered=True), rows, shuffled)
    )
    if rows:
        assert not same_rows(rows, rows[1:], ordered=False)
