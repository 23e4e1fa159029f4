"""Who may use the service: anybody on this machine when it listens on loopback, else whoever has the token.

Without a token a page in a browser on this machine could reach it too, so the Host must be a name of
loopback and bodies must be JSON by their type, which no page may send elsewhere unasked.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from burnish.sandbox.records import SandboxError
from burnish.sandbox.serve.errors import Refused

LEAST_TOKEN = 16


@dataclass(frozen=True, slots=True)
class Access:
    """The rule of a service."""

    host: str
    token: str = ""

    def check(self, headers: Mapping[str, str]) -> None:
        """Refuse a request without the right to be carried out."""
        if self.token:
            self._check_token(headers.get("Authorization", ""))
        elif not is_loopback(_host_of(headers.get("Host", ""))):
            raise Refused(HTTPStatus.FORBIDDEN, "the Host of a service without a token must be loopback")

    def _check_token(self, given: str) -> None:
        scheme, _, token = given.partition(" ")
        same = hmac.compare_digest(token.strip().encode(), self.token.encode())
        if scheme.lower() != "bearer" or not same:
            headers = {"WWW-Authenticate": "Bearer"}
            raise Refused(HTTPStatus.UNAUTHORIZED, "send the header `Authorization: Bearer TOKEN`", headers)


def access_for(host: str, token: str = "") -> Access:
    """The rule for an address to listen on.

    Raises:
        SandboxError: an address that others can reach without a token, or a token that can be guessed.
    """
    if token and (len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable()):
        raise SandboxError(
            "the token is too weak", expected=f"at least {LEAST_TOKEN} printable ASCII characters"
        )
    if not token and not is_loopback(host):
        raise SandboxError(
            "a service that others can reach needs a token",
            got=f"host {host!r}, no token",
            expected="a loopback address, or a token",
            next_step="set BURNISH_SANDBOX_TOKEN, or listen on 127.0.0.1",
        )
    return Access(host, token)


def is_loopback(host: str) -> bool:
    """Whether a name or address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _host_of(header: str) -> str:
    """The host of a Host header, without port and brackets."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.rpartition(":")[0] if ":" in header else header
