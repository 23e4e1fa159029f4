"""An engine that starts another program for each request: the program builds the wall, our code runs inside.

What comes out of the jail is read, capped and classified here exactly as the native engine's is. Cases of
one request share one jail and run in forks of it, as there.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from burnish.sandbox import client, wire
from burnish.sandbox.engines.commands import Jail
from burnish.sandbox.policy import check_request
from burnish.sandbox.records import Policy, RunRequest, RunResult, SandboxError, State, Tier
from burnish.sandbox.task import STARTED, Task, add_reported

START_SECONDS = 30.0
"""What a builder may take before the program starts, over all wall limits."""
_ATTEMPTS = 2
_CHUNK = 1 << 16
Build = Callable[[str, Jail, int], list[str]]


@dataclass(frozen=True)
class HandOff:
    """An engine made of a command."""

    name: str
    program: str
    build: Build
    jail: Jail
    policy: Policy
    tier: Tier
    digest: str
    clean_up: Callable[[list[str]], None]
    _places: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(2))

    def run(self, request: RunRequest) -> RunResult:
        """Run one request and wait for its result.

        Raises:
            SandboxError: a wrong request, or a language that only the native engine knows.
        """
        code = check_request(request, self.tier)
        if request.language != "python":
            raise SandboxError(
                f"engine {self.name} runs Python only", got=request.language, expected="python"
            )
        task = self._task(request, code)
        with self._places:
            for _ in range(_ATTEMPTS):
                self._attempt(task)
                if task.done:
                    break
        while not task.done:
            task.add(State.INFRA_ERROR, (b"", b"", b""), **_NOTHING)
        cases = tuple(client.case_result(head, blob, request.limits) for head, blob in task.results)
        return RunResult(cases, self.tier, self.digest, detail=task.detail)

    def close(self) -> None:
        """Nothing is left between requests."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _task(self, request: RunRequest, code: bytes) -> Task:
        return Task(
            number=0,
            caller=request.caller,
            mode="call" if request.cases[0].call is not None else "program",
            cases=len(request.cases),
            stop=request.stop_at_first_failure,
            limits=asdict(request.limits),
            job=client._job(request, code),
            whole=True,
        )

    def _attempt(self, task: Task) -> None:
        """Run what is left of a task in one jail; a case during which the jail died is recorded as such."""
        first = task.first
        command = self.build(self.program, self.jail, task.limits["scratch_bytes"])
        try:
            started, status = _converse(command, task)
        finally:
            self.clean_up(command)
        if task.done:
            return
        if not started:
            task.detail = f"{self.name} ended with status {status} before the program started"
            return
        facts = _NOTHING | {"signal": -status if status < 0 else None}
        state = State.WALL_TIMEOUT if status == -signal.SIGKILL else State.EXITED_EARLY
        for _ in range(1 if task.first > first else task.cases - task.first):
            task.add(state, (b"", b"", b""), **facts)


_NOTHING: dict[str, Any] = {"exit": None, "signal": None, "cpu": 0.0, "wall": 0.0, "peak": 0}


def _converse(command: list[str], task: Task) -> tuple[bool, int]:
    """Send the job and record reports until the jail ends: whether the program started, and the status."""
    limits = task.limits
    left = task.cases - task.first
    deadline = time.monotonic() + START_SECONDS + left * (limits["wall_seconds"] + 1.0)
    with subprocess.Popen(
        command,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PATH": "/usr/bin:/bin"},
        cwd="/",
        start_new_session=True,
    ) as process:
        sender = threading.Thread(target=_send, args=(process, task), daemon=True)
        try:
            sender.start()
            started = process.stdout is not None and _listen(process.stdout.fileno(), task, deadline)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            # Nobody reads any more, so it ends at once; the pipe must not be closed under it.
            sender.join()
        return started, process.wait()


def _send(process: subprocess.Popen[bytes], task: Task) -> None:
    if process.stdin is None:
        return
    with suppress(OSError):
        wire.write_all(process.stdin.fileno(), wire.pack({"first": task.first, "counted": False}) + task.job)
    process.stdin.close()


def _listen(fd: int, task: Task, deadline: float) -> bool:
    """Record reports until the end of the stream, the deadline, or nonsense; whether the program started."""
    limits = task.limits
    frames = wire.Frames(2 * limits["output_bytes"] + limits["value_bytes"] + (1 << 20))
    started = False
    while not task.done and select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
        data = os.read(fd, _CHUNK)
        if not data or not (started or data.startswith(STARTED)):
            break
        if not started:
            started, data = True, data[len(STARTED) :]
        try:
            for header, blob in frames.feed(data):
                add_reported(task, header, blob)
        except wire.FrameError as error:
            task.detail = str(error)
            task.add(State.PROTOCOL_ERROR, (b"", b"", b""), **_NOTHING)
            break
    return started
