"""A warmed interpreter in its jail that does one thing: copy itself when the supervisor asks.

It holds no task's bytes, and whatever a run does happens in a copy.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from typing import Any

from burnish.sandbox import child, jobs, landlock, namespaces, seccomp
from burnish.sandbox import syscalls as sc

WARM = (
    "abc", "argparse", "array", "ast", "asyncio", "base64", "bisect", "calendar", "cmath", "codecs",
    "collections", "contextlib", "copy", "csv", "fcntl", "dataclasses", "datetime", "decimal",
    "difflib", "enum", "fractions", "functools", "hashlib", "heapq", "html", "inspect", "io",
    "itertools", "json", "logging", "math", "numbers", "operator", "os", "pathlib", "pprint",
    "queue", "random", "re", "secrets", "shutil", "statistics", "string", "struct", "tempfile",
    "textwrap", "threading", "time", "traceback", "types", "typing", "unicodedata", "unittest",
    "uuid", "zlib",
)  # fmt: skip
"""Standard modules that programs import most; the others are imported when used."""


def main(argument: str, fd: int) -> None:
    """Enter the jail, warm up, report, and copy until the supervisor goes away."""
    config: dict[str, Any] = json.loads(argument)
    control = socket.socket(fileno=fd)
    sc.prctl(sc.PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        doors = _prepare(config)
    except (OSError, ImportError) as error:
        control.send(json.dumps({"failed": f"{type(error).__name__}: {error}"}).encode())
        return
    control.send(json.dumps({"ready": doors.address_space, "versions": _versions(config)}).encode())
    if config["seccomp"]:
        seccomp.install(seccomp.common_filter())
        for forks in (False, True):
            seccomp.prepared(seccomp.program_filter(forks))
    _serve(control, doors, config["namespaces"])


def _prepare(config: dict[str, Any]) -> child.Doors:
    proc = child.moved_up(os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))
    if config["namespaces"]:
        namespaces.enter(namespaces.Layout(tuple(config["layout"])), proc)
    sys.path[:] = [*config["path"], namespaces.SCRATCH]
    _warm(config["packages"])
    ruleset = -1
    readable = tuple(path for path in _readable(config) if os.path.exists(path))
    if config["landlock"] and config["namespaces"]:
        above = os.path.dirname(namespaces.SCRATCH)
        rules = [("/", landlock.LIST), *child.rules(readable, above)]
        ruleset = child.moved_up(landlock.make_ruleset(rules))
    return child.Doors(
        namespaces=config["namespaces"],
        proc=proc,
        ruleset=ruleset,
        readable=readable if config["landlock"] else (),
        seccomp=config["seccomp"],
        address_space=_address_space(proc),
    )


def _readable(config: dict[str, Any]) -> list[str]:
    system = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/etc/ld.so.cache")
    return [*system, *config["layout"]]


def _warm(packages: list[str]) -> None:
    """Import what programs will import, settle the heap, and leave nothing for a copy to collect."""
    import site  # noqa: PLC0415 - for `exit` and `help` only

    for name in (*WARM, *packages):
        importlib.import_module(name)
    site.setquit()
    site.sethelper()
    child.seed_everything(child.WARM_SEED, warm=True)
    gc.collect()
    gc.freeze()


def _address_space(proc: int) -> int:
    fd = os.open("self/statm", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    try:
        return int(os.read(fd, 100).split()[0]) * os.sysconf("SC_PAGE_SIZE")
    finally:
        os.close(fd)


def _versions(config: dict[str, Any]) -> dict[str, str]:
    found = {name: str(getattr(sys.modules[name], "__version__", "")) for name in config["packages"]}
    return {"python": sys.version, "landlock": str(landlock.abi()), **found}


def _serve(control: socket.socket, doors: child.Doors, isolated: bool) -> None:
    own = os.open("self/ns/pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=doors.proc) if isolated else -1
    poll = select.poll()
    poll.register(control, select.POLLIN)
    runs: dict[int, tuple[int, int]] = {}
    while True:
        for fd, _ in poll.poll():
            if fd in runs:
                poll.unregister(fd)
                _report(control, fd, *runs.pop(fd))
                continue
            data, fds, _, _ = socket.recv_fds(control, 4096, 3)
            if not data:
                return
            order = json.loads(data)
            pid = _copy(control, doors, order, fds, own)
            pidfd = os.pidfd_open(pid)
            runs[pidfd] = (pid, order["id"])
            poll.register(pidfd, select.POLLIN)


def _copy(control: socket.socket, doors: child.Doors, order: dict[str, Any], fds: list[int], own: int) -> int:
    if doors.namespaces:
        sc.unshare(sc.CLONE_NEWPID)
    pid = sc.bare_fork()
    if pid == 0:
        _be_copy(control, doors, order, fds)
    if doors.namespaces:
        # Back to our own: a second unshare is refused while children would be born elsewhere.
        sc.setns(own, sc.CLONE_NEWPID)
    for fd in fds:
        os.close(fd)
    return pid


def _be_copy(control: socket.socket, doors: child.Doors, order: dict[str, Any], fds: list[int]) -> None:
    """The copy's whole life; never returns to the zygote's loop."""
    code = 71
    try:
        child.become_run(doors, order, fds)
        control.detach()
        job = child.read_job()
        code = jobs.run(doors, job) if job else 0
    except BaseException as error:
        os.write(2, f"sandbox: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def _report(control: socket.socket, pidfd: int, pid: int, run: int) -> None:
    """Tell the supervisor that a run ended, with the kernel's own account of it."""
    _, status, usage = os.wait4(pid, 0)
    os.close(pidfd)
    cpu = usage.ru_utime + usage.ru_stime
    message = {"id": run, "status": status, "cpu": cpu, "peak": usage.ru_maxrss * 1024}
    control.send(json.dumps(message).encode())
