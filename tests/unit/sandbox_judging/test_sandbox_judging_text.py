"""Comparators of printed text: each written rule."""

import time

import pytest

from burnish.sandbox.judging.text import TEXT_RULES, same_text


@pytest.mark.parametrize(
    ("answer", "expected", "right"),
    [
        # columns of `right`: bytes, lines, tokens, numbers, ignorecase
        (b"1 2\n", b"1 2\n", "yyyyy"),
        (b"1 2", b"1 2\n", "nyyyy"),
        (b"1 2 \n\n\n", b"1 2\n", "nyyyy"),
        (b"1 2\r\n3\r4", b"1 2\n3\n4\n", "nyyyy"),
        (b"1  2", b"1 2", "nnyyy"),
        (b"\n1 2", b"1 2", "nnyyy"),
        (b"1\n2", b"1 2", "nnyyy"),
        (b"0.30000000000000004", b"0.3", "nnnyn"),
        (b"1.0", b"1", "nnnyn"),
        (b"1e3", b"1000", "nnnyn"),
        (b"1_0", b"10", "nnnnn"),
        (b"0x10", b"16", "nnnnn"),
        (b"nan", b"1", "nnnnn"),
        (b"inf", b"1", "nnnnn"),
        (b"9" * 390, b"inf", "nnnnn"),
        (b"1e9999", b"inf", "nnnnn"),
        (b"0.31", b"0.3", "nnnnn"),
        (b"YES", b"Yes", "nnnny"),
        (b"", b"", "yyyyy"),
        (b"", b"1", "nnnnn"),
        (b"1 1", b"1", "nnnnn"),
        (b"1", b"1 1", "nnnnn"),
        (b"\xff\xfe", b"\xff\xfe", "yyyyy"),
        (b"\xff", b"\xfe", "nnnnn"),
        ("é".encode(), "e\u0301".encode(), "nnnnn"),
        (b"\x1b[0m1", b"1", "nnnnn"),
    ],
)
def test_written_rules(answer, expected, right):
    found = "".join("y" if same_text(answer, expected, rule) else "n" for rule in TEXT_RULES)
    assert found == right


def test_every_answer_at_once_is_no_answer():
    flood = b"\n".join(str(n).encode() for n in range(200_000))
    start = time.perf_counter()
    assert not any(same_text(flood, b"77\n", rule) for rule in TEXT_RULES)
    assert time.perf_counter() - start < 0.1
