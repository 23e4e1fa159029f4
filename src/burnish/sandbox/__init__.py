"""Runs untrusted code and returns an *answer*, never a verdict; `README.md` says what is not covered."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from burnish.sandbox.records import (
    Call,
    Case,
    CaseResult,
    Limits,
    Plain,
    Policy,
    QueueFull,
    RunRequest,
    RunResult,
    SandboxError,
    State,
    Tier,
)

if TYPE_CHECKING:
    from burnish.sandbox.client import Sandbox, Session
    from burnish.sandbox.probe import Machine

__all__ = [
    "Call",
    "Case",
    "CaseResult",
    "Limits",
    "Machine",
    "Plain",
    "Policy",
    "QueueFull",
    "RunRequest",
    "RunResult",
    "Sandbox",
    "SandboxError",
    "Session",
    "State",
    "Tier",
]

_LATER = {"Sandbox": "client", "Session": "client", "Machine": "probe"}


def __getattr__(name: str) -> object:
    """What starts processes is imported on first use; the zygote imports this package too."""
    if name in _LATER:
        return getattr(import_module(f"burnish.sandbox.{_LATER[name]}"), name)
    raise AttributeError(f"module 'burnish.sandbox' has no attribute {name!r}")
