"""The service: plain HTTP of the standard library over one sandbox.

At most as many requests are under way as the sandbox may hold; one more is refused at once with 503 and
`Retry-After`, and with 429 when it is the caller's own share that is full. Callers are taken in turn. A
caller is the text of the header `X-Caller`, else the address of the client.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from burnish.sandbox.client import Sandbox
from burnish.sandbox.judging.judge import judge
from burnish.sandbox.judging.runs import Terms
from burnish.sandbox.records import CaseResult, Limits, Policy, SandboxError, State
from burnish.sandbox.serve.access import Access, access_for
from burnish.sandbox.serve.datasets import code_of, suite_of
from burnish.sandbox.serve.errors import RETRY, Refused, refused_by
from burnish.sandbox.serve.requests import Table, read_cells, read_run_code, read_submit, read_table
from burnish.sandbox.serve.responses import cells_response, run_code_response, submit_response

MAX_BODY = 64 << 20
IDLE_SECONDS = 30.0
"""A connection that says nothing for so long is closed."""

SPARE_CONNECTIONS = 64
"""Connections beyond one for each request that may be under way."""
_TOO_MANY = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)

Answer = tuple[HTTPStatus, dict[str, Any] | str]


@dataclass(frozen=True)
class Service:
    """What answers requests; knows nothing of HTTP but statuses."""

    sandbox: Sandbox
    limits: Limits = field(default_factory=Limits)

    def answer(self, path: str, body: bytes, caller: str) -> Answer:
        """The answer to a POST.

        Raises:
            Refused: the request was not carried out.
        """
        route = self._routes().get(path.partition("?")[0].rstrip("/"))
        if route is None:
            known = ", ".join(self._routes())
            raise Refused(HTTPStatus.NOT_FOUND, f"no such path: {path:.80}; there are {known}")
        try:
            return HTTPStatus.OK, route(read_table(body), caller)
        except SandboxError as error:
            raise refused_by(error) from None

    def _routes(self) -> dict[str, Callable[[Table, str], dict[str, Any]]]:
        return {"/run_code": self._run_code, "/run_jupyter": self._run_cells, "/submit": self._submit}

    def _run_code(self, table: Table, caller: str) -> dict[str, Any]:
        return run_code_response(self.sandbox.run(read_run_code(table, caller, self.limits)))

    def _run_cells(self, table: Table, _caller: str) -> dict[str, Any]:
        request = read_cells(table, self.limits)
        total = request.total_seconds
        cases: list[CaseResult] = []
        end = time.monotonic() + total
        with self.sandbox.session(
            request.limits, total_cpu_seconds=total, total_wall_seconds=total
        ) as session:
            for cell in request.cells:
                try:
                    cases.append(session.execute(cell))
                except SandboxError:
                    if time.monotonic() < end:
                        raise
                    return cells_response(cases, finished=False)
                if cases[-1].state not in (State.OK, State.RUNTIME_ERROR):
                    break
        timeouts = (State.CPU_TIMEOUT, State.WALL_TIMEOUT)
        return cells_response(cases, finished=not any(case.state in timeouts for case in cases))

    def _submit(self, table: Table, caller: str) -> dict[str, Any]:
        request = read_submit(table, self.limits)
        suite, code = suite_of(request), code_of(request)
        found = judge(self.sandbox, code, suite, Terms(request.limits, caller=caller))
        if found.fault:
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, found.fault, RETRY)
        return submit_response(request, code, found)


class Server(ThreadingHTTPServer):
    """Listens; a thread for each connection, and no more requests at once than the sandbox holds."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], service: Service, access: Access):
        policy = service.sandbox.policy
        self.service, self.access = service, access
        self.places = threading.BoundedSemaphore(policy.queue + policy.workers)
        self.connections = threading.BoundedSemaphore(policy.queue + policy.workers + SPARE_CONNECTIONS)
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)

    @property
    def url(self) -> str:
        """Where it listens."""
        host, port = self.server_address[:2]
        return f"http://{f'[{host}]' if ':' in str(host) else host}:{port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Give a connection its thread; one too many is told so and closed."""
        if self.connections.acquire(blocking=False):
            super().process_request(request, client_address)
            return
        with suppress(OSError):
            request.sendall(_TOO_MANY)
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer the requests of a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.connections.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "burnish-sandbox"
    sys_version = ""
    timeout = IDLE_SECONDS
    server: Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_GET(self) -> None:
        self._respond(self._get)

    def do_POST(self) -> None:
        self._respond(self._post)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: a line for each run would be the slowest part of it."""

    def _respond(self, action: Callable[[], Answer]) -> None:
        headers: dict[str, str] = {}
        try:
            status, answer = action()
        except Refused as refusal:
            status, answer, headers = refusal.status, {"detail": refusal.detail}, refusal.headers
        except Exception as error:
            status, answer = HTTPStatus.INTERNAL_SERVER_ERROR, {"detail": f"{type(error).__name__}: {error}"}
        self._send(status, answer, headers)

    def _get(self) -> Answer:
        path = self.path.partition("?")[0].rstrip("/")
        if path == "/v1/ping":
            return HTTPStatus.OK, "pong"
        self.server.access.check(dict(self.headers.items()))
        if path in ("", "/health"):
            sandbox = self.server.service.sandbox
            return HTTPStatus.OK, {
                "tier": sandbox.tier.name,
                "digest": sandbox.digest,
                "stats": sandbox.stats(),
            }
        raise Refused(HTTPStatus.NOT_FOUND, f"no such path: {path:.80}")

    def _post(self) -> Answer:
        body = self._body()
        self.server.access.check(dict(self.headers.items()))
        if self.headers.get_content_type() != "application/json":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send Content-Type: application/json")
        if not self.server.places.acquire(blocking=False):
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "the service is full; ask again", RETRY)
        try:
            caller = self.headers.get("X-Caller", "")[:200] or str(self.client_address[0])
            return self.server.service.answer(self.path, body, caller)
        finally:
            self.server.places.release()

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()):
            self.close_connection = True
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "send Content-Length")
        if len(length) > len(str(MAX_BODY)) or int(length) > MAX_BODY:
            self.close_connection = True
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body has at most {MAX_BODY} bytes")
        return self.rfile.read(int(length))

    def _send(self, status: HTTPStatus, answer: dict[str, Any] | str, headers: dict[str, str]) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def open_server(
    host: str = "127.0.0.1", port: int = 8080, token: str = "", policy: Policy | None = None
) -> Server:
    """A service that listens and does not answer yet; `serve_forever` answers, `close_server` ends it.

    Raises:
        SandboxError: an address others can reach without a token, one that is taken, or a policy that this
            machine cannot keep.
    """
    access = access_for(host, token)
    sandbox = Sandbox(policy)
    try:
        return Server((host, port), Service(sandbox), access)
    except (OSError, OverflowError) as error:
        sandbox.close()
        raise SandboxError(
            f"cannot listen on {host}:{port}",
            got=getattr(error, "strerror", None) or str(error),
            next_step="choose another --port, or end the other program",
        ) from None


def close_server(server: Server) -> None:
    """Stop answering, and end the sandbox."""
    server.shutdown()
    server.server_close()
    server.service.sandbox.close()
