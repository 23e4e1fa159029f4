"""Laws of instructions: graders are total, references pass, and what breaks a reference is noticed."""

from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.domains.instructions.families import CONSTRAINTS, FAMILIES
from burnish.domains.instructions.text import Text
from burnish.domains.settings import DomainSettings
from burnish.records import Sample, Scored, Split
from burnish.rewards.judge import judge

DOMAINS = [make(DomainSettings()) for make in FAMILIES.values()]
PLACES = st.tuples(
    st.sampled_from(DOMAINS), st.sampled_from(list(Split)), st.integers(0, 3), st.integers(0, 10_000)
)
EXACT = (
    *("length/words_exact", "length/sentences_exact", "length/paragraphs", "length/lines", "format/bullets"),
    *("format/numbered", "format/highlights", "punctuation/commas", "punctuation/numbers"),
)
TEXTS = st.text(st.sampled_from('abcXYZ éжα0129.,;:!?-*#|<>[](){}"`\n'), max_size=80) | st.text(max_size=40)


@settings(max_examples=300, deadline=None)
@given(PLACES)
def test_the_gold_answer_passes_and_its_first_half_does_not(place):
    domain, split, level, index = place
    task = domain.task(split, level, index)
    gold = task.gold or ""
    verdict = judge(domain, task, Sample(gold))
    assert isinstance(verdict, Scored)
    assert verdict.value == 1.0
    half = gold[: len(gold) // 2].rstrip(" .!?\n")
    cut = judge(domain, task, Sample(half))
    assert isinstance(cut, Scored)
    assert not cut.passed


@settings(max_examples=300, deadline=None)
@given(PLACES, TEXTS)
def test_every_text_gets_a_score(place, text):
    domain, split, level, index = place
    task = domain.task(split, level, index)
    for sample in (text, f"{task.gold} {text}", f"{text}\n{task.gold}"):
        assert isinstance(judge(domain, task, Sample(sample)), Scored)


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.sampled_from(EXACT))
def test_exact_numbers_hold_for_one_number_at_most(text, name):
    assert sum(CONSTRAINTS[name].check(Text(text), {"n": n}) for n in range(1, 60)) <= 1


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text("abcdeж", min_size=1, max_size=5), min_size=1, max_size=30),
    st.sampled_from(".!?"),
)
def test_words_and_sentences_are_counted(words, mark):
    text = Text("".join(f"{word}{mark} " for word in words))
    assert text.words == words
    assert len(text.sentences) == len(words)
    assert Text(" ".join(words)).words == words
