"""The one thing that goes wrong in a service: a request is refused, with a status that says what to do."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from burnish.sandbox.records import QueueFull, SandboxError

RETRY = {"Retry-After": "1"}


class Refused(Exception):
    """A request that was not carried out; nothing has run."""

    def __init__(self, status: HTTPStatus, detail: str, headers: Mapping[str, str] | None = None):
        self.status, self.detail, self.headers = status, detail, dict(headers or {})
        super().__init__(detail)


def bad(field: str, what: str, got: object, expected: str) -> Refused:
    """A field that cannot be used."""
    detail = f"{field} {what}\n  got:      {got!r:.120}\n  expected: {expected}"
    return Refused(HTTPStatus.UNPROCESSABLE_ENTITY, detail)


def refused_by(error: SandboxError) -> Refused:
    """What the sandbox said: 429, the caller's queue is full; 503, that of all; 422, a bad request."""
    if not isinstance(error, QueueFull):
        return Refused(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))
    own = "caller" in error.what
    status = HTTPStatus.TOO_MANY_REQUESTS if own else HTTPStatus.SERVICE_UNAVAILABLE
    return Refused(status, str(error), RETRY)
