"""The supervisor's end of the caller's socket: requests in, replies out, never waiting for the caller."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from typing import Any

from burnish.sandbox import wire


class Outlet:
    """Frames from the caller, and a buffer of what it has not taken yet."""

    def __init__(self, link: socket.socket, poll: select.epoll):
        self.link = link
        self._poll = poll
        self._frames = wire.Frames(wire.LONGEST_REQUEST)
        self._waiting = bytearray()
        poll.register(link.fileno(), select.EPOLLIN)

    def fileno(self) -> int:
        """Descriptor of the socket."""
        return self.link.fileno()

    def hear(self, events: int) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Requests that have come; EOFError when the caller has gone."""
        if events & select.EPOLLOUT:
            self._flush()
        if not events & (select.EPOLLIN | select.EPOLLHUP):
            return
        try:
            data = self.link.recv(1 << 20)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        if not data:
            raise EOFError
        yield from self._frames.feed(data)

    def say(self, header: dict[str, Any]) -> None:
        """A message without a blob."""
        self.send(wire.pack(header))

    def send(self, data: bytes) -> None:
        """Send a frame, now or when there is room."""
        self._waiting += data
        self._flush()

    def _flush(self) -> None:
        try:
            while self._waiting:
                del self._waiting[: self.link.send(self._waiting[: 1 << 20])]
            wanted = select.EPOLLIN
        except BlockingIOError:
            wanted = select.EPOLLIN | select.EPOLLOUT
        except OSError:
            self._waiting.clear()
            wanted = select.EPOLLIN
        self._poll.modify(self.link.fileno(), wanted)
