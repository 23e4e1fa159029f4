"""The supervisor's side of a zygote: start it, ask for copies, hear how they ended."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

_BOOT = (
    "import sys; sys.path.insert(0, {root!r}); "
    "from burnish.sandbox.zygote import main; main({config!r}, {fd})"
)
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/home/box",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""All that a program finds in its environment."""


@dataclass(slots=True)
class Jail:
    """One copy of the zygote, parked or running, as the supervisor holds it."""

    number: int
    control: socket.socket
    out: int
    err: int
    shape: tuple[int, int]
    """Bytes and files of its scratch, which are fixed when it is made."""
    scratch: str = ""
    """Directory on the host, only without namespaces."""
    pidfd: int = -1
    pid: int = 0
    """In the supervisor's namespace; only to read its clock."""
    outputs: dict[int, bytearray] = field(default_factory=dict)
    """What came from each pipe."""
    answer: bytearray = field(default_factory=bytearray)
    killed: str = ""
    started: float = 0.0
    cpu_base: float = 0.0
    deadline: float = 0.0
    next_cpu: float = 0.0
    unsent: memoryview = field(default_factory=lambda: memoryview(b""))
    cpu_allowed: float = 0.0
    """CPU seconds of the case or piece that is running."""
    case_base: float = 0.0
    """CPU seconds of all its processes when the case began."""
    case_extra: float = 0.0
    """Seconds for what comes before the first case, such as compiling."""
    session_base: float = 0.0
    lifetime_end: float = 0.0
    task: Any = None
    task_first: int = 0
    """Cases that were answered before this jail took the task over."""
    single: bool = True
    """It runs one case, in its own process."""
    running: bool = False
    """The program has begun: what goes wrong from here on is its own doing."""
    waiting: int | None = None
    """Number of the session piece that is being executed."""
    group_base: float = 0.0
    """CPU seconds that earlier runs used in its cgroup."""
    group: int = -1
    """Slot of its cgroup, -1 without one."""

    def kill(self, why: str) -> None:
        """End it; process 1 of its namespace takes all others with it."""
        self.killed = self.killed or why
        with suppress(ProcessLookupError, OSError):
            if self.pidfd >= 0:
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
            else:
                self.control.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of every descriptor."""
        self.control.close()
        for fd in (self.out, self.err, self.pidfd):
            if fd >= 0:
                os.close(fd)


class Hatchery:
    """A zygote process and the copies it was asked for."""

    def __init__(self, config: dict[str, Any], root: str):
        """Start the zygote; it reports on `control` when it is warm."""
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        boot = _BOOT.format(root=root, config=json.dumps(config), fd=theirs.fileno())
        command = [config["python"], "-S", "-s", "-P", "-B", "-X", "utf8", "-c", boot]
        self.process = subprocess.Popen(
            command,
            env=ENVIRONMENT | config["environment"],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=sys.stderr.fileno(),
            pass_fds=(theirs.fileno(),),
        )
        theirs.close()
        self.jails: dict[int, Jail] = {}
        self.ready: dict[str, Any] = {}
        self.made = 0

    def make(self, numbers: itertools.count[int], shape: tuple[int, int], scratch: str) -> Jail:
        """Ask for a copy; it tells by its own socket when it is locked in."""
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        out, out_w = os.pipe()
        err, err_w = os.pipe()
        jail = Jail(next(numbers), control, out, err, shape, scratch)
        jail.outputs = {out: bytearray(), err: bytearray()}
        for fd in (control.fileno(), out, err):
            os.set_blocking(fd, False)
        order = {"id": jail.number, "bytes": shape[0], "inodes": shape[1], "scratch": scratch}
        try:
            socket.send_fds(self.control, [json.dumps(order).encode()], [theirs.fileno(), out_w, err_w])
        finally:
            theirs.close()
            os.close(out_w)
            os.close(err_w)
        self.jails[jail.number] = jail
        self.made += 1
        return jail

    def hear(self) -> dict[str, Any] | None:
        """The zygote's next message; None when it has died."""
        try:
            data = self.control.recv(1 << 16)
        except ConnectionError:
            data = b""
        return json.loads(data) if data else None

    def close(self) -> None:
        """End the zygote, and with it every copy that is still alive."""
        self.control.close()
        self.process.kill()
        self.process.wait()


def host_pid(pidfd: int) -> int:
    """Process number behind a pidfd, as this namespace counts; 0 when it is gone."""
    with open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii") as file:
        for line in file:
            if line.startswith("Pid:"):
                return max(0, int(line.split()[1]))
    return 0
