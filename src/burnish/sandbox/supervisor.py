"""The process between the caller and the jails: started by exec with a clean environment, one epoll loop.

It queues requests, hands each to a parked jail, drains and caps what the program writes, watches its
clocks, kills through pidfds, and sends back what it saw. It holds no expected value and never reads a
program or an answer.
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
from burnish.sandbox.fairqueue import FairQueue
from burnish.sandbox.groups import Groups
from burnish.sandbox.hatchery import Hatchery, Jail, host_pid
from burnish.sandbox.records import State
from burnish.sandbox.task import Task

_CHUNK = 1 << 16
_LONGEST_REQUEST = 1 << 28
_GRACE = 1.0
"""Seconds that a jail of many gets to end a case itself."""
_ATTEMPTS = 3
_RECYCLE = 50_000
"""Copies after which a zygote is replaced, so that no layout in memory lives for ever."""
_STARTS = 5
"""Zygotes in a row that may die before they are ready."""


class Supervisor:
    """State of the loop; methods are its events."""

    def __init__(self, link: socket.socket, config: dict[str, Any]):
        self.link = link
        self.config = config
        self.frames = wire.Frames(_LONGEST_REQUEST)
        self.outbox = bytearray()
        self.queue: FairQueue[Task] = FairQueue()
        # Small ints take no memory: from 1000 on, all copies find the same heap.
        self.numbers = count(1000)
        self.parked: list[Jail] = []
        self.by_fd: dict[int, Jail] = {}
        self.active: dict[int, Jail] = {}
        """Jails at work on a task, by number; sessions are not among them."""
        self.sessions: dict[int, Jail] = {}
        self.poll = select.epoll()
        self.groups = Groups(config["workers"] + 4)
        self.failures = 0
        self.stillborn = 0
        """Copies in a row that died before they were ready."""
        self.shape = (16 << 20, 1024)
        self.hatchery: Hatchery | None = None
        self.watch(link.fileno())

    def watch(self, fd: int, events: int = select.EPOLLIN) -> None:
        """Wake up when `fd` can be read."""
        self.poll.register(fd, events)

    def run(self) -> None:
        """Serve until the client goes away."""
        self.start_zygote()
        while True:
            for fd, events in self.poll.poll(self.patience()):
                if fd == self.link.fileno():
                    if not self.hear_client(events):
                        return
                elif self.hatchery and fd == self.hatchery.control.fileno():
                    self.hear_zygote()
                elif fd in self.by_fd:
                    self.hear_jail(self.by_fd[fd], fd, events)
            self.check_clocks()
            self.dispatch()

    # The zygote

    def start_zygote(self) -> None:
        """Start one; parked copies are made when it reports."""
        self.hatchery = Hatchery(self.config["zygote"], self.config["root"])
        self.watch(self.hatchery.control.fileno())

    def hear_zygote(self) -> None:
        """It is ready, could not start, tells of a run's end, or is dead."""
        if self.hatchery is None:
            return
        message = self.hatchery.hear()
        if message is None:
            self.replace_zygote("the zygote died")
        elif "failed" in message:
            self.failures = _STARTS
            self.replace_zygote(message["failed"])
        elif "ready" in message:
            self.hatchery.ready = message
            self.failures = 0
            self.say({"ready": message["versions"], "memory_counted": self.groups.usable})
            self.refill()
        else:
            jail = self.hatchery.jails.pop(message["id"], None)
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
            self.say({"fatal": why})
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
        for fd in (jail.control.fileno(), jail.out, jail.err):
            self.by_fd[fd] = jail
            self.watch(fd)
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
                self.kill(jail, "unused")
            self.refill()
        ready = [jail for jail in self.parked if jail.pidfd >= 0]
        if not ready:
            return None
        self.parked.remove(ready[0])
        return ready[0]

    def begin(self, jail: Jail, task: Task) -> None:
        """Hand the task over and start its clocks."""
        limits = task.limits
        jail.task, jail.task_first, jail.single = task, task.first, task.single
        task.attempts += 1
        jail.cpu_base = self.cpu(jail) or 0.0
        jail.group = self.groups.take(jail.pid, limits)
        jail.group_base = self.groups.cpu(jail.group) if jail.group >= 0 else 0.0
        jail.started = time.monotonic()
        self.start_clocks(jail, limits)
        counted = jail.group >= 0
        start = wire.pack({"first": task.first, "counted": counted})
        jail.unsent = memoryview(start + task.job)
        if task.mode == "session":
            self.sessions[task.number] = jail
            self.say({"id": task.number, "opened": True})
            jail.deadline = 0.0
        else:
            self.active[jail.number] = jail
        self.push(jail)

    def start_clocks(self, jail: Jail, limits: dict[str, Any]) -> None:
        """Deadline of a case from now on."""
        now = time.monotonic()
        grace = 0.0 if jail.single else _GRACE
        jail.deadline = now + limits["wall_seconds"] + grace
        jail.next_cpu = now + limits["cpu_seconds"] / self.config["cores"]

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
            self.poll.modify(jail.control.fileno(), wanted)

    def hear_jail(self, jail: Jail, fd: int, events: int) -> None:
        """Bytes from a jail's pipes or its control socket."""
        if fd != jail.control.fileno():
            self.read_output(jail, fd)
            return
        if events & select.EPOLLOUT:
            self.push(jail)
        if events & (select.EPOLLIN | select.EPOLLHUP):
            self.read_control(jail)

    def read_output(self, jail: Jail, fd: int) -> bool:
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
            self.kill(jail, "output")
        return True

    def read_control(self, jail: Jail) -> bool:
        """Take what the control socket has; False when it is empty or closed."""
        try:
            if jail.pidfd < 0:
                data, fds, _, _ = socket.recv_fds(jail.control, 1, 1)
                if fds:
                    jail.pidfd, jail.pid = fds[0], host_pid(fds[0])
                    self.stillborn = 0
            else:
                data = jail.control.recv(_CHUNK)
        except BlockingIOError:
            return False
        except ConnectionError:
            data = b""
        if not data:
            self.forget(jail.control.fileno())
            return False
        if jail.task:
            self.take_answer(jail, data)
        return True

    def take_answer(self, jail: Jail, data: bytes) -> None:
        """Bytes of an answer, of a report about a case, or of a session's reply."""
        if not jail.running:
            jail.running = data.startswith(tasks.STARTED)
            data = data[1:]
        limits = jail.task.limits
        jail.answer += data
        if jail.single or jail.killed:
            if len(jail.answer) > limits["value_bytes"] + _CHUNK:
                self.kill(jail, "protocol")
            return
        longest = 2 * limits["output_bytes"] + limits["value_bytes"] + 2 * _CHUNK
        frames = wire.Frames(longest)
        frames.buffer, jail.answer = jail.answer, bytearray()
        try:
            for header, blob in frames.feed(b""):
                self.take_report(jail, header, blob)
        except wire.FrameError:
            self.kill(jail, "protocol")
        jail.answer = frames.buffer

    def take_report(self, jail: Jail, header: dict[str, Any], blob: bytes) -> None:
        """One case of many, or one piece of a session."""
        if jail.task.mode == "session":
            self.answer_session(jail, header)
        elif not jail.task.done:
            tasks.add_reported(jail.task, header, blob)
            self.start_clocks(jail, jail.task.limits)

    def forget(self, fd: int) -> None:
        """Stop watching a descriptor."""
        if self.by_fd.pop(fd, None):
            self.poll.unregister(fd)

    def kill(self, jail: Jail, why: str) -> None:
        """End a jail; process 1 of its namespace takes all others with it."""
        jail.killed = jail.killed or why
        with suppress(ProcessLookupError, OSError):
            if jail.pidfd >= 0:
                signal.pidfd_send_signal(jail.pidfd, signal.SIGKILL)
            else:
                jail.control.shutdown(socket.SHUT_RDWR)

    def end(self, jail: Jail, ended: dict[str, Any] | None) -> None:
        """A jail is gone, or its zygote (`ended` is None): take what is left, record it, let go."""
        for fd in jail.outputs:
            while fd in self.by_fd and not jail.killed and self.read_output(jail, fd):
                pass
        while jail.control.fileno() in self.by_fd and self.read_control(jail):
            pass
        for fd in (jail.control.fileno(), jail.out, jail.err):
            self.forget(fd)
        if ended and jail.group >= 0:
            # What process 1 did not wait for is missing in the kernel's account of it.
            ended["cpu"] = max(ended["cpu"], self.cpu(jail) or 0.0)
        out_of_memory = self.groups.give_back(jail.group)
        if jail in self.parked:
            self.parked.remove(jail)
        if self.active.pop(jail.number, None):
            self.settle(jail, ended, out_of_memory)
        elif jail.task and jail.task.mode == "session":
            self.end_session(jail, ended, out_of_memory)
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
            words = bytes(jail.outputs[jail.err][-500:]).decode(errors="replace").strip()
            self.replace_zygote(words or "a run died on its way into the jail")

    def settle(self, jail: Jail, ended: dict[str, Any] | None, out_of_memory: bool) -> None:
        """Record what the jail's end means for its task; go on with the rest or answer."""
        task: Task = jail.task
        if ended is None or not (jail.running or jail.killed):
            words = bytes(jail.outputs[jail.err][-500:]).decode(errors="replace").strip()
            task.detail = words or "the zygote died during the run"
            if task.attempts < _ATTEMPTS + task.first:
                self.queue.put_back(task.caller, task)
                return
            _fail_rest(task)
        elif jail.single:
            tasks.finish_single(task, jail, ended, out_of_memory)
        elif not task.done:
            tasks.finish_early(task, jail, ended, out_of_memory)
        if task.done:
            self.send(task.reply(self.config["tier"]))
        else:
            self.queue.put_back(task.caller, task)

    def refuse_all(self) -> None:
        """No zygote can be had: everything that waits ends as our error."""
        while len(self.queue):
            task = self.queue.get()
            _fail_rest(task)
            task.detail = "no zygote could be started"
            self.send(task.reply(self.config["tier"]))

    # Clocks

    def cpu(self, jail: Jail) -> float | None:
        """CPU seconds of the jail so far, by the kernel; None when it is gone."""
        try:
            if jail.group >= 0:
                return self.groups.cpu(jail.group) - jail.group_base + jail.cpu_base
            return time.clock_gettime((~jail.pid << 3) | 2)
        except OSError:
            return None

    def patience(self) -> float:
        """Seconds until some clock must be looked at."""
        due = [min(jail.deadline, jail.next_cpu) for jail in self.timed()]
        return max(0.001, min(due) - time.monotonic()) if due else -1

    def timed(self) -> list[Jail]:
        """Jails whose clocks run."""
        sessions = [jail for jail in self.sessions.values() if jail.deadline]
        return [jail for jail in (*self.active.values(), *sessions) if not jail.killed]

    def check_clocks(self) -> None:
        """Kill what is over its time."""
        now = time.monotonic()
        for jail in self.timed():
            if now >= jail.deadline:
                self.kill(jail, "wall")
            elif now >= jail.next_cpu:
                self.check_cpu(jail, now)

    def check_cpu(self, jail: Jail, now: float) -> None:
        """Kill a jail over its CPU time, or say when to look again."""
        used = self.cpu(jail)
        allowed = jail.task.limits["cpu_seconds"]
        if not jail.single and jail.task.mode != "session":
            # The jail itself counts the forks of its cases; this is the clock of the one that makes them.
            allowed += _GRACE + 0.05 * (jail.task.first - jail.task_first)
            used = time.clock_gettime((~jail.pid << 3) | 2) if used is not None else None
        left = 0.01 if used is None else allowed - (used - jail.cpu_base)
        if left <= 0:
            self.kill(jail, "cpu")
        jail.next_cpu = now + max(0.005, left / self.config["cores"])

    # The client

    def hear_client(self, events: int) -> bool:
        """Requests; False when the client has gone."""
        if events & select.EPOLLOUT:
            self.flush()
        if not events & (select.EPOLLIN | select.EPOLLHUP):
            return True
        try:
            data = self.link.recv(1 << 20)
        except BlockingIOError:
            return True
        except ConnectionError:
            return False
        if not data:
            return False
        for header, blob in self.frames.feed(data):
            self.request(header, blob)
        return True

    def request(self, header: dict[str, Any], blob: bytes) -> None:
        """One request of the client."""
        kind = header["op"]
        if kind == "run":
            self.queue.put(header["caller"], _task(header, blob))
        elif kind == "execute":
            self.execute(header, blob)
        elif kind == "close_session":
            jail = self.sessions.get(header["session"])
            if jail:
                self.kill(jail, "closed")
        elif kind == "stats":
            self.say({"id": header["id"], "stats": self.stats()})

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

    def say(self, header: dict[str, Any]) -> None:
        """A message without a blob."""
        self.send(wire.pack(header))

    def send(self, data: bytes) -> None:
        """Send to the client without ever waiting for it."""
        self.outbox += data
        self.flush()

    def flush(self) -> None:
        """Write what the client takes."""
        try:
            while self.outbox:
                del self.outbox[: self.link.send(self.outbox[: 1 << 20])]
            wanted = select.EPOLLIN
        except BlockingIOError:
            wanted = select.EPOLLIN | select.EPOLLOUT
        except OSError:
            self.outbox.clear()
            wanted = select.EPOLLIN
        self.poll.modify(self.link.fileno(), wanted)

    # Sessions

    def execute(self, header: dict[str, Any], blob: bytes) -> None:
        """Give a session its next piece; the client sends one at a time."""
        jail = self.sessions.get(header["session"])
        if jail is None or jail.killed:
            self.say({"id": header["id"], "gone": True})
            return
        jail.waiting = header["id"]
        for fd in jail.outputs:
            jail.outputs[fd].clear()
        jail.started = time.monotonic()
        jail.cpu_base = self.cpu(jail) or 0.0
        self.start_clocks(jail, jail.task.limits)
        jail.unsent = memoryview(wire.pack({}, blob))
        self.push(jail)

    def answer_session(self, jail: Jail, header: dict[str, Any]) -> None:
        """A piece has ended; a session that says so unasked is broken."""
        kind = header.get("kind")
        if jail.waiting is None or kind not in ("done", "error", "exit"):
            raise wire.FrameError("an answer nobody asked for")
        for fd in jail.outputs:
            while fd in self.by_fd and not jail.killed and self.read_output(jail, fd):
                pass
        if jail.killed:
            return
        state = State.OK if kind == "done" else State.EXITED_EARLY if kind == "exit" else State.RUNTIME_ERROR
        used = (self.cpu(jail) or 0.0) - jail.cpu_base
        facts = tasks.facts_of(0, used, time.monotonic() - jail.started, 0)
        self.reply_session(jail, state, facts)

    def reply_session(self, jail: Jail, state: State, facts: dict[str, Any]) -> None:
        """Send the result of a piece."""
        task: Task = jail.task
        outputs = [bytes(data[: task.limits["output_bytes"]]) for data in jail.outputs.values()]
        task.results.clear()
        task.add(state, (outputs[0], outputs[1], b""), **facts)
        head, blob = task.results.pop()
        number, jail.waiting, jail.deadline = jail.waiting, None, 0.0
        header = {"id": number, "cases": [head], "sizes": [len(blob)], "tier": self.config["tier"]}
        self.send(wire.pack(header | {"detail": ""}, blob))

    def end_session(self, jail: Jail, ended: dict[str, Any] | None, out_of_memory: bool) -> None:
        """A session's process is gone: an open piece gets the reason."""
        self.sessions.pop(jail.task.number, None)
        if jail.waiting is None:
            return
        status = ended["status"] if ended else 9
        limits = jail.task.limits
        used = (ended["cpu"] if ended else 0.0) - jail.cpu_base
        ending = tasks.Ending(True, status, jail.killed, "", b"", used, limits["cpu_seconds"], out_of_memory)
        facts = tasks.facts_of(status, used, time.monotonic() - jail.started, ended["peak"] if ended else 0)
        self.reply_session(jail, tasks.classify(ending), facts)

    def close(self) -> None:
        """End every jail and remove what is ours on the host."""
        if self.hatchery:
            jails = list(self.hatchery.jails.values())
            self.hatchery.close()
            for jail in jails:
                if jail.scratch:
                    shutil.rmtree(jail.scratch, ignore_errors=True)
        self.groups.close()


def _task(header: dict[str, Any], blob: bytes) -> Task:
    return Task(
        number=header["id"],
        caller=header["caller"],
        mode=header["mode"],
        cases=header["cases"],
        stop=header["stop"],
        limits=header["limits"],
        job=blob,
        whole=header["whole"],
    )


def _fail_rest(task: Task) -> None:
    while not task.done:
        task.add(State.INFRA_ERROR, (b"", b"", b""), **tasks.facts_of(0, 0.0, 0.0, 0))


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
