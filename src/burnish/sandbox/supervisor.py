"""The process between the caller and the jails: started by exec with a clean environment, one epoll loop.

It queues requests, hands each to a parked jail, drains and caps what the program writes (`streams`),
watches its clocks (`clocks`), kills through pidfds, and sends back what it saw (`outlet`). It holds no
expected value and never reads a program or an answer.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import tempfile
import time
from contextlib import suppress
from itertools import count
from typing import Any

from burnish.sandbox import syscalls as sc
from burnish.sandbox import task as tasks
from burnish.sandbox import wire
from burnish.sandbox.clocks import Clocks
from burnish.sandbox.conversations import Conversations
from burnish.sandbox.fairqueue import FairQueue
from burnish.sandbox.groups import Groups
from burnish.sandbox.hatchery import Hatchery, Jail
from burnish.sandbox.outlet import Outlet
from burnish.sandbox.streams import Streams
from burnish.sandbox.task import Task

_ATTEMPTS = 3
_RECYCLE = 50_000
"""Copies after which a zygote is replaced, so that no layout in memory lives for ever."""
_STARTS = 5
"""Zygotes in a row that may die before they are ready."""


class Supervisor:
    """State of the loop; methods are its events."""

    def __init__(self, link: socket.socket, config: dict[str, Any]):
        self.config = config
        self.poll = select.epoll()
        self.queue: FairQueue[Task] = FairQueue()
        # Small ints take no memory: from 1000 on, all copies find the same heap.
        self.numbers = count(1000)
        self.parked: list[Jail] = []
        self.active: dict[int, Jail] = {}
        """Jails at work on a task, by number; sessions are not among them."""
        self.groups = Groups(config["workers"] + 4)
        self.clocks = Clocks(self.groups, config["cores"])
        self.streams = Streams(self.poll, self.take_report)
        self.outlet = Outlet(link, self.poll)
        self.sessions = Conversations(self.outlet, self.streams, self.clocks, config["tier"])
        self.failures = 0
        self.stillborn = 0
        """Copies in a row that died before they were ready."""
        self.shape = (16 << 20, 1024)
        self.hatchery: Hatchery | None = None

    def run(self) -> None:
        """Serve until the caller goes away."""
        self.start_zygote()
        with suppress(EOFError):
            while True:
                for fd, events in self.poll.poll(self.patience()):
                    self.hear(fd, events)
                self.check_clocks()
                self.dispatch()

    def hear(self, fd: int, events: int) -> None:
        """One event; EOFError when the caller has gone."""
        if fd == self.outlet.fileno():
            for header, blob in self.outlet.hear(events):
                self.request(header, blob)
        elif self.hatchery and fd == self.hatchery.control.fileno():
            self.hear_zygote(self.hatchery)
        elif fd in self.streams.jails:
            self.streams.hear(fd, events)

    # The zygote

    def start_zygote(self) -> None:
        """Start one; parked copies are made when it reports."""
        self.hatchery = Hatchery(self.config["zygote"], self.config["root"])
        self.poll.register(self.hatchery.control.fileno(), select.EPOLLIN)

    def hear_zygote(self, hatchery: Hatchery) -> None:
        """It is ready, could not start, tells of a run's end, or is dead."""
        message = hatchery.hear()
        if message is None:
            self.replace_zygote("the zygote died")
        elif "failed" in message:
            self.failures = _STARTS
            self.replace_zygote(message["failed"])
        elif "ready" in message:
            hatchery.ready = message
            self.failures = 0
            self.outlet.say({"ready": message["versions"], "memory_counted": self.groups.usable})
            self.refill()
        else:
            jail = hatchery.jails.pop(message["id"], None)
            if jail:
                self.end(jail, message)

    def replace_zygote(self, why: str) -> None:
        """Start another; what was under way is tried again there."""
        hatchery, self.hatchery = self.hatchery, None
        if hatchery is None:
            return
        self.poll.unregister(hatchery.control.fileno())
        hatchery.close()
        jails = list(hatchery.jails.values())
        self.failures += 1
        for jail in jails:
            jail.killed = "infra"
            self.end(jail, None)
        if self.failures >= _STARTS:
            self.outlet.say({"fatal": why})
            return
        self.start_zygote()

    # Jails

    def refill(self) -> None:
        """Keep as many copies parked as may run at once."""
        if self.hatchery is None or not self.hatchery.ready:
            return
        if self.hatchery.made >= _RECYCLE and not self.active and not self.sessions:
            self.failures -= 1
            self.replace_zygote("recycled")
            return
        while len(self.parked) < self.config["workers"]:
            self.parked.append(self.make_jail(self.hatchery, self.shape))

    def make_jail(self, hatchery: Hatchery, shape: tuple[int, int]) -> Jail:
        """Ask the zygote for a copy with a scratch of this shape."""
        scratch = "" if self.config["zygote"]["namespaces"] else _scratch_directory(self.config["scratch"])
        jail = hatchery.make(self.numbers, shape, scratch)
        self.streams.add(jail)
        return jail

    def dispatch(self) -> None:
        """Give waiting tasks to ready jails."""
        while len(self.queue) and len(self.active) < self.config["workers"]:
            if self.hatchery is None:
                return self.refuse_all()
            if not self.hatchery.ready:
                return None
            task = self.queue.get()
            jail = self.take(task)
            if jail is None:
                self.queue.put_back(task.caller, task)
                return None
            self.begin(jail, task)
            self.refill()
        return None

    def take(self, task: Task) -> Jail | None:
        """A parked jail of the shape the task needs, ready or soon to be; None to wait."""
        shape = (task.limits["scratch_bytes"], task.limits["scratch_inodes"])
        if shape != self.shape:
            self.shape = shape
            for jail in [jail for jail in self.parked if jail.shape != shape]:
                self.parked.remove(jail)
                jail.kill("unused")
            self.refill()
        ready = [jail for jail in self.parked if jail.pidfd >= 0]
        if not ready:
            return None
        self.stillborn = 0
        self.parked.remove(ready[0])
        return ready[0]

    def begin(self, jail: Jail, task: Task) -> None:
        """Hand the task over and start its clocks."""
        jail.task, jail.task_first, jail.single = task, task.first, task.single
        task.attempts += 1
        jail.cpu_base = self.clocks.used(jail) or 0.0
        jail.group = self.groups.take(jail.pid, task.group_bytes)
        jail.group_base = self.groups.cpu(jail.group) if jail.group >= 0 else 0.0
        jail.started = time.monotonic()
        self.clocks.start(jail, task.limits, task.prelude_seconds)
        start = wire.pack({"first": task.first, "counted": jail.group >= 0})
        jail.unsent = memoryview(start + task.job)
        if task.mode == "session":
            self.sessions.open(jail)
        else:
            self.active[jail.number] = jail
        self.streams.push(jail)

    def take_report(self, jail: Jail, header: dict[str, Any], blob: bytes) -> None:
        """One case of many, what a compiler said, or one piece of a session."""
        if jail.task.mode == "session":
            self.sessions.answer(jail, header)
        elif not jail.task.done:
            tasks.add_reported(jail.task, header, blob)
            self.clocks.start(jail, jail.task.limits)

    def end(self, jail: Jail, ended: dict[str, Any] | None) -> None:
        """A jail is gone, or its zygote (`ended` is None): take what is left, record it, let go."""
        self.streams.drain(jail)
        self.streams.forget_all(jail)
        if ended and jail.group >= 0:
            # What process 1 did not wait for is missing in the kernel's account of it.
            ended["cpu"] = max(ended["cpu"], self.clocks.used(jail) or 0.0)
        out_of_memory = self.groups.give_back(jail.group)
        if jail in self.parked:
            self.parked.remove(jail)
        if self.active.pop(jail.number, None):
            self.settle(jail, ended, out_of_memory)
        elif jail.task and jail.task.mode == "session":
            self.sessions.end(jail, ended, out_of_memory)
        jail.close()
        if jail.scratch:
            shutil.rmtree(jail.scratch, ignore_errors=True)
        if ended is not None:
            self.mourn(jail)
        self.refill()

    def mourn(self, jail: Jail) -> None:
        """A parked copy died: once may be chance, many times in a row is a jail that cannot be entered."""
        self.stillborn += jail.pidfd < 0 and not jail.killed
        if self.stillborn >= _STARTS and self.hatchery:
            self.failures = _STARTS
            self.replace_zygote(_last_words(jail) or "a run died on its way into the jail")

    def settle(self, jail: Jail, ended: dict[str, Any] | None, out_of_memory: bool) -> None:
        """Record what the jail's end means for its task; go on with the rest or answer."""
        task: Task = jail.task
        if ended is None or not (jail.running or jail.killed):
            task.detail = _last_words(jail) or "the zygote died during the run"
            if task.attempts < _ATTEMPTS + task.first:
                self.queue.put_back(task.caller, task)
                return
            tasks.fail_rest(task)
        elif jail.single:
            tasks.finish_single(task, jail, ended, out_of_memory)
        elif not task.done:
            tasks.finish_early(task, jail, ended, out_of_memory)
        if task.done:
            self.outlet.send(task.reply(self.config["tier"]))
        else:
            self.queue.put_back(task.caller, task)

    def refuse_all(self) -> None:
        """No zygote can be had: everything that waits ends as our error."""
        while len(self.queue):
            task = self.queue.get()
            tasks.fail_rest(task)
            task.detail = "no zygote could be started"
            self.outlet.send(task.reply(self.config["tier"]))

    # Clocks

    def timed(self) -> list[Jail]:
        """Jails whose clocks run."""
        return [jail for jail in (*self.active.values(), *self.sessions.timed()) if not jail.killed]

    def patience(self) -> float:
        """Seconds that the loop may sleep."""
        patience = self.clocks.patience(self.timed())
        life = self.sessions.next_end() - time.monotonic()
        return patience if life == float("inf") else max(0.001, min(life, patience if patience > 0 else life))

    def check_clocks(self) -> None:
        """Kill what is over its time."""
        for jail, why in self.clocks.overdue(self.timed()):
            jail.kill(why)
        for jail in self.sessions.expired():
            jail.kill("wall")

    # The caller

    def request(self, header: dict[str, Any], blob: bytes) -> None:
        """One request."""
        kind = header["op"]
        if kind == "run":
            self.queue.put(header["caller"], tasks.read_task(header, blob))
        elif kind == "execute":
            self.sessions.execute(header, blob)
        elif kind == "close_session":
            self.sessions.close(header["session"])
        elif kind == "stats":
            self.outlet.say({"id": header["id"], "stats": self.stats()})

    def stats(self) -> dict[str, Any]:
        """Counts for tests and for `doctor`."""
        return {
            "pid": os.getpid(),
            "zygote": self.hatchery.process.pid if self.hatchery else 0,
            "waiting": len(self.queue),
            "active": len(self.active),
            "parked": len(self.parked),
            "sessions": len(self.sessions),
            "made": self.hatchery.made if self.hatchery else 0,
            "files": len(os.listdir("/proc/self/fd")),
        }

    def close(self) -> None:
        """End every jail and remove what is ours on the host."""
        if self.hatchery:
            jails = list(self.hatchery.jails.values())
            self.hatchery.close()
            for jail in jails:
                if jail.scratch:
                    shutil.rmtree(jail.scratch, ignore_errors=True)
        self.groups.close()


def _last_words(jail: Jail) -> str:
    return bytes(jail.outputs[jail.err][-500:]).decode(errors="replace").strip()


def _scratch_directory(base: str) -> str:
    return tempfile.mkdtemp(prefix="burnish-run-", dir=base or None)


def main(argument: str, fd: int) -> None:
    """Entry point after exec: the configuration as JSON, and the client's socket."""
    config = json.loads(argument)
    link = socket.socket(fileno=fd)
    link.setblocking(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        sc.set_personality(sc.ADDR_NO_RANDOMIZE)
    supervisor = Supervisor(link, config)
    try:
        supervisor.run()
    finally:
        supervisor.close()
