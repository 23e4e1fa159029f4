"""`burnish sandbox serve`: the sandbox over HTTP, for trainers that speak SandboxFusion's interface."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from burnish.sandbox.records import Policy, SandboxError

TOKEN_VARIABLE = "BURNISH_SANDBOX_TOKEN"  # noqa: S105 - the name of a variable


def serve(
    *,
    host: Annotated[
        str, Parameter(help="Address to listen on; one that others reach needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port; 0 takes a free one.")] = 8080,
    token_file: Annotated[
        Path | None, Parameter(help="File with the token; else the variable BURNISH_SANDBOX_TOKEN.")
    ] = None,
    workers: Annotated[int, Parameter(help="Programs run at the same time.")] = 2,
    queue: Annotated[int, Parameter(help="Requests that may wait; one more is answered 503.")] = 1024,
    per_caller: Annotated[int, Parameter(help="Requests of one caller that may wait; then 429.")] = 256,
    profile: Annotated[str, Parameter(help="Warmed packages: bare, numpy, or import names.")] = "bare",
    cache: Annotated[int, Parameter(help="Results kept in memory.")] = 0,
) -> int:
    """Answer /run_code, /run_jupyter and /submit until interrupted.

    Clients send `Authorization: Bearer TOKEN` where there is a token.
    """
    from burnish.sandbox.serve.server import close_server, open_server  # noqa: PLC0415 - starts with what it needs

    named = profile in ("bare", "numpy")
    policy = Policy(
        profile=profile if named else tuple(part.strip() for part in profile.split(",")),
        workers=workers,
        queue=queue,
        per_caller=per_caller,
        cache_entries=cache,
    )
    server = open_server(host, port, _token(token_file), policy)
    print(f"sandbox at {server.url}, tier {server.service.sandbox.tier.name}; Ctrl-C ends it", flush=True)
    ended = threading.Event()
    for kind in (signal.SIGINT, signal.SIGTERM):
        signal.signal(kind, lambda *_: ended.set())
    threading.Thread(target=server.serve_forever, daemon=True, name="serve").start()
    ended.wait()
    close_server(server)
    return 0


def _token(path: Path | None) -> str:
    """The token of a file, or of the environment; never of the command line, which others can read."""
    if path is None:
        return os.environ.get(TOKEN_VARIABLE, "")
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SandboxError(f"cannot read the token file {path}", got=str(error)) from None
