"""The command lines of programs that build walls; pure functions of what a jail shows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.sandbox.hatchery import ENVIRONMENT
from burnish.sandbox.namespaces import HOSTNAME, INNER_ID, SCRATCH
from burnish.sandbox.probe import ROOT

SYSTEM = ("usr", "lib", "lib32", "lib64", "libx32", "bin", "sbin")
_OURS = ("__init__.py", "errors.py", "sandbox")
_BOOT = (
    "import sys; sys.path.insert(0, {root!r}); from burnish.sandbox.engines.inside import main; "
    "main({path!r}, {readable!r}, {packages!r}, {walls!r})"
)


@dataclass(frozen=True, slots=True)
class Jail:
    """What a jail shows and starts; made of the native engine's configuration."""

    python: str
    layout: tuple[str, ...]
    """Directories of the interpreter and of packages, shown at their own paths, read-only."""
    path: tuple[str, ...]
    packages: tuple[str, ...]
    environment: Mapping[str, str]
    walls: str = "seccomp"

    @property
    def shown(self) -> tuple[str, ...]:
        """Every directory and file that is shown, read-only."""
        ours = (str(Path(ROOT) / "burnish" / name) for name in _OURS)
        system = (
            f"/{name}" for name in SYSTEM if Path(f"/{name}").is_dir() and not Path(f"/{name}").is_symlink()
        )
        cache = ["/etc/ld.so.cache"] if os.path.exists("/etc/ld.so.cache") else []
        return (*system, *cache, *self.layout, *ours)

    @property
    def links(self) -> Iterator[tuple[str, str]]:
        """Directories of the system that are links: where to, and their path."""
        for name in SYSTEM:
            if Path(f"/{name}").is_symlink():
                yield os.readlink(f"/{name}"), f"/{name}"

    @property
    def start(self) -> list[str]:
        """The command inside."""
        readable = [*self.shown, *(f"/{name}" for name in SYSTEM)]
        boot = _BOOT.format(
            root=ROOT, path=list(self.path), readable=readable, packages=list(self.packages), walls=self.walls
        )
        return [self.python, "-S", "-s", "-P", "-B", "-c", boot]


def jail_of(config: Mapping[str, Any]) -> Jail:
    """A jail from what the native engine would tell its zygote."""
    return Jail(
        python=config["python"],
        layout=tuple(config["layout"]),
        path=tuple(config["path"]),
        packages=tuple(config["packages"]),
        environment={**ENVIRONMENT, **config["environment"]},
    )


def bubblewrap(program: str, jail: Jail, scratch_bytes: int) -> list[str]:
    """`bwrap`: every namespace, no capability, a read-only view, a scratch of bounded size."""
    identity = str(INNER_ID)
    words = [program, "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session"]
    words += ["--cap-drop", "ALL", "--uid", identity, "--gid", identity, "--hostname", HOSTNAME, "--clearenv"]
    for name, value in jail.environment.items():
        words += ["--setenv", name, value]
    for path in jail.shown:
        words += ["--ro-bind", path, path]
    for target, link in jail.links:
        words += ["--symlink", target, link]
    words += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    words += ["--size", str(scratch_bytes), "--tmpfs", SCRATCH, "--chdir", SCRATCH, "--remount-ro", "/", "--"]
    return [*words, *jail.start]


def nsjail(program: str, jail: Jail, scratch_bytes: int) -> list[str]:
    """`nsjail`: every namespace, no capability, a read-only view, a scratch of bounded size."""
    identity = str(INNER_ID)
    words = [program, "-Mo", "--really_quiet", "--user", identity, "--group", identity]
    words += ["--hostname", HOSTNAME, "--cwd", SCRATCH, "--time_limit", "0", "--iface_no_lo"]
    for kind in ("as", "cpu", "fsize", "nofile", "nproc", "stack", "core"):
        words += [f"--rlimit_{kind}", "hard" if kind != "core" else "0"]
    for name, value in jail.environment.items():
        words += ["--env", f"{name}={value}"]
    for path in jail.shown:
        words += ["--bindmount_ro", path]
    for target, link in jail.links:
        words += ["--symlink", f"{target}:{link}"]
    for device in ("null", "zero", "full", "random", "urandom"):
        words += ["--bindmount", f"/dev/{device}"]
    words += ["--mount", f"none:{SCRATCH}:tmpfs:size={scratch_bytes},nr_inodes=1024", "--"]
    return [*words, *jail.start]
