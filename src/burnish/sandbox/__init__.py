"""Runs untrusted code and returns an *answer*, never a verdict; `README.md` says what is not covered."""

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

__all__ = [
    "Call",
    "Case",
    "CaseResult",
    "Limits",
    "Plain",
    "Policy",
    "QueueFull",
    "RunRequest",
    "RunResult",
    "SandboxError",
    "State",
    "Tier",
]
