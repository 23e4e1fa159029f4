"""Comparing what a program printed with what was expected, by written rules.

`bytes`    the same bytes.
`lines`    the same lines, white space at the ends of lines and blank lines at the end of the text aside; the
           default. CRLF and CR end a line as LF does.
`tokens`   the same words between white space.
`numbers`  as `tokens`, and a word that is a number equals a number within a tolerance: |answer - expected|
           <= max(absolute, relative * |expected|). NaN equals nothing; an infinity equals itself.
`ignorecase`  as `tokens`, letter case aside.

Letters are compared code point by code point, without normalisation. Bytes that are not UTF-8 equal only
the same bytes. An answer is read only as far as twice the length of what is expected, plus 64 KiB.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Literal, get_args

TextRule = Literal["bytes", "lines", "tokens", "numbers", "ignorecase"]
TEXT_RULES: tuple[TextRule, ...] = get_args(TextRule)

RELATIVE, ABSOLUTE = 1e-6, 1e-9
_SLACK = 1 << 16
_NUMBER = re.compile(
    r"[+-]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][+-]?\d{1,4})?|[+-]?inf", re.ASCII
)


def same_text(answer: bytes, expected: bytes, rule: TextRule = "lines") -> bool:
    """Whether a program's output equals the expected one by a rule."""
    if len(answer) > 2 * len(expected) + _SLACK:
        return False
    return answer == expected or _RULES[rule](answer, expected)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _lines(data: bytes) -> list[str]:
    """Lines without white space at their ends, and without blank lines at the end."""
    text = _text(data).replace("\r\n", "\n").replace("\r", "\n")
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _same_lines(answer: bytes, expected: bytes) -> bool:
    return _lines(answer) == _lines(expected)


def _same_tokens(answer: bytes, expected: bytes) -> bool:
    return _text(answer).split() == _text(expected).split()


def _same_numbers(answer: bytes, expected: bytes) -> bool:
    found, wanted = _text(answer).split(), _text(expected).split()
    return len(found) == len(wanted) and all(map(_same_number, found, wanted))


def _same_number(answer: str, expected: str) -> bool:
    if answer == expected:
        return True
    if not (_NUMBER.fullmatch(answer) and _NUMBER.fullmatch(expected)):
        return False
    found, wanted = float(answer), float(expected)
    if not (math.isfinite(found) and math.isfinite(wanted)):
        return found == wanted and "inf" in answer and "inf" in expected
    return abs(found - wanted) <= max(ABSOLUTE, RELATIVE * abs(wanted))


def _same_ignoring_case(answer: bytes, expected: bytes) -> bool:
    return _text(answer).lower().split() == _text(expected).lower().split()


_RULES: dict[TextRule, Callable[[bytes, bytes], bool]] = {
    "bytes": lambda _answer, _expected: False,
    "lines": _same_lines,
    "tokens": _same_tokens,
    "numbers": _same_numbers,
    "ignorecase": _same_ignoring_case,
}
