"""Laws of derivations: nothing written between correct steps adds to them or breaks the grader."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.domains.derivations.families import FAMILIES
from burnish.domains.derivations.terms import leaves, parse, reduces, value
from burnish.domains.settings import DomainSettings
from burnish.records import Sample, Scored, Split
from burnish.rewards.judge import judge
from burnish.rewards.steps import step_spans

DOMAINS = [make(DomainSettings()) for make in FAMILIES.values()]
PLACES = st.tuples(st.sampled_from(DOMAINS), st.integers(0, 3), st.integers(0, 60))
EQUALITIES = PLACES.filter(lambda place: place[0].name != "derivations/puzzle")
LINES = st.text(st.sampled_from("0123456789x+-*/()= .ABfilmovepuryslid"), max_size=25)


@settings(max_examples=60, deadline=None)
@given(
    PLACES, st.lists(LINES | st.sampled_from(["1 = 1", "x = x", "0 = 0", "fill A", "move A B"]), max_size=6)
)
def test_whatever_comes_before_leaves_verdicts_whole(place, idle):
    domain, level, index = place
    task = domain.task(Split.EVAL, level, index)
    text = "\n".join([*idle, task.gold or ""])
    verdict = judge(domain, task, Sample(text))
    assert isinstance(verdict, Scored), verdict
    assert len(verdict.steps) == len(step_spans(text))


@settings(max_examples=60, deadline=None)
@given(EQUALITIES, st.data())
def test_repeating_lines_adds_no_credit(place, data):
    domain, level, index = place
    task = domain.task(Split.EVAL, level, index)
    lines = (task.gold or "").split("\n")
    padded = [line for line in lines for _ in range(data.draw(st.integers(1, 3)))]
    verdict = domain.grade(task, Sample("\n".join(padded)))
    assert isinstance(verdict, Scored)
    assert sum(verdict.steps) == len(lines)


def _text(numbers: list[int], operators: list[str]) -> str:
    return str(numbers[0]) + "".join(f" {o} {n}" for o, n in zip(operators, numbers[1:], strict=False))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=2, max_size=6),
    st.lists(st.sampled_from("+-*/"), min_size=5, max_size=5),
)
def test_parsed_values_are_exact(numbers, operators):
    text = _text(numbers, operators)
    node = parse(text)
    assert node is not None
    assert leaves(node) == len(numbers)
    try:
        exact = eval(text, {}, {}) if "/" not in text else eval(_fractions(numbers, operators))
    except ZeroDivisionError:
        assert value(node) is None
    else:
        assert value(node) == exact
        assert reduces(node, node)
        assert reduces(node, Fraction(exact))
        assert not reduces(node, Fraction(exact) + 1)


def _fractions(numbers: list[int], operators: list[str]) -> str:
    return _text([f"Fraction({n})" for n in numbers], operators)  # type: ignore[misc]
