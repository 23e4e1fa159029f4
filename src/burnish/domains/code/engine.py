"""The sandbox of this process: made when the first program is graded, one for each policy, closed at exit.

A domain stays a small value that can be sent to another process; the sandbox is not part of it.
"""

from __future__ import annotations

import atexit
import os
import threading
from concurrent.futures import ThreadPoolExecutor

from burnish.domains.settings import CodeSettings
from burnish.sandbox import Policy, RunRequest, RunResult, Tier
from burnish.sandbox.engines import open_engine
from burnish.sandbox.judging.checks import Engine
from burnish.sandbox.judging.runs import Terms
from burnish.sandbox.records import Limits

WALL_OVER_CPU = 4.0
"""Wall seconds for each CPU second: another process on the machine must not turn right into wrong."""
WALL_LEAST = 8.0

_lock = threading.Lock()
_engines: dict[tuple[int, Policy], _Apart] = {}


class _Apart:
    """Runs requests in threads of its own, so that whoever waits may be interrupted at any instant."""

    def __init__(self, policy: Policy):
        self.sandbox = open_engine(policy)
        self.threads = ThreadPoolExecutor(policy.workers, thread_name_prefix="sandbox")

    def run(self, request: RunRequest) -> RunResult:
        """The result of a request."""
        return self.threads.submit(self.sandbox.run, request).result()

    def close(self) -> None:
        """End the sandbox."""
        self.threads.shutdown(wait=False, cancel_futures=True)
        self.sandbox.close()


def policy_of(settings: CodeSettings) -> Policy:
    """The policy that settings ask for."""
    packages = tuple(filter(None, (name.strip() for name in settings.profile.split(","))))
    named = settings.profile.strip() in ("bare", "numpy")
    profile = settings.profile.strip() if named else packages
    tier = Tier(settings.tier)
    return Policy(tier=tier, profile=profile, workers=settings.workers, engine=settings.engine)


def terms_of(settings: CodeSettings, name: str = "") -> Terms:
    """On what terms programs are judged; `name` is who asks."""
    limits = Limits(
        cpu_seconds=settings.cpu_seconds,
        wall_seconds=max(WALL_LEAST, WALL_OVER_CPU * settings.cpu_seconds),
        memory_bytes=settings.memory_mb << 20,
    )
    return Terms(limits, until_failure=settings.reward != "pass_ratio", caller=name)


def engine_of(settings: CodeSettings) -> Engine:
    """The sandbox of this process for the policy of settings.

    Raises:
        SandboxError: this machine cannot keep the policy.
    """
    key = os.getpid(), policy_of(settings)
    with _lock:
        if key not in _engines:
            _engines[key] = _Apart(key[1])
        return _engines[key]


def close_engines() -> None:
    """Close every sandbox of this process; the next program opens a new one."""
    with _lock:
        own = [key for key in _engines if key[0] == os.getpid()]
        closing = [_engines.pop(key) for key in own]
    for engine in closing:
        engine.close()


atexit.register(close_engines)
