"""A service elsewhere that speaks SandboxFusion's HTTP interface, ours included, as an engine.

Programs go as they are. For a call, code is put behind the program that makes the call and prints the coded
value as its last line; a candidate that prints such a line itself has only given another answer. There the
program runs as `__main__`. Not covered: what walls the service has; the tier is that of another host, or
what our own service says of itself on loopback.
"""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from burnish.sandbox import values
from burnish.sandbox.policy import check_request, coded_cases
from burnish.sandbox.records import Case, CaseResult, Limits, RunRequest, RunResult, SandboxError, State, Tier
from burnish.sandbox.serve.access import is_loopback

NAMES = {"python": "python", "shell": "bash", "javascript": "nodejs", "c": "c", "cpp": "cpp", "sql": "sql"}
"""Languages in the words of the interface."""
MARK = "burnish-answer:"
_SLACK = 60.0
"""Seconds that a request may take beyond its wall limit, for the queue of the service."""
_LONGEST = 256 << 20
_TAIL = """

def burnish_remote():
    import sys, types
    values = types.ModuleType("values")
    exec({source!r}, values.__dict__)
    name, args, kwargs = values.decode({coded!r}, depth=10_000, size=1 << 30, digits=1 << 20)
    found = None
    for part in name.split("."):
        owner = found() if isinstance(found, type) else found
        found = globals()[part] if found is None else getattr(owner, part)
    answer = found(*args, **kwargs)
    try:
        text = values.encode(answer, depth={depth}, size={size}, digits={digits}).decode()
    except values.BadType:
        text = "bad type"
    sys.stdout.write("\\n" + {mark!r} + text + "\\n")
burnish_remote()
"""


@lru_cache
def _values_source() -> str:
    return files("burnish.sandbox").joinpath("values.py").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Remote:
    """A service by its address, `http://host:port`."""

    url: str
    token: str = ""
    least: Tier = Tier.NONE
    """Weakest wall that is accepted."""

    @property
    def tier(self) -> Tier:
        """Another host is a kernel of its own; this one says for itself, in each result."""
        return Tier.NONE if is_loopback(urlsplit(self.url).hostname or "") else Tier.T3

    def run(self, request: RunRequest) -> RunResult:
        """Run one request, case by case; a service that does not answer is `infra_error`.

        Raises:
            SandboxError: a wrong request, or a language that the interface has no word for.
        """
        code = check_request(request, Tier.T2)
        if request.language not in NAMES:
            known = ", ".join(NAMES)
            raise SandboxError("the service knows no such language", got=request.language, expected=known)
        cases: list[CaseResult] = []
        said: dict[str, Any] = {}
        for case, coded in zip(request.cases, coded_cases(request.cases), strict=True):
            said = self._ask(
                request, self._program(code.decode("utf-8", "replace"), case, coded, request.limits), case
            )
            cases.append(_case_result(said, request.limits, calls=case.call is not None))
            if request.stop_at_first_failure and cases[-1].state is not State.OK:
                break
        tier = self._tier_of(said)
        failed = any(case.state is State.INFRA_ERROR for case in cases)
        if tier < self.least and not failed:
            raise SandboxError(
                f"the service {self.url} does not keep Policy.tier",
                got=f"tier {tier.name}",
                expected=f"tier {self.least.name}",
            )
        digest, detail = str(said.get("digest", self.url)), str(said.get("message", ""))
        return RunResult(tuple(cases), tier, digest, detail=detail)

    def _tier_of(self, said: Mapping[str, Any]) -> Tier:
        """The wall of a run: a service on this machine says, one elsewhere is another host."""
        named = str(said.get("tier"))
        return Tier[named] if self.tier is Tier.NONE and named in Tier.__members__ else self.tier

    def close(self) -> None:
        """Nothing is left between requests."""

    @staticmethod
    def _program(code: str, case: Case, coded: bytes, limits: Limits) -> str:
        if case.call is None:
            return code
        return code + _TAIL.format(
            source=_values_source(),
            coded=coded,
            depth=limits.value_depth,
            size=limits.value_bytes,
            digits=limits.int_digits,
            mark=MARK,
        )

    def _ask(self, request: RunRequest, program: str, case: Case) -> dict[str, Any]:
        """The service's answer, or one that says it failed."""
        body = {
            "code": program,
            "language": NAMES[request.language],
            "stdin": case.stdin.decode("utf-8", "replace"),
            "run_timeout": request.limits.wall_seconds if case.call is None else request.limits.cpu_seconds,
            "memory_limit_MB": max(1, request.limits.memory_bytes >> 20),
            "files": {name: base64.b64encode(data).decode() for name, data in request.files.items()},
        }
        try:
            return self._post("/run_code", body, request.limits.wall_seconds + _SLACK)
        except (OSError, http.client.HTTPException, ValueError) as error:
            return {"status": "SandboxError", "message": f"{self.url}: {error}"}

    def _post(self, path: str, body: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        parts = urlsplit(self.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=seconds)
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            connection.request("POST", parts.path.rstrip("/") + path, json.dumps(body).encode(), headers)
            answer = connection.getresponse()
            data = answer.read(_LONGEST)
        finally:
            connection.close()
        if answer.status != http.client.OK:
            raise ValueError(f"status {answer.status}: {data[:200]!r}")
        found = json.loads(data)
        if not isinstance(found, dict):
            raise ValueError("the answer is no JSON object")
        return found


def _case_result(said: Mapping[str, Any], limits: Limits, *, calls: bool) -> CaseResult:
    """A case's record from an answer; nothing in it is trusted to be of the right type."""
    ran = said.get("run_result")
    if said.get("status") not in ("Success", "Failed") or not isinstance(ran, dict):
        return CaseResult(State.INFRA_ERROR)
    out, err = (str(ran.get(name) or "").encode("utf-8", "replace") for name in ("stdout", "stderr"))
    code = ran.get("return_code")
    exit_code = code if isinstance(code, int) and code >= 0 else None
    killed_by = -code if isinstance(code, int) and code < 0 else None
    state, value = _state(said, ran), None
    if calls:
        out, found = _taken(out)
        state, value = _answer(state, found, limits)
    seconds = ran.get("cpu_time")
    cpu = float(seconds) if isinstance(seconds, int | float) else 0.0
    return CaseResult(state, out, err, value, exit_code, killed_by, cpu)


def _state(said: Mapping[str, Any], ran: Mapping[str, Any]) -> State:
    """Our own service's word for it, else what the interface can say."""
    if said.get("state") in tuple(State):
        return State(said["state"])
    if ran.get("status") == "TimeLimitExceeded":
        return State.WALL_TIMEOUT
    if said.get("status") == "Success":
        return State.OK
    code = ran.get("return_code")
    return State.SIGNAL if isinstance(code, int) and code < 0 else State.RUNTIME_ERROR


def _taken(out: bytes) -> tuple[bytes, bytes | None]:
    """What was printed without the last answer line, and that line's text."""
    before, mark, last = out.rpartition(b"\n" + MARK.encode())
    return (before, last.strip()) if mark else (out, None)


def _answer(state: State, found: bytes | None, limits: Limits) -> tuple[State, Any]:
    if state is not State.OK:
        return state, None
    if found is None:
        return State.EXITED_EARLY, None
    if found == b"bad type":
        return State.BAD_TYPE, None
    try:
        caps = {"depth": limits.value_depth, "size": limits.value_bytes, "digits": limits.int_digits}
        return State.OK, values.decode(found, **caps)
    except values.BadValue:
        return State.PROTOCOL_ERROR, None
