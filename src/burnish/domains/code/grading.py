"""From a program to a verdict."""

from __future__ import annotations

from burnish.domains.code.engine import engine_of, terms_of
from burnish.domains.settings import CodeSettings
from burnish.records import Boundary, Faulted, Scored, Verdict
from burnish.rewards.code import SHAPES, Marks
from burnish.sandbox.judging.checks import Judgement, Suite
from burnish.sandbox.judging.judge import judge
from burnish.sandbox.records import SandboxError, State

LONGEST_CODE = 1 << 20
"""Characters of a program; a longer one is wrong, and not a request that the sandbox refuses."""
SLOW = (State.CPU_TIMEOUT, State.WALL_TIMEOUT)


def grade_program(code: str, suite: Suite, settings: CodeSettings, domain: str) -> Verdict:
    """The verdict on a program; what breaks on our side is a fault and never a wrong answer."""
    if not code.strip() or len(code) > LONGEST_CODE or "\x00" in code or not _encodes(code):
        return verdict_of(Judgement(()), len(suite), settings)
    try:
        found = judge(engine_of(settings), code, suite, terms_of(settings, domain))
    except SandboxError as error:
        return Faulted(Boundary.SANDBOX, f"{domain}: {error.what}")
    return verdict_of(found, len(suite), settings)


def verdict_of(found: Judgement, total: int, settings: CodeSettings) -> Verdict:
    """A judgement as a verdict, by the reward shape of the settings.

    Args:
        found: what became of the checks; those that were not run have not passed.
        total: how many checks there are.
        settings: the reward shape, and the CPU limit that `efficiency` is measured against.
    """
    if found.fault:
        return Faulted(Boundary.SANDBOX, found.fault)
    slowest = max((outcome.cpu_seconds for outcome in found.outcomes), default=0.0)
    marks = Marks(found.passed, total, slowest, settings.cpu_seconds)
    parts = {
        "passed": found.passed / total if total else 0.0,
        "public_only": float(found.public_only),
        "timeouts": float(sum(outcome.state in SLOW for outcome in found.outcomes)),
        "no_answer": float(sum(outcome.state is not State.OK for outcome in found.outcomes)),
        "cpu_seconds": slowest,
    }
    return Scored(SHAPES[settings.reward].unit(marks), marks.all_passed, parts)


def _encodes(code: str) -> bool:
    """Whether text is valid Unicode: a lone surrogate is no program."""
    try:
        code.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
