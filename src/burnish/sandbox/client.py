"""`Sandbox`: the caller's side. Requests go to a supervisor process; results come back as records."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import fields
from itertools import count
from typing import Any, Self

from burnish.sandbox import values, wire
from burnish.sandbox.cache import Cache
from burnish.sandbox.languages import COMPILE_MEMORY, COMPILE_PATIENCE, LANGUAGES, identity
from burnish.sandbox.link import Link
from burnish.sandbox.policy import check_code, check_request, check_totals, coded_cases, reached_tier
from burnish.sandbox.probe import Machine, probe
from burnish.sandbox.records import (
    CaseResult,
    Limits,
    Policy,
    QueueFull,
    RunRequest,
    RunResult,
    SandboxError,
    State,
)

_PAUSE = 0.005
"""Seconds before a full queue is asked again."""


class Sandbox:
    """Runs programs under a policy. Thread-safe; a context manager; close it when done.

    Raises SandboxError when the machine cannot keep the policy.
    """

    def __init__(self, policy: Policy | None = None, *, machine: Machine | None = None):
        self.policy = policy or Policy()
        self.tier = reached_tier(self.policy, machine or probe())
        self._numbers = count()
        self._lock = threading.Lock()
        self._waiting: Counter[str] = Counter()
        self._sessions = 0
        self._link = Link(self.policy, self.tier)
        self.digest = self._link.digest
        entries, share = self.policy.cache_entries, self.policy.audit_fraction
        self.cache = Cache(entries, share, self.digest) if entries else None

    def run(self, request: RunRequest) -> RunResult:
        """Run one request and wait for its result; whatever the program does is in the result."""
        if self.cache:
            found = self._look_up(self.cache, self._key(self.cache, request), request)
            if found:
                return found
        return self.submit(request).result()

    async def arun(self, request: RunRequest) -> RunResult:
        """`run` without blocking the event loop."""
        return await asyncio.wrap_future(self.submit(request))

    def run_many(self, requests: Iterable[RunRequest]) -> list[RunResult]:
        """Results in the order of the requests; waits for room in the queue instead of refusing.

        Raises SandboxError for a wrong request, when those before it have ended.
        """
        room = threading.Semaphore(max(1, min(self.policy.queue, self.policy.per_caller) // 2))
        futures: list[Future[RunResult]] = []
        try:
            for request in requests:
                room.acquire()
                future = self._submit_patiently(request)
                future.add_done_callback(lambda _: room.release())
                futures.append(future)
        finally:
            wait(futures)
        return [future.result() for future in futures]

    async def arun_many(self, requests: Iterable[RunRequest]) -> list[RunResult]:
        """`run_many` without blocking the event loop."""
        return await asyncio.to_thread(self.run_many, list(requests))

    def _submit_patiently(self, request: RunRequest) -> Future[RunResult]:
        """Queue a request as soon as others leave room for it."""
        while True:
            try:
                return self.submit(request)
            except QueueFull:
                time.sleep(_PAUSE)

    def submit(self, request: RunRequest) -> Future[RunResult]:
        """Queue a request; the future never fails for what a program does.

        Raises SandboxError for a wrong request and QueueFull when too much waits already.
        """
        if self.cache is None:
            return self._submit(request)
        key = self._key(self.cache, request)
        found = self._look_up(self.cache, key, request)
        if found is None:
            return self.cache.fly(key, request, self._submit)
        future: Future[RunResult] = Future()
        future.set_result(found)
        return future

    def _key(self, cache: Cache, request: RunRequest) -> bytes:
        try:
            return cache.key(request)
        except (TypeError, AttributeError, ValueError):
            # A request that has no key is a wrong one: this says what is wrong with it.
            check_request(request, self.tier)
            raise

    def _look_up(self, cache: Cache, key: bytes, request: RunRequest) -> RunResult | None:
        found, due = cache.get(key)
        if found and due:
            # A full queue is no reason to fail a hit.
            with suppress(QueueFull):
                cache.audit(key, request, found, self._submit)
        return found

    def _submit(self, request: RunRequest) -> Future[RunResult]:
        code = check_request(request, self.tier)
        number = next(self._numbers)
        frame = wire.pack(_header(request, number), _job(request, code))
        if len(frame) > wire.LONGEST_REQUEST:
            raise SandboxError(
                "RunRequest is too big, with its cases and files",
                got=f"{len(frame)} bytes",
                expected=f"at most {wire.LONGEST_REQUEST}",
                next_step="send its cases in several requests",
            )
        self._take_place(request.caller)
        future: Future[RunResult] = Future()
        # A run cannot be called back, so that nobody's cancelling loses a reply that others wait for.
        future.set_running_or_notify_cancel()
        future.add_done_callback(lambda _: self._free_place(request.caller))
        try:
            self._link.send(number, frame, lambda header, blob: self._finish(future, request, header, blob))
        except BaseException:
            self._free_place(request.caller)
            raise
        return future

    def _finish(
        self, future: Future[RunResult], request: RunRequest, header: Mapping[str, Any] | None, blob: bytes
    ) -> None:
        if header is None:
            lost = CaseResult(State.INFRA_ERROR)
            cases = (lost,) * len(request.cases)
            future.set_result(RunResult(cases, self.tier, self.digest, detail="the supervisor was lost"))
            return
        parts = wire.split(header["sizes"], blob)
        cases = [
            case_result(head, part, request.limits) for head, part in zip(header["cases"], parts, strict=True)
        ]
        compilation = cases.pop() if header["compiled"] else None
        digest, detail = self._digest_of(request.language), header["detail"]
        future.set_result(RunResult(tuple(cases), self.tier, digest, detail=detail, compilation=compilation))

    def _digest_of(self, language: str) -> str:
        """Digest of a result: of this sandbox, and of the tools of a language."""
        tools = identity(language)
        text = f"{self.digest} {language} {tools}"
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest() if tools else self.digest

    def _take_place(self, caller: str) -> None:
        with self._lock:
            total = self._waiting.total()
            if total >= self.policy.queue + self.policy.workers:
                raise QueueFull(
                    "the queue is full", got=f"{total} requests", expected=f"Policy.queue {self.policy.queue}"
                )
            if self._waiting[caller] >= self.policy.per_caller:
                raise QueueFull(
                    f"the queue of caller {caller!r} is full",
                    got=f"{self._waiting[caller]} requests",
                    expected=f"Policy.per_caller {self.policy.per_caller}",
                )
            self._waiting[caller] += 1

    def _take_session(self) -> None:
        with self._lock:
            if self._sessions >= self.policy.sessions:
                raise QueueFull(
                    "too many sessions are open",
                    got=f"{self._sessions} sessions",
                    expected=f"Policy.sessions {self.policy.sessions}",
                    next_step="close some, or raise Policy.sessions",
                )
            self._sessions += 1

    def _give_session_back(self) -> None:
        with self._lock:
            self._sessions -= 1

    def _free_place(self, caller: str) -> None:
        with self._lock:
            self._waiting[caller] -= 1
            if not self._waiting[caller]:
                del self._waiting[caller]

    def session(
        self,
        limits: Limits | None = None,
        seed: int = 0,
        *,
        total_cpu_seconds: float = 120.0,
        total_wall_seconds: float = 1800.0,
    ) -> Session:
        """A Python process that keeps its variables from one piece of code to the next.

        Args:
            limits: of each piece.
            seed: of `random`.
            total_cpu_seconds: CPU time of all pieces together.
            total_wall_seconds: life of the session, rests between pieces included.

        Raises:
            SandboxError: a wrong limit, or as many sessions as `Policy.sessions` are open (`QueueFull`).
        """
        check_totals(total_cpu_seconds, total_wall_seconds)
        totals = {"total_cpu_seconds": total_cpu_seconds, "total_wall_seconds": total_wall_seconds}
        return Session(self, limits or Limits(), seed, totals)

    def stats(self) -> dict[str, Any]:
        """Counts of the supervisor: parked, active and waiting jails, its process number."""
        header, _ = self._link.ask(next(self._numbers), {"op": "stats"})
        return header["stats"] if header else {}

    def close(self) -> None:
        """End the supervisor and every run; idempotent."""
        self._link.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Session:
    """Code in instalments within one jail; each piece has the limits of a case. Close it when done."""

    def __init__(self, sandbox: Sandbox, limits: Limits, seed: int, totals: Mapping[str, float]):
        request = RunRequest("", limits=limits, seed=seed)
        check_request(request, sandbox.tier)
        self.limits = limits
        self._sandbox = sandbox
        self._numbers = sandbox._numbers
        self._link = sandbox._link
        self._number = next(self._numbers)
        self._lock = threading.Lock()
        self._open = False
        header = _header(request, self._number) | {"mode": "session", "whole": True}
        header["limits"] = {**_table(limits), **totals}
        sandbox._take_session()
        self._open = True
        try:
            self._link.ask(self._number, header, _job(request, b"", mode="session"))
        except BaseException:
            self._let_go()
            raise

    def execute(self, code: str) -> CaseResult:
        """Run a piece; the value of a last expression is printed, as at a prompt.

        A piece that breaks a limit or uses up a total ends the session, with the state that says which.

        Raises:
            SandboxError: the session has ended, or the code is too long or no text.
        """
        data = check_code(code)
        with self._lock:
            if not self._open:
                raise _ended()
            header, blob = self._link.ask(
                next(self._numbers), {"op": "execute", "session": self._number}, data
            )
        if header is None or header.get("gone"):
            self._let_go()
            raise _ended()
        return case_result(header["cases"][0], blob, self.limits)

    async def aexecute(self, code: str) -> CaseResult:
        """`execute` without blocking the event loop."""
        return await asyncio.to_thread(self.execute, code)

    def close(self) -> None:
        """End the session's process; idempotent."""
        if self._open:
            self._link.post(wire.pack({"op": "close_session", "session": self._number}))
        self._let_go()

    def _let_go(self) -> None:
        if self._open:
            self._open = False
            self._sandbox._give_session_back()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _ended() -> SandboxError:
    return SandboxError(
        "this session has ended",
        got="it was closed, broke a limit, used up a total, or its process was lost",
        next_step="open another with Sandbox.session(); its variables begin anew",
    )


def case_result(head: Mapping[str, Any], blob: bytes, limits: Limits) -> CaseResult:
    """A case's record from its frame; a value that does not decode becomes a protocol error."""
    out, err, coded = wire.split(head["lens"], blob)
    state, value = State(head["state"]), None
    if state is State.OK and coded:
        try:
            value = values.decode(
                coded, depth=limits.value_depth, size=limits.value_bytes, digits=limits.int_digits
            )
        except values.BadValue:
            state = State.PROTOCOL_ERROR
    return CaseResult(
        state, out, err, value, head["exit"], head["signal"], head["cpu"], head["wall"], head["peak"]
    )


_LIMITS = tuple(field.name for field in fields(Limits))


def _table(limits: Limits) -> dict[str, Any]:
    return {name: getattr(limits, name) for name in _LIMITS}


def _header(request: RunRequest, number: int) -> dict[str, Any]:
    calls = request.cases[0].call is not None
    limits, language = request.limits, LANGUAGES[request.language]
    needed = max(limits.memory_bytes + language.base_bytes, COMPILE_MEMORY if language.compile else 0)
    return {
        "op": "run",
        "id": number,
        "caller": request.caller,
        "mode": "call" if calls else "program",
        "cases": len(request.cases),
        "stop": request.stop_at_first_failure,
        "limits": _table(limits),
        "whole": request.language != "python",
        "group_bytes": needed if language.run else limits.memory_bytes if limits.processes else 0,
        "prelude_seconds": COMPILE_PATIENCE * limits.compile_seconds if language.compile else 0.0,
    }


def _job(request: RunRequest, code: bytes, mode: str = "") -> bytes:
    """The frame that only the jail reads."""
    names = list(request.files)
    lengths, blob = wire.join((code, *request.files.values(), *coded_cases(request.cases)))
    calls = request.cases[0].call is not None
    header = {
        "mode": mode or ("call" if calls else "program"),
        "language": request.language,
        "files": names,
        "lens": lengths,
        "seed": request.seed,
        "stop": request.stop_at_first_failure,
        "limits": _table(request.limits),
    }
    return wire.pack(header, blob)
