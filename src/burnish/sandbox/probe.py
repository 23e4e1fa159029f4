"""What this machine offers for a wall, found out by trying it in a process of its own."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from burnish.sandbox import landlock, namespaces, seccomp
from burnish.sandbox import syscalls as sc
from burnish.sandbox.records import Tier

ROOT = str(Path(__file__).resolve().parents[2])
"""Directory that `burnish` is imported from."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The primitives at hand; an empty reason means that it works."""

    system: str
    root: bool
    namespaces: str = ""
    """Why a jail of all namespaces cannot be built."""
    seccomp: str = ""
    landlock: str = ""
    landlock_abi: int = 0

    @property
    def tier(self) -> Tier:
        """The strongest tier that the native engine reaches here."""
        if self.seccomp or self.landlock:
            return Tier.NONE
        return Tier.T1 if self.namespaces else Tier.T2

    def lacking(self) -> str:
        """What keeps the machine from tier T2, in words; empty when nothing does."""
        reasons = {
            "namespaces": self.namespaces,
            "seccomp": self.seccomp,
            "Landlock": self.landlock,
        }
        return "; ".join(f"{name}: {reason}" for name, reason in reasons.items() if reason)

    def mend(self) -> str:
        """What to do about it."""
        if self.namespaces:
            return (
                "allow unprivileged user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0, "
                "user.max_user_namespaces > 0; in a container, a seccomp profile with unshare and mount), "
                "or choose another engine"
            )
        return "use Linux 5.13 or newer on x86-64 with CONFIG_SECURITY_LANDLOCK and CONFIG_SECCOMP_FILTER"


@lru_cache(maxsize=1)
def probe() -> Machine:
    """Try every primitive once, in a process of its own (about 0.1 s)."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        reason = f"needs Linux on x86-64, this is {platform.system()} on {platform.machine()}"
        return Machine(platform.platform(), os.geteuid() == 0, reason, reason, reason)
    boot = f"import sys; sys.path.insert(0, {ROOT!r}); from burnish.sandbox.probe import main; main()"
    command = [sys.executable, "-S", "-s", "-P", "-B", "-c", boot]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env={}, check=False)
    if done.returncode:
        reason = f"the probe failed: {done.stderr.strip()[-300:]}"
        return Machine(platform.platform(), os.geteuid() == 0, reason, reason, reason)
    return Machine(**json.loads(done.stdout))


def main() -> None:
    """Print what works here, as JSON."""
    machine = Machine(
        system=platform.platform(),
        root=os.geteuid() == 0,
        namespaces=_tried(_try_namespaces),
        seccomp=_tried(_try_seccomp),
        landlock=_tried(_try_landlock),
        landlock_abi=landlock.abi(),
    )
    print(json.dumps(asdict(machine)))  # noqa: T201


def _tried(action: Callable[[], None]) -> str:
    """Do it in a fork; the reason why it failed, or nothing."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            action()
            os.write(writer, b"ok")
        except Exception as error:
            os.write(writer, f"{type(error).__name__}: {error}".encode()[:500])
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        text = file.read().decode(errors="replace")
    os.waitpid(pid, 0)
    return "" if text == "ok" else text or "died"


def _try_namespaces() -> None:
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    namespaces.enter(namespaces.Layout(()), proc)
    sc.unshare(sc.CLONE_NEWUSER | sc.CLONE_NEWNS | sc.CLONE_NEWIPC)
    namespaces.map_ids(proc, "self", namespaces.INNER_ID, namespaces.INNER_ID)
    namespaces.mount_scratch(1 << 20, 16)
    os.close(os.open(f"{namespaces.SCRATCH}/file", os.O_WRONLY | os.O_CREAT, 0o600))


def _try_seccomp() -> None:
    seccomp.install(seccomp.common_filter())
    seccomp.install(seccomp.program_filter(forks=False))
    try:
        os.fork()
    except BlockingIOError:
        return
    raise OSError("the filter was installed and does not act")


def _try_landlock() -> None:
    landlock.restrict(landlock.make_ruleset([("/dev", landlock.LIST)]))
    try:
        os.open("/etc", os.O_RDONLY)
    except PermissionError:
        return
    raise OSError("the ruleset was installed and does not act")
