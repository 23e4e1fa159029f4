"""The steps of a response: where they are in its text, the same for whoever scores or credits them.

A step is a line that is not blank, without the white space at its ends. Lines end with LF, CRLF or CR; other
Unicode line ends are ordinary characters, as they are to a tokenizer. The line that holds the final answer
is a step like the others and the last one, so scores align one-to-one with spans whatever a grader rewards.
"""

from __future__ import annotations

import re

Span = tuple[int, int]
"""Characters [start, end) of a text."""

MAX_STEPS = 128
"""Most steps of a response; the last one then reaches to the end of the text."""

_LINE = re.compile(r"[^\r\n]+")


def step_spans(text: str, most: int = MAX_STEPS) -> tuple[Span, ...]:
    """Where the steps of a response are: in order, disjoint, none blank, at most `most` of them.

    A response of more lines has what is left of it in its last step, so every character that is not white
    space belongs to exactly one step. Takes time proportional to the length of the text.
    """
    spans: list[Span] = []
    for line in _LINE.finditer(text):
        span = _stripped(text, line.start(), line.end())
        if span is None:
            continue
        if len(spans) == most:
            last = _stripped(text, spans[-1][0], len(text))
            assert last is not None  # noqa: S101 - it begins with a step
            return (*spans[:-1], last)
        spans.append(span)
    return tuple(spans)


def step_texts(text: str, most: int = MAX_STEPS) -> tuple[str, ...]:
    """The text of each step, in the order of `step_spans`."""
    return tuple(text[start:end] for start, end in step_spans(text, most))


def _stripped(text: str, start: int, end: int) -> Span | None:
    """A span without the white space at its ends; None when there is nothing else."""
    inner = text[start:end]
    left = len(inner) - len(inner.lstrip())
    right = len(inner.rstrip())
    return (start + left, start + right) if left < right else None
