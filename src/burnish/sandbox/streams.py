"""What goes into jails and comes out: jobs, printed bytes, answers; drained and capped while they run."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from burnish.sandbox import wire
from burnish.sandbox.hatchery import Jail, host_pid
from burnish.sandbox.task import STARTED

_CHUNK = 1 << 16
_NONSENSE = (wire.FrameError, TypeError, KeyError, ValueError, ArithmeticError, RecursionError)
"""What a frame made by a hostile program may cause; it must never end the supervisor."""
Report = Callable[[Jail, dict[str, Any], bytes], None]
"""What to do with a frame of a jail; FrameError when it makes no sense."""


class Streams:
    """The descriptors of all jails, and what to do when one of them can be read."""

    def __init__(self, poll: select.epoll, report: Report):
        self._poll = poll
        self._report = report
        self.jails: dict[int, Jail] = {}
        """By descriptor."""

    def add(self, jail: Jail) -> None:
        """Watch a new jail."""
        for fd in (jail.control.fileno(), jail.out, jail.err):
            self.jails[fd] = jail
            self._poll.register(fd, select.EPOLLIN)

    def forget(self, fd: int) -> None:
        """Stop watching a descriptor."""
        if self.jails.pop(fd, None):
            self._poll.unregister(fd)

    def forget_all(self, jail: Jail) -> None:
        """Stop watching a jail."""
        for fd in (jail.control.fileno(), jail.out, jail.err):
            self.forget(fd)

    def push(self, jail: Jail) -> None:
        """Send what is left of the job; a program that does not read only hurts itself."""
        try:
            while jail.unsent:
                jail.unsent = jail.unsent[jail.control.send(jail.unsent) :]
            wanted = select.EPOLLIN
        except BlockingIOError:
            wanted = select.EPOLLIN | select.EPOLLOUT
        except OSError:
            jail.unsent, wanted = memoryview(b""), select.EPOLLIN
        with suppress(FileNotFoundError):
            self._poll.modify(jail.control.fileno(), wanted)

    def hear(self, fd: int, events: int) -> None:
        """Something happened on a descriptor of a jail."""
        jail = self.jails[fd]
        if fd != jail.control.fileno():
            self._read_output(jail, fd)
            return
        if events & select.EPOLLOUT:
            self.push(jail)
        if events & (select.EPOLLIN | select.EPOLLHUP):
            self._read_control(jail)

    def drain_output(self, jail: Jail) -> None:
        """Take all that is in the pipes now."""
        for fd in jail.outputs:
            while fd in self.jails and not jail.killed and self._read_output(jail, fd):
                pass

    def drain(self, jail: Jail) -> None:
        """Take all that a jail left."""
        self.drain_output(jail)
        while jail.control.fileno() in self.jails and self._read_control(jail):
            pass

    def _read_output(self, jail: Jail, fd: int) -> bool:
        """Take what a pipe has, up to the cap; False when it is empty or closed."""
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self.forget(fd)
            return False
        kept = jail.outputs[fd]
        cap = jail.task.limits["output_bytes"] if jail.task else _CHUNK
        kept += data[: cap + 1 - len(kept)]
        if len(kept) > cap:
            jail.kill("output")
        return True

    def _read_control(self, jail: Jail) -> bool:
        """Take what the control socket has; False when it is empty or closed."""
        try:
            data = _announced(jail) if jail.pidfd < 0 else jail.control.recv(_CHUNK)
        except BlockingIOError:
            return False
        except ConnectionError:
            data = b""
        if not data:
            self.forget(jail.control.fileno())
            return False
        if jail.task:
            self._take_answer(jail, data)
        return True

    def _take_answer(self, jail: Jail, data: bytes) -> None:
        """Bytes of an answer, of a report about a case, or of a session's reply."""
        if not jail.running:
            jail.running = data.startswith(STARTED)
            data = data[1:]
        jail.answer += data
        if jail.single or jail.killed:
            if len(jail.answer) > jail.task.limits["value_bytes"] + _CHUNK:
                jail.kill("protocol")
            return
        try:
            for header, blob in self._frames_of(jail):
                self._report(jail, header, blob)
        except _NONSENSE:
            jail.kill("protocol")

    @staticmethod
    def _frames_of(jail: Jail) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Frames that are complete; the rest stays."""
        limits = jail.task.limits
        frames = wire.Frames(2 * limits["output_bytes"] + limits["value_bytes"] + 2 * _CHUNK)
        frames.buffer, jail.answer = jail.answer, bytearray()
        try:
            yield from frames.feed(b"")
        finally:
            jail.answer = frames.buffer


def _announced(jail: Jail) -> bytes:
    """A jail's first byte, with the descriptor of its process."""
    data, fds, _, _ = socket.recv_fds(jail.control, 1, 1)
    if fds:
        jail.pidfd, jail.pid = fds[0], host_pid(fds[0])
    return data
