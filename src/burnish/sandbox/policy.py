"""Checks of a policy and of a request, before any work; every message names the field."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

from burnish.errors import suggestion
from burnish.sandbox import values
from burnish.sandbox.languages import LANGUAGES, PATH, missing
from burnish.sandbox.probe import Machine
from burnish.sandbox.records import Call, Case, Limits, Policy, RunRequest, SandboxError, Tier

MAX_CODE = 4 << 20
MAX_STDIN = 64 << 20
MAX_CASES = 100_000
_BOUNDS: dict[str, tuple[float, float]] = {
    "cpu_seconds": (0.01, 3600),
    "wall_seconds": (0.01, 24 * 3600),
    "memory_bytes": (1 << 20, 1 << 40),
    "output_bytes": (0, 1 << 28),
    "processes": (0, 512),
    "scratch_bytes": (0, 1 << 34),
    "scratch_inodes": (1, 1 << 20),
    "value_bytes": (1, 1 << 26),
    "value_depth": (1, 200),
    "int_digits": (1, 1 << 20),
    "compile_seconds": (0.01, 3600),
}


def reached_tier(policy: Policy, machine: Machine) -> Tier:
    """The tier that runs will have; SandboxError when it is weaker than the policy asks for."""
    _check_policy(policy)
    tier = machine.tier
    if tier is Tier.NONE and not policy.allow_unsafe:
        raise SandboxError(
            "this machine cannot isolate untrusted code",
            got=machine.lacking(),
            expected=f"tier {policy.tier.name}",
            next_step=machine.mend(),
        )
    if tier < policy.tier and not (tier is Tier.NONE and policy.allow_unsafe):
        raise SandboxError(
            "this machine cannot keep Policy.tier",
            got=f"tier {tier.name} ({machine.lacking() or 'the native engine ends at T2'})",
            expected=f"tier {policy.tier.name}",
            next_step=machine.mend() if machine.lacking() else "choose an engine with a kernel of its own",
        )
    return tier


def _check_policy(policy: Policy) -> None:
    for name, low, high in (
        ("workers", 1, 4096),
        ("queue", 1, 1 << 24),
        ("per_caller", 1, 1 << 24),
        ("sessions", 1, 4096),
    ):
        _within(f"Policy.{name}", getattr(policy, name), low, high, whole=True)
    _within("Policy.cache_entries", policy.cache_entries, 0, 1 << 30, whole=True)
    _within("Policy.audit_fraction", policy.audit_fraction, 0, 1)
    if policy.engine != "native":
        raise SandboxError(
            "Sandbox is the native engine",
            got=f"Policy.engine {policy.engine!r:.80}",
            next_step="open others with burnish.sandbox.engines.open_engine(policy)",
        )
    if not isinstance(policy.tier, Tier):
        known = ", ".join(f"Tier.{tier.name}" for tier in Tier)
        raise SandboxError("Policy.tier is no Tier", got=repr(policy.tier)[:80], expected=known)
    _check_profile(policy.profile)


def _check_profile(profile: object) -> None:
    if isinstance(profile, str) and profile not in ("bare", "numpy"):
        hint = suggestion(profile, ("bare", "numpy"))
        raise SandboxError(
            "unknown Policy.profile",
            got=profile,
            expected="bare, numpy, or a tuple of import names",
            next_step=hint or f"for one package write ({profile!r},)",
        )
    if not isinstance(profile, str | tuple | list):
        raise SandboxError("Policy.profile is no name and no tuple", got=repr(profile)[:80])
    for name in () if isinstance(profile, str) else profile:
        if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
            raise SandboxError("Policy.profile holds no import name", got=repr(name)[:80])


def _within(name: str, value: Any, low: float, high: float, *, whole: bool = False) -> None:
    kinds = (int,) if whole else (int, float)
    if type(value) not in kinds or math.isnan(value) or not low <= value <= high:
        kind = "a whole number" if whole else "a number"
        raise SandboxError(
            f"{name} is out of range", got=repr(value)[:80], expected=f"{kind} in [{low}, {high}]"
        )


def check_request(request: RunRequest, tier: Tier) -> bytes:
    """The program's bytes; SandboxError when anything about the request is wrong."""
    if not isinstance(request.limits, Limits):
        raise SandboxError("RunRequest.limits is no Limits", got=type(request.limits).__name__)
    check_limits(request.limits, tier)
    _check_language(request, tier)
    _within("RunRequest.seed", request.seed, 0, 2**63, whole=True)
    if not isinstance(request.caller, str) or len(request.caller) > 200:
        raise SandboxError("RunRequest.caller is no short text", got=repr(request.caller)[:80])
    _check_files(request)
    _check_cases(request)
    return check_code(request.code)


def _check_language(request: RunRequest, tier: Tier) -> None:
    name = request.language
    if not isinstance(name, str) or name not in LANGUAGES:
        hint, known = suggestion(str(name), LANGUAGES), ", ".join(LANGUAGES)
        raise SandboxError("unknown RunRequest.language", got=repr(name)[:80], expected=known, next_step=hint)
    language = LANGUAGES[name]
    lacking = missing(name)
    if lacking:
        raise SandboxError(
            f"RunRequest.language {name} needs tools that this machine lacks",
            got=f"no {', no '.join(lacking)} in {PATH}",
            next_step=f"{language.install}; `burnish sandbox doctor` lists what is there",
        )
    if language.run and tier < Tier.T2:
        raise SandboxError(
            f"RunRequest.language {name} starts processes, which need a pid namespace",
            got=f"tier {tier.name}",
            expected="tier T2, or language python",
        )
    taken = {language.file, language.setup, "program"} & set(request.files) if language.run else set()
    if taken:
        raise SandboxError("RunRequest.files has the name of the program's own file", got=min(taken))


def check_limits(limits: Limits, tier: Tier) -> None:
    """SandboxError when a limit is absurd, or cannot be kept at this tier."""
    for name, (low, high) in _BOUNDS.items():
        value = getattr(limits, name)
        if not (type(value) is int and low <= value <= high):
            _within(f"Limits.{name}", value, low, high, whole=not name.endswith("seconds"))
    if limits.processes and tier < Tier.T2:
        raise SandboxError(
            "Limits.processes needs a pid namespace, so that none outlives its run",
            got=limits.processes,
            expected=f"0 at tier {tier.name}",
        )


def check_totals(cpu_seconds: float, wall_seconds: float) -> None:
    """SandboxError when a session's totals are absurd."""
    _within("total_cpu_seconds", cpu_seconds, *_BOUNDS["cpu_seconds"])
    _within("total_wall_seconds", wall_seconds, 0.01, 7 * 24 * 3600)


def check_code(code: str | bytes) -> bytes:
    """The bytes of a program or of a session's piece; SandboxError when it is none."""
    if not isinstance(code, str | bytes):
        raise SandboxError("RunRequest.code is no text", got=type(code).__name__, expected="str or bytes")
    try:
        data = code.encode() if isinstance(code, str) else code
    except UnicodeEncodeError as error:
        raise SandboxError("RunRequest.code is not valid Unicode", got=str(error)) from None
    if len(data) > MAX_CODE:
        raise SandboxError(
            "RunRequest.code is too long", got=f"{len(data)} bytes", expected=f"at most {MAX_CODE}"
        )
    if b"\0" in data:
        raise SandboxError("RunRequest.code holds a NUL byte", got=f"at byte {data.index(0)}")
    return data


def _check_files(request: RunRequest) -> None:
    total = 0
    if not isinstance(request.files, Mapping):
        raise SandboxError(
            "RunRequest.files is no mapping", got=type(request.files).__name__, expected="name to bytes"
        )
    for name, content in request.files.items():
        if not isinstance(name, str) or not _good_name(name):
            raise SandboxError(
                "RunRequest.files has a bad name", got=repr(name)[:120], expected="a relative path without .."
            )
        if not isinstance(content, bytes):
            raise SandboxError("RunRequest.files holds no bytes", got=f"{name}: {type(content).__name__}")
        total += len(content) + 4096
    if total > request.limits.scratch_bytes or 2 * len(request.files) >= request.limits.scratch_inodes:
        if not request.files:
            return
        raise SandboxError(
            "RunRequest.files do not fit into the scratch",
            got=f"{len(request.files)} files, about {total} bytes",
            expected=f"Limits.scratch_bytes {request.limits.scratch_bytes}, "
            f"half of Limits.scratch_inodes {request.limits.scratch_inodes}",
        )


def _good_name(name: str) -> bool:
    parts = name.split("/")
    printable = name.isprintable() and len(name.encode(errors="replace")) <= 1000
    return printable and len(parts) <= 16 and all(0 < len(p) <= 100 and p not in (".", "..") for p in parts)


def _check_cases(request: RunRequest) -> None:
    cases = request.cases
    if not isinstance(cases, tuple | list) or not all(isinstance(case, Case) for case in cases):
        raise SandboxError("RunRequest.cases is no tuple of Case", got=repr(cases)[:80])
    if not cases or len(cases) > MAX_CASES:
        raise SandboxError("RunRequest.cases", got=f"{len(cases)} cases", expected=f"1 to {MAX_CASES}")
    calls = sum(case.call is not None for case in cases)
    if calls not in (0, len(cases)):
        raise SandboxError("RunRequest.cases mixes calls and programs", got=f"{calls} calls of {len(cases)}")
    if calls and request.language != "python":
        raise SandboxError("Case.call needs Python", got=request.language, expected="python")
    for case in cases:
        if case.call is not None and not isinstance(case.call, Call):
            raise SandboxError("Case.call is no Call", got=repr(case.call)[:80])
        if not isinstance(case.stdin, bytes) or len(case.stdin) > MAX_STDIN:
            raise SandboxError(
                "Case.stdin", got=type(case.stdin).__name__, expected=f"at most {MAX_STDIN} bytes"
            )


def coded_cases(cases: tuple[Case, ...]) -> Iterator[bytes]:
    """Cases as they cross the wall; SandboxError when an argument is not plain."""
    for number, case in enumerate(cases):
        if case.call is None:
            yield case.stdin
            continue
        call = case.call
        if not isinstance(call.function, str) or not _good_function(call.function):
            raise SandboxError("Call.function is no name", got=repr(call.function)[:80])
        if not isinstance(call.args, tuple | list):
            raise SandboxError("Call.args is no tuple", got=f"case {number}: {call.args!r:.80}")
        if not isinstance(call.kwargs, Mapping) or not all(isinstance(key, str) for key in call.kwargs):
            raise SandboxError(
                "Call.kwargs is no mapping of names", got=f"case {number}: {call.kwargs!r:.80}"
            )
        try:
            plain = (call.function, tuple(call.args), dict(call.kwargs))
            yield values.encode(plain, depth=300, size=MAX_STDIN, digits=1 << 18)
        except values.BadType as error:
            raise SandboxError(f"an argument of case {number} is not plain data", got=str(error)) from None


def _good_function(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def workers_of_machine() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0))
