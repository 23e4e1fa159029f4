"""Running cases: in chunks, so that a hopeless program stops early, and once more where we failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from burnish.sandbox.judging.checks import Engine, Outcome
from burnish.sandbox.records import Case, CaseResult, Limits, RunRequest, State, Tier

SLOW = frozenset({State.CPU_TIMEOUT, State.WALL_TIMEOUT, State.MEMORY_LIMIT, State.OUTPUT_LIMIT})
"""States that cost as much as the limits allow."""
STRIKES = 2
"""Slow cases after which the remaining ones are not run."""
FIRST_CHUNK, CHUNK = 4, 16
SHOWN = 200
"""Characters of what a program wrote that a reason quotes."""
TRIES = 2
"""How often a run is tried that ended in `infra_error`."""


_NOT_RUN = b"not run, because of how cases before it ended"


class Fault(Exception):
    """Something of ours broke, whatever the program did."""


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms a program is judged."""

    limits: Limits = field(default_factory=Limits)
    until_failure: bool = False
    """Stop at the first case that does not end well; for rewards that need all to pass."""
    seed: int = 0
    caller: str = ""
    language: str = "python"

    def request(self, code: str, cases: Sequence[Case], limits: Limits | None = None) -> RunRequest:
        """A request to run Python or, for programs, the language of these terms."""
        return RunRequest(
            code, "python", tuple(cases), limits or self.limits, seed=self.seed, caller=self.caller
        )


@dataclass(frozen=True, slots=True)
class Runs:
    """What the cases of a program gave; those that were not run have the state that ended the run."""

    cases: tuple[CaseResult, ...]
    tier: Tier = Tier.NONE
    digest: str = ""


def run_cases(
    engine: Engine, request: RunRequest, *, until_failure: bool = False, trusted: bool = False
) -> Runs:
    """The results of all cases of a request, in order.

    Args:
        engine: what runs programs.
        request: the program with its cases.
        until_failure: do not run what follows the first case that did not end well.
        trusted: the program is ours, so all cases are run at once.

    Raises:
        Fault: a run ended in `infra_error` twice.
    """
    request = replace(request, stop_at_first_failure=until_failure)
    found: list[CaseResult] = []
    tiers: list[Tier] = []
    digest = ""
    for chunk in [request.cases] if trusted else _chunks(request.cases):
        cases, tier, digest = _surely(engine, replace(request, cases=tuple(chunk)))
        found += cases
        tiers.append(tier)
        if len(cases) < len(chunk) or sum(case.state in SLOW for case in found) >= STRIKES:
            break
    found += [_not_run(found)] * (len(request.cases) - len(found))
    return Runs(tuple(found), min(tiers, default=Tier.NONE), digest)


def _not_run(before: Sequence[CaseResult]) -> CaseResult:
    """A case left out, with the last state that was not ok."""
    states = (case.state for case in reversed(before) if case.state is not State.OK)
    return CaseResult(next(states, State.WALL_TIMEOUT), stderr=_NOT_RUN)


def _chunks(cases: Sequence[Case]) -> Iterator[Sequence[Case]]:
    yield cases[:FIRST_CHUNK]
    for start in range(FIRST_CHUNK, len(cases), CHUNK):
        yield cases[start : start + CHUNK]


def _surely(engine: Engine, request: RunRequest) -> tuple[tuple[CaseResult, ...], Tier, str]:
    detail = ""
    for _ in range(TRIES):
        result = engine.run(request)
        if State.INFRA_ERROR not in {case.state for case in result.cases} and result.cases:
            return result.cases, result.tier, result.digest
        detail = result.detail
    raise Fault(f"the sandbox failed {TRIES} times: {detail or 'no reason given'}")


def ended_badly(name: str, case: CaseResult, *, public: bool = False) -> Outcome:
    """The outcome of a case without an answer."""
    last = case.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return Outcome(name, False, case.state, last[:SHOWN] or str(case.state), case.cpu_seconds, public)
