"""The caller's connection to its supervisor: start it, send, match replies, start another when it is lost."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from burnish.errors import suggestion
from burnish.sandbox import wire
from burnish.sandbox.probe import ROOT
from burnish.sandbox.records import Policy, SandboxError, Tier

POLICY_VERSION = "1"
"""Part of every digest: changes when the meaning of limits, states or the jail's contents does."""
_BOOT = (
    "import sys; sys.path.insert(0, {root!r}); "
    "from burnish.sandbox.supervisor import main; main({config!r}, {fd})"
)
_LONGEST_REPLY = 1 << 31
_ATTEMPTS = 3
_START_SECONDS = 120
_CLOSE_SECONDS = 10
Reply = Callable[[Mapping[str, Any] | None, bytes], None]


class Link:
    """A supervisor process, its socket, and the replies that are awaited."""

    def __init__(self, policy: Policy, tier: Tier):
        self._config = configuration(policy, tier)
        self._lock = threading.Lock()
        self._pending: dict[int, tuple[bytes, Reply, int]] = {}
        self._closed = False
        self.trouble = ""
        """What the supervisor said when it could start no more jails."""
        self._start()
        self.digest = _digest(policy, tier, self._versions, self._config)

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        boot = _BOOT.format(root=ROOT, config=json.dumps(self._config), fd=theirs.fileno())
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-s", "-P", "-B", "-c", boot],
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=None,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        theirs.close()
        self._socket = ours
        self._versions = self._await_ready(ours)
        self._reader = threading.Thread(target=self._read, args=(ours,), daemon=True, name="sandbox-replies")
        self._reader.start()

    def _await_ready(self, link: socket.socket) -> dict[str, str]:
        link.settimeout(_START_SECONDS)
        try:
            frame = wire.read_frame(link.fileno()) if _readable(link) else None
        finally:
            link.settimeout(None)
        header: dict[str, Any] = frame[0] if frame else {"fatal": "the supervisor ended at once"}
        if "ready" not in header:
            self._process.kill()
            self._process.wait()
            link.close()
            raise SandboxError(
                "the sandbox could not be started",
                got=header.get("fatal"),
                next_step="run `burnish sandbox doctor`",
            )
        return header["ready"]

    def send(self, number: int, frame: bytes, reply: Reply) -> None:
        """Send a request; `reply` is called once, from another thread, with None when it was lost."""
        with self._lock:
            if self._closed:
                raise SandboxError("this sandbox is closed", next_step="make another one")
            self._pending[number] = (frame, reply, 1)
            self._write(frame)

    def post(self, frame: bytes) -> None:
        """Send what has no reply."""
        with self._lock:
            self._write(frame)

    def ask(
        self, number: int, header: dict[str, Any], blob: bytes = b""
    ) -> tuple[Mapping[str, Any] | None, bytes]:
        """Send and wait; None as header when the supervisor was lost."""
        done = threading.Event()
        box: list[tuple[Mapping[str, Any] | None, bytes]] = []

        def reply(head: Mapping[str, Any] | None, body: bytes) -> None:
            box.append((head, body))
            done.set()

        self.send(number, wire.pack(header | {"id": number}, blob), reply)
        done.wait()
        return box[0]

    def _write(self, frame: bytes) -> None:
        # A broken socket is seen by the reading thread, which sends everything again elsewhere.
        with suppress(OSError):
            self._socket.sendall(frame)

    def _read(self, link: socket.socket) -> None:
        frames = wire.Frames(_LONGEST_REPLY)
        while True:
            try:
                data = link.recv(1 << 20)
            except OSError:
                data = b""
            if not data:
                break
            for header, blob in frames.feed(data):
                if "fatal" in header:
                    self.trouble = header["fatal"]
                self._deliver(header, blob)
        self._lost(link)

    def _deliver(self, header: dict[str, Any], blob: bytes) -> None:
        with self._lock:
            found = self._pending.pop(header.get("id", -1), None)
        if found:
            found[1](header, blob)

    def _lost(self, link: socket.socket) -> None:
        """The supervisor is gone: start another and send it what was waiting, or give up."""
        with self._lock:
            link.close()
            closed = self._closed
            pending, self._pending = self._pending, {}
            _wait_for(self._process, _CLOSE_SECONDS if closed else 0)
            if not closed:
                try:
                    self._start()
                except SandboxError:
                    self._closed = closed = True
            for number, (frame, reply, attempts) in list(pending.items()):
                if not closed and attempts < _ATTEMPTS:
                    self._pending[number] = (frame, reply, attempts + 1)
                    self._write(frame)
                    del pending[number]
        for _, reply, _ in pending.values():
            reply(None, b"")

    def close(self) -> None:
        """End the supervisor; what was waiting is answered as lost."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
        self._reader.join()


def _wait_for(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Let a process end by itself, then end it."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _readable(link: socket.socket) -> bool:
    return bool(select.select([link], [], [], _START_SECONDS)[0])


def configuration(policy: Policy, tier: Tier) -> dict[str, Any]:
    """What the supervisor and its zygote are told, as plain data."""
    packages = (
        []
        if policy.profile == "bare"
        else ["numpy", "numpy.random"]
        if policy.profile == "numpy"
        else [*policy.profile]
    )
    layout, sites = _package_paths(packages)
    prefix = str(Path(sys.base_prefix).resolve())
    zygote = {
        "python": str(Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"),
        "namespaces": tier >= Tier.T2,
        "landlock": tier >= Tier.T1,
        "seccomp": tier >= Tier.T1,
        "packages": packages,
        "layout": [prefix, *layout],
        "path": [*_standard_library(), *sites],
        "environment": _processor(),
    }
    return {
        "zygote": zygote,
        "root": ROOT,
        "workers": policy.workers,
        "cores": len(os.sched_getaffinity(0)),
        "tier": int(tier),
        "scratch": "",
    }


def _standard_library() -> list[str]:
    library = Path(os.__file__).parent
    return [str(library), str(library / "lib-dynload")]


def _package_paths(packages: list[str]) -> tuple[list[str], list[str]]:
    """Directories of the packages with the libraries beside them, and where they are imported from."""
    layout: dict[str, None] = {}
    sites: dict[str, None] = {}
    for name in packages:
        spec = importlib.util.find_spec(name.split(".")[0])
        if spec is None or not spec.origin:
            hint = suggestion(name, ("bare", "numpy"))
            raise SandboxError(
                f"Policy.profile: no package {name!r}",
                expected="bare, numpy, or packages that are installed here",
                next_step=hint or f"pip install {name}",
            )
        if not spec.submodule_search_locations:
            raise SandboxError(f"Policy.profile: {name!r} is a single file", expected="packages")
        home = Path(spec.origin).resolve().parent
        layout[str(home)] = None
        sites[str(home.parent)] = None
        libraries = home.parent / f"{home.name}.libs"
        if libraries.is_dir():
            layout[str(libraries)] = None
    return list(layout), list(sites)


def _processor() -> dict[str, str]:
    """One kind of arithmetic on all processors of a kind."""
    with suppress(OSError):
        if " avx2 " in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace"):
            return {"OPENBLAS_CORETYPE": "Haswell"}
    return {}


def _digest(policy: Policy, tier: Tier, versions: Mapping[str, str], config: Mapping[str, Any]) -> str:
    parts = {
        "policy": POLICY_VERSION,
        "engine": policy.engine,
        "tier": int(tier),
        "versions": dict(versions),
        "environment": config["zygote"]["environment"],
        "machine": platform.machine(),
        "libc": platform.libc_ver(),
    }
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()
