"""Frames between processes: a small JSON header and raw bytes, both of declared length.

    u32 length of all that follows | u32 length of the header | header (JSON) | blob

Nothing is ever unpickled. A reader states the longest frame it takes; a longer one is an error, not a wait.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterable, Iterator
from typing import Any

_HEAD = struct.Struct("<II")
_LENGTH = struct.Struct("<I")
_CHUNK = 1 << 20
LONGEST_REQUEST = 1 << 28
"""Bytes of a request as a frame, with all its cases and files."""


class FrameError(ValueError):
    """What was read is not a frame."""


def pack(header: dict[str, Any], *blobs: bytes) -> bytes:
    """One frame."""
    head = json.dumps(header, separators=(",", ":")).encode()
    size = len(head) + sum(map(len, blobs)) + 4
    return b"".join((_HEAD.pack(size, len(head)), head, *blobs))


def unpack(body: bytes | bytearray | memoryview) -> tuple[dict[str, Any], bytes]:
    """Header and blob of a frame without its first four bytes; FrameError when it is none."""
    view = memoryview(body)
    if len(view) < 4:
        raise FrameError("too short")
    (size,) = _LENGTH.unpack(view[:4])
    if size > len(view) - 4:
        raise FrameError("header longer than the frame")
    try:
        header = json.loads(bytes(view[4 : 4 + size]))
    except (ValueError, RecursionError) as error:
        raise FrameError(f"header is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise FrameError("header is not an object")
    return header, bytes(view[4 + size :])


def join(parts: Iterable[bytes]) -> tuple[list[int], bytes]:
    """Several byte strings as their lengths and one blob."""
    kept = list(parts)
    return [len(part) for part in kept], b"".join(kept)


def split(lengths: Iterable[int], blob: bytes) -> list[bytes]:
    """The inverse of `join`; FrameError when lengths and blob do not fit."""
    parts, at = [], 0
    for length in lengths:
        if type(length) is not int or length < 0:
            raise FrameError("a length is not a length")
        parts.append(blob[at : at + length])
        at += length
    if at != len(blob):
        raise FrameError("lengths do not add up")
    return parts


class Frames:
    """Cuts a byte stream into frames."""

    def __init__(self, longest: int):
        self.longest = longest
        self.buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Frames completed by `data`; FrameError on one that is too long or none at all."""
        self.buffer += data
        while len(self.buffer) >= 4:
            (size,) = _LENGTH.unpack_from(self.buffer)
            if size > self.longest:
                raise FrameError(f"frame of {size} bytes")
            if len(self.buffer) < 4 + size:
                return
            body = bytes(self.buffer[4 : 4 + size])
            del self.buffer[: 4 + size]
            yield unpack(body)


def read_frame(fd: int) -> tuple[dict[str, Any], bytes] | None:
    """One frame from a blocking descriptor that is trusted; None at its end."""
    head = _read_exactly(fd, 4)
    if head is None:
        return None
    body = _read_exactly(fd, _LENGTH.unpack(head)[0])
    return None if body is None else unpack(body)


def _read_exactly(fd: int, size: int) -> bytes | None:
    parts = []
    while size:
        part = os.read(fd, min(size, _CHUNK))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def write_all(fd: int, data: bytes) -> None:
    """Write everything to a blocking descriptor."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
