"""Comparing a value with the expected one, by written rules.

The answer is plain data that was rebuilt on this side, so no method of a candidate's class is ever called.
Recursion and work follow the *expected* value, so an answer cannot make a comparison expensive.

The rules, in this order:

1. Types must agree: `str`, `bytes`, `None`, `list`, `tuple`, `dict`, sets. `[1]` is not `(1,)`, `"1"` is not
   `1`, `b"a"` is not `"a"`; a set equals a frozenset. `sequences_alike` lets a list equal a tuple.
2. A bool is not a number: `True` is not `1`, unless `bool_is_int`.
3. An int equals a float of the same value: `1` equals `1.0`, exactly, also beyond 2**53.
4. NaN equals nothing, unless `nan_equal`, and then NaN only. `-0.0` equals `0.0`. An infinity equals itself.
5. Floats are equal when identical, or when |answer - expected| <= max(absolute, relative * |expected|). A
   tolerance of 0, the default, means identical. Two ints are never compared with a tolerance.
6. Text is compared code point by code point: no normalisation, no trimming, no case folding.
7. Order counts in lists and tuples; with `unordered` it does not, at the outermost level only, but how
   often a member occurs does. Order never counts in dicts and sets. Tolerances do not apply to keys, to
   members of sets, or under `unordered`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count

from burnish.sandbox.records import Plain


@dataclass(frozen=True, slots=True)
class Rule:
    """How a value is compared; the header says what each field does."""

    relative: float = 0.0
    absolute: float = 0.0
    bool_is_int: bool = False
    sequences_alike: bool = False
    nan_equal: bool = False
    unordered: bool = False


EXACT = Rule()
PYTHON = Rule(bool_is_int=True)
"""What `==` says of plain data, except that NaN never equals itself."""
CLOSE = Rule(relative=1e-6, absolute=1e-9, sequences_alike=True)
"""For data sets kept as JSON, which knows no tuples, and whose floats are printed."""
UNORDERED = Rule(unordered=True)

RULES = {"exact": EXACT, "python": PYTHON, "close": CLOSE, "unordered": UNORDERED}


_unique = count()


def same(answer: Plain, expected: Plain, rule: Rule = EXACT) -> bool:
    """Whether an answer equals the expected value by a rule."""
    if rule.unordered and isinstance(expected, list | tuple):
        return _same_members(answer, expected, replace(rule, unordered=False))
    if isinstance(expected, bool | int | float | complex):
        return _same_number(answer, expected, rule)
    if isinstance(expected, list | tuple):
        return _same_sequence(answer, expected, rule)
    if isinstance(expected, dict):
        return _same_dict(answer, expected, rule)
    if isinstance(expected, set | frozenset):
        return _same_set(answer, expected, rule)
    return type(answer) is type(expected) and answer == expected


def _same_number(answer: Plain, expected: complex, rule: Rule) -> bool:
    if not isinstance(answer, bool | int | float | complex):
        return False
    if not rule.bool_is_int and isinstance(answer, bool) is not isinstance(expected, bool):
        return False
    if isinstance(answer, complex) or isinstance(expected, complex):
        return answer == expected or _close_complex(answer, expected, rule)
    if isinstance(expected, float) and math.isnan(expected):
        return rule.nan_equal and isinstance(answer, float) and math.isnan(answer)
    if answer == expected:
        return True
    return (isinstance(answer, float) or isinstance(expected, float)) and _close(answer, expected, rule)


def _finite(*numbers: complex) -> bool:
    """Whether every number fits a float and none is infinite or NaN."""
    try:
        return all(math.isfinite(part) for n in numbers for part in (complex(n).real, complex(n).imag))
    except OverflowError:
        return False


def _close(answer: float, expected: float, rule: Rule) -> bool:
    if not _finite(answer, expected):
        return False
    allowed = max(rule.absolute, rule.relative * abs(float(expected)))
    return allowed > 0 and abs(float(answer) - float(expected)) <= allowed


def _close_complex(answer: complex, expected: complex, rule: Rule) -> bool:
    if not _finite(answer, expected):
        return False
    allowed = max(rule.absolute, rule.relative * abs(complex(expected)))
    return allowed > 0 and abs(complex(answer) - complex(expected)) <= allowed


def _same_kind(answer: Plain, expected: Plain, rule: Rule) -> bool:
    if rule.sequences_alike and isinstance(expected, list | tuple):
        return isinstance(answer, list | tuple)
    return type(answer) is type(expected)


def _same_sequence(answer: Plain, expected: list[Plain] | tuple[Plain, ...], rule: Rule) -> bool:
    if not _same_kind(answer, expected, rule) or not isinstance(answer, list | tuple):
        return False
    return len(answer) == len(expected) and all(map(lambda a, e: same(a, e, rule), answer, expected))


def _same_members(answer: Plain, expected: list[Plain] | tuple[Plain, ...], rule: Rule) -> bool:
    """Equal as multisets: both sorted by a key that is the same for equal values; no hashing of answers."""
    if not _same_kind(answer, expected, rule) or not isinstance(answer, list | tuple):
        return False
    if len(answer) != len(expected):
        return False
    return _keys(answer, rule) == _keys(expected, rule)


def _same_dict(answer: Plain, expected: dict[Plain, Plain], rule: Rule) -> bool:
    if not isinstance(answer, dict) or len(answer) != len(expected):
        return False
    if not _same_set(set(answer), set(expected), rule):
        return False
    return all(same(answer[key], value, rule) for key, value in expected.items())


def _same_set(answer: Plain, expected: set[Plain] | frozenset[Plain], rule: Rule) -> bool:
    """Equal as sets by Python, and with `True` told from `1` where the rule does."""
    if not isinstance(answer, set | frozenset) or len(answer) != len(expected) or answer != expected:
        return False
    return rule.bool_is_int or _keys(answer, rule) == _keys(expected, rule)


def _keys(values: Iterable[Plain], rule: Rule) -> list[str]:
    return sorted(_key(value, rule) for value in values)


def _key(value: Plain, rule: Rule) -> str:
    """A text that two values share exactly when a rule without tolerances calls them equal."""
    if isinstance(value, bool) and not rule.bool_is_int:
        return f"b{value}"
    if isinstance(value, bool | int | float | complex):
        return _number_key(value, rule)
    if isinstance(value, list | tuple):
        kind = "s" if rule.sequences_alike else type(value).__name__
        return f"{kind}({','.join(_key(member, rule) for member in value)})"
    if isinstance(value, dict):
        pairs = sorted(f"{_key(k, rule)}:{_key(v, rule)}" for k, v in value.items())
        return f"d({','.join(pairs)})"
    if isinstance(value, set | frozenset):
        return f"set({','.join(_keys(value, rule))})"
    return repr(value)


def _number_key(value: complex, rule: Rule) -> str:
    """A text that numbers of the same value share; NaN shares it only where NaN equals NaN."""
    if isinstance(value, complex):
        parts = _number_key(value.real, rule), _number_key(value.imag, rule)
        return f"{parts[0]},{parts[1]}j" if value.imag else parts[0]
    if isinstance(value, float) and math.isnan(value):
        return "nan" if rule.nan_equal else f"nan{next(_unique)}"
    value += 0  # makes 0 of False and 0.0 of -0.0
    return f"n{value:.0f}" if isinstance(value, float) and value.is_integer() else f"n{value!r}"
