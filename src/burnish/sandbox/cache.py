"""Results kept in memory, keyed by all that decides them; one run for equal requests under way.

Only final states that the program alone decides are kept, only by the side that asked. A share of the
hits is run again: a result that differs is counted and forgotten.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import lru_cache

from burnish.sandbox.languages import LANGUAGES, identity
from burnish.sandbox.policy import coded_cases
from burnish.sandbox.records import Limits, RunRequest, RunResult, State

KEPT = frozenset({State.OK, State.RUNTIME_ERROR, State.EXITED_EARLY, State.BAD_TYPE, State.OUTPUT_LIMIT})
"""States that do not depend on how busy the machine is."""
Submit = Callable[[RunRequest], "Future[RunResult]"]


@dataclass(slots=True)
class CacheStats:
    """Counts since the sandbox was opened."""

    hits: int = 0
    misses: int = 0
    joined: int = 0
    """Requests that waited for an equal one under way."""
    audits: int = 0
    disagreements: int = 0


class Cache:
    """Least recently used results go first; thread-safe."""

    def __init__(self, entries: int, audit_fraction: float, digest: str):
        self.entries = entries
        self.audit_fraction = audit_fraction
        self.digest = digest.encode()
        self.stats = CacheStats()
        self._kept: OrderedDict[bytes, RunResult] = OrderedDict()
        self._flying: dict[bytes, Future[RunResult]] = {}
        self._lock = threading.Lock()

    def key(self, request: RunRequest) -> bytes:
        """Name of everything that decides a result; SandboxError when an argument is not plain."""
        code = request.code.encode(errors="surrogatepass") if isinstance(request.code, str) else request.code
        hashed = hashlib.blake2b(_settings(request.language, request.limits), digest_size=20, key=self.digest)
        files = [part for name in sorted(request.files) for part in (name.encode(), request.files[name])]
        calls = request.cases[:1] and request.cases[0].call is not None
        flags = f"{request.seed} {request.stop_at_first_failure} {len(files)} {calls}".encode()
        for part in (flags, code, *files, *coded_cases(request.cases)):
            hashed.update(b"%d:" % len(part))
            hashed.update(part)
        return hashed.digest()

    def get(self, key: bytes) -> tuple[RunResult | None, bool]:
        """The kept result, and whether this hit is to be audited."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None, False
            self._kept.move_to_end(key)
            self.stats.hits += 1
            return found, self.audit_fraction > 0 and self._is_due(key)

    def _is_due(self, key: bytes) -> bool:
        """Drawn for each hit: every k-th would pass by a result that is asked for in step with others."""
        drawn = hashlib.blake2b(b"%d" % self.stats.hits, digest_size=4, key=key).digest()
        return int.from_bytes(drawn) < self.audit_fraction * (1 << 32)

    def fly(self, key: bytes, request: RunRequest, submit: Submit) -> Future[RunResult]:
        """The future of a request: of one under way when it is equal."""
        with self._lock:
            flying = self._flying.get(key)
            if flying is not None:
                self.stats.joined += 1
                return flying
            self.stats.misses += 1
            future: Future[RunResult] = Future()
            future.set_running_or_notify_cancel()
            self._flying[key] = future
        try:
            submit(request).add_done_callback(lambda done: self._land(key, future, done))
        except BaseException as error:
            with self._lock:
                self._flying.pop(key, None)
            future.set_exception(error)
            raise
        return future

    def _land(self, key: bytes, future: Future[RunResult], done: Future[RunResult]) -> None:
        result = done.result()
        with self._lock:
            self._flying.pop(key, None)
            if all(case.state in KEPT for case in result.cases):
                self._kept[key] = replace(result, cached=True)
                while len(self._kept) > self.entries:
                    self._kept.popitem(last=False)
        future.set_result(result)

    def audit(self, key: bytes, request: RunRequest, kept: RunResult, submit: Submit) -> None:
        """Run a hit again, without anybody waiting for it."""
        submit(request).add_done_callback(lambda done: self._compare(key, kept, done.result()))

    def _compare(self, key: bytes, kept: RunResult, again: RunResult) -> None:
        with self._lock:
            self.stats.audits += 1
            if any(case.state is State.INFRA_ERROR for case in again.cases) or _same(kept, again):
                return
            self.stats.disagreements += 1
            self._kept.pop(key, None)


def _same(one: RunResult, other: RunResult) -> bool:
    def facts(result: RunResult) -> list[object]:
        return [(case.state, case.stdout, repr(case.value), case.exit_code) for case in result.cases]

    return facts(one) == facts(other)


@lru_cache(maxsize=256)
def _settings(language: str, limits: Limits) -> bytes:
    tools = identity(language) if language in LANGUAGES else ""
    return f"{language} {tools} {limits!r}".encode()
