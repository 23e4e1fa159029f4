"""Comparing an answer with a reference: text, numbers, mathematics, and letters of choices.

Each comparison takes the extracted answer and the reference, and says right (True), wrong (False) or that
it cannot tell (None).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any

from burnish.domains.settings import GraderName
from burnish.rewards.deadline import within

Compare = Callable[[str, str], bool | None]

MATH_LENGTH = 300
"""Longer answers are not parsed as mathematics; an answer is not a derivation."""
MATH_SECONDS = 3.0

_NUMBER = re.compile(r"([+-]?)\s*[$€£]?\s*((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)\s*%?\.?")
_CHOICE = re.compile(r"\(?([A-Za-z])\)?(?:[.:)](?:\s.*)?)?", re.DOTALL)
_EXPLOSIVE = re.compile(r"(\^|\*\*)\s*[{(]?\s*-?\d{4}|(\^|\*\*)[^+\-]*(\^|\*\*)[^+\-]*(\^|\*\*)|!")
"""Large powers, towers of powers and factorials: not interruptible once their evaluation begins."""


def exact(answer: str, reference: str) -> bool:
    """Equal, up to white space at the ends."""
    return answer.strip() == reference.strip()


def read_number(text: str) -> Decimal | None:
    """The number that `text` is as a whole: sign, currency, thousands separators, percent sign allowed."""
    found = _NUMBER.fullmatch(text.strip())
    return Decimal(found[1] + found[2].replace(",", "")) if found else None


def number(answer: str, reference: str) -> bool:
    """The same number, however it is written."""
    found = read_number(answer) if len(answer) <= MATH_LENGTH else None
    return found is not None and found == read_number(reference)


def choice(answer: str, reference: str) -> bool:
    """The same letter of a multiple choice: `B`, `(b)`, `B. Paris`."""
    found, expected = _CHOICE.fullmatch(answer.strip()), _CHOICE.fullmatch(reference.strip())
    return found is not None and expected is not None and found[1].upper() == expected[1].upper()


def mathematics(answer: str, reference: str) -> bool | None:
    """Mathematically equal, by math-verify; None when that takes longer than `MATH_SECONDS`.

    The library's own time limits are signals, which work in the main thread only; they are off here. Large
    powers, towers of powers and factorials are wrong unread.
    """
    if exact(answer, reference):
        return True
    if len(answer) > MATH_LENGTH or _EXPLOSIVE.search(answer):
        return False
    from math_verify import verify  # noqa: PLC0415  the import takes about a second

    try:
        return within(
            MATH_SECONDS, lambda: bool(verify(_parsed(reference), _parsed(answer), timeout_seconds=None))
        )
    except TimeoutError:
        return None


COMPARE: dict[GraderName, Compare] = {
    "exact": exact,
    "number": number,
    "math": mathematics,
    "choice": choice,
}


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Any:
    """A formula as math-verify reads it; bare LaTeX gets the dollar signs it needs."""
    from math_verify import parse  # noqa: PLC0415

    logging.getLogger("math_verify").setLevel(logging.ERROR)
    bare_latex = "\\" in text and "$" not in text and "\\boxed" not in text
    return parse(f"${text}$" if bare_latex else text, parsing_timeout=None)  # pyright: ignore[reportArgumentType]
