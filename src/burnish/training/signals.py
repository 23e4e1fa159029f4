"""Ctrl-C as a request: the first one asks the loop to stop after its step, the second one stops at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Self


class StopRequest:
    """Context in which SIGINT and SIGTERM set a flag instead of raising.

    Outside the main thread, where signals cannot be handled, the flag can still be set with `ask`.
    """

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._previous: dict[signal.Signals, object] = {}

    @property
    def asked(self) -> bool:
        """Whether somebody asked to stop."""
        return self._asked.is_set()

    def ask(self) -> None:
        """Ask the loop to stop after its present step."""
        self._asked.set()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.ask()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # pyright: ignore[reportArgumentType]
        self._previous = {}
