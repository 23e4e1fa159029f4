"""A bounded queue that takes callers in turn, so that one with ten thousand requests delays nobody else."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """First in, first out for each caller; callers in rotation."""

    def __init__(self) -> None:
        self._lines: OrderedDict[str, deque[T]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, caller: str, item: T) -> None:
        """Add at the end of the caller's line."""
        self._lines.setdefault(caller, deque()).append(item)
        self._size += 1

    def put_back(self, caller: str, item: T) -> None:
        """Add at the front of the caller's line, and that line at the front."""
        self._lines.setdefault(caller, deque()).appendleft(item)
        self._lines.move_to_end(caller, last=False)
        self._size += 1

    def get(self) -> T:
        """The next item; IndexError when there is none."""
        if not self._lines:
            raise IndexError("empty")
        caller, line = next(iter(self._lines.items()))
        item = line.popleft()
        self._size -= 1
        if line:
            self._lines.move_to_end(caller)
        else:
            del self._lines[caller]
        return item
