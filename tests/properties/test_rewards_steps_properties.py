"""Laws of the spans of steps, over any text."""

from hypothesis import given
from hypothesis import strategies as st

from burnish.rewards.steps import step_spans

TEXTS = st.text(st.sampled_from("ab 1=\n\r\t\u2028\u00a0"), max_size=60) | st.text(max_size=60)


@given(TEXTS, st.integers(1, 9))
def test_spans_are_ordered_disjoint_bounded_and_cover_all_that_is_not_blank(text, most):
    spans = step_spans(text, most)
    assert len(spans) <= most
    ends = [0, *(end for _, end in spans)]
    for (start, end), before in zip(spans, ends, strict=False):
        assert before <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
    kept = set().union(*(range(*span) for span in spans))
    assert all(text[at].isspace() for at in range(len(text)) if at not in kept)


@given(TEXTS)
def test_line_ends_and_blank_lines_make_no_difference(text):
    steps = [text[start:end] for start, end in step_spans(text)]
    again = "\r\n \n".join(steps)
    assert [again[start:end] for start, end in step_spans(again)] == steps
