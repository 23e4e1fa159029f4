"""Plain values as bytes and back: exact builtin types only, rebuilt outside, with caps on size and depth.

Coded as JSON with tags, so that types survive: list `[..]`, tuple `{"t": [..]}`, dict `{"d": [[k, v],
..]}`, set `{"s": [..]}`, frozenset `{"z": [..]}`, bytes `{"b": hex}`, complex `{"c": [re, im]}`, big int
`{"i": hex}`, float that is not finite `{"f": "nan"}`. The encoder runs beside the program, so the
decoder trusts nothing it reads and calls no method of anything but builtins.
"""

from __future__ import annotations

import json
import math
from typing import Any

_SMALL = 1 << 53


class BadType(ValueError):
    """A value that is not plain, too deep or too big."""


class BadValue(ValueError):
    """Bytes that are not a coded value."""


def encode(value: object, *, depth: int, size: int, digits: int) -> bytes:
    """Bytes of a plain value; BadType when it is not plain or passes a cap."""
    try:
        text = json.dumps(_coded(value, depth, digits), separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise BadType("nested too deeply") from None
    if len(text) > size:
        raise BadType(f"value takes {len(text)} bytes, the limit is {size}")
    return text.encode("ascii")


def _coded(value: Any, depth: int, digits: int) -> object:
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind in _LEAVES:
        return _LEAVES[kind](value, digits)
    if depth <= 0:
        raise BadType("nested too deeply")
    if kind is list:
        return [_coded(item, depth - 1, digits) for item in value]
    if kind is dict:
        pairs = [[_coded(k, depth - 1, digits), _coded(v, depth - 1, digits)] for k, v in value.items()]
        return {"d": pairs}
    if kind in _TAGS:
        return {_TAGS[kind]: [_coded(item, depth - 1, digits) for item in value]}
    raise BadType(f"{kind.__name__} is not a plain type")


def _code_int(value: int, digits: int) -> object:
    if -_SMALL < value < _SMALL:
        return value
    if value.bit_length() > digits * 3.33:
        raise BadType(f"int of {value.bit_length()} bits")
    return {"i": hex(value)}


def _code_float(value: float, _digits: int) -> object:
    return value if math.isfinite(value) else {"f": repr(value)}


def _code_str(value: str, _digits: int) -> object:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise BadType("str with a lone surrogate") from None
    return value


def _code_bytes(value: bytes, _digits: int) -> object:
    return {"b": value.hex()}


def _code_complex(value: complex, digits: int) -> object:
    return {"c": [_code_float(value.real, digits), _code_float(value.imag, digits)]}


_LEAVES = {int: _code_int, float: _code_float, str: _code_str, bytes: _code_bytes, complex: _code_complex}
_TAGS = {tuple: "t", set: "s", frozenset: "z"}


def decode(data: bytes, *, depth: int, size: int, digits: int) -> Any:
    """The plain value that `data` codes; BadValue when it codes none or passes a cap."""
    if len(data) > size:
        raise BadValue(f"{len(data)} bytes")
    try:
        coded = json.loads(data, parse_constant=_reject, parse_int=_small_int, object_pairs_hook=_tagged)
        return _plain(coded, depth, digits)
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        raise BadValue(str(error)) from None


class _Tagged(tuple):
    """A JSON object with its single key and value."""


def _tagged(pairs: list[tuple[str, object]]) -> _Tagged:
    if len(pairs) != 1:
        raise BadValue("an object has one tag")
    return _Tagged(pairs[0])


def _reject(text: str) -> object:
    raise BadValue(f"{text} is not JSON")


def _small_int(text: str) -> int:
    if len(text) > 17:
        raise BadValue("a long number has a tag")
    return int(text)


def _plain(coded: Any, depth: int, digits: int) -> Any:
    kind = type(coded)
    if kind is str:
        coded.encode("utf-8")
    if kind not in (list, _Tagged):
        if kind is float and not math.isfinite(coded):
            raise BadValue("a number out of range")
        return coded
    if depth <= 0:
        raise BadValue("nested too deeply")
    if kind is list:
        return [_plain(item, depth - 1, digits) for item in coded]
    tag, body = coded
    if tag not in _BUILDERS:
        raise BadValue(f"unknown tag {tag[:20]!r}")
    return _BUILDERS[tag](body, depth - 1, digits)


def _items(body: Any, depth: int, digits: int) -> list[Any]:
    if type(body) is not list:
        raise BadValue("items are a list")
    return [_plain(item, depth, digits) for item in body]


def _distinct(keys: list[Any]) -> list[Any]:
    """Keys of a set or dict: hashable, different, and not made to collide, which takes hours to insert."""
    if len(keys) - len({hash(key) for key in keys}) > 64 + len(keys) // 100:
        raise BadValue("keys collide")
    if len(set(keys)) != len(keys) and not any(_is_nan(key) for key in keys):
        raise BadValue("a key comes twice")
    return keys


def _is_nan(key: Any) -> bool:
    return isinstance(key, float) and math.isnan(key)


def _dict(body: Any, depth: int, digits: int) -> dict[Any, Any]:
    pairs = _items([_pair(item) for item in body], depth, digits)
    keys = _distinct([key for key, _ in pairs])
    return dict(zip(keys, [value for _, value in pairs], strict=True))


def _pair(item: Any) -> list[Any]:
    if type(item) is not list or len(item) != 2:
        raise BadValue("a pair is two")
    return item


def _int(body: Any, _depth: int, digits: int) -> int:
    if type(body) is not str or len(body) > digits + 3:
        raise BadValue("int")
    return int(body, 16)


def _float(body: Any, _depth: int, _digits: int) -> float:
    if body not in ("nan", "inf", "-inf"):
        raise BadValue("float")
    return float(body)


def _complex(body: Any, depth: int, digits: int) -> complex:
    real, imag = _items(body, depth + 1, digits)
    if type(real) is not float or type(imag) is not float:
        raise BadValue("complex")
    return complex(real, imag)


def _bytes(body: Any, _depth: int, _digits: int) -> bytes:
    if type(body) is not str:
        raise BadValue("bytes")
    return bytes.fromhex(body)


_BUILDERS = {
    "t": lambda body, depth, digits: tuple(_items(body, depth, digits)),
    "s": lambda body, depth, digits: set(_distinct(_items(body, depth, digits))),
    "z": lambda body, depth, digits: frozenset(_distinct(_items(body, depth, digits))),
    "d": _dict,
    "b": _bytes,
    "i": _int,
    "f": _float,
    "c": _complex,
}
