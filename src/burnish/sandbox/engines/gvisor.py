"""gVisor: a kernel of its own in user space, so a flaw in the host's is out of reach of programs; tier T3.

`runsc run` starts one container for each request, from a bundle as the Open Container Initiative's runtime
specification has it. There is no Landlock in there, and seccomp is gVisor's own. Tried with Debian's build
of 2022, which takes about half a second a request.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from burnish.sandbox.engines.commands import Jail
from burnish.sandbox.namespaces import HOSTNAME, INNER_ID, SCRATCH

_numbers = count()


def gvisor(program: str, jail: Jail, scratch_bytes: int) -> list[str]:
    """`runsc`: the command that runs a new bundle; the bundle lies in a directory of its own."""
    home = Path(tempfile.mkdtemp(prefix="burnish-gvisor-"))
    root = home / "root"
    _make_root(root, jail)
    text = json.dumps(specification(jail, scratch_bytes))
    (home / "config.json").write_text(text, encoding="utf-8")
    words = [program, "--root", str(home / "state"), "--network=none", "--ignore-cgroups"]
    words += [] if os.geteuid() == 0 else ["--rootless"]
    return [*words, "run", "--bundle", str(home), f"burnish-{os.getpid()}-{next(_numbers)}"]


def clean_up(command: list[str]) -> None:
    """Remove the bundle of a command that has ended."""
    if "--bundle" in command:
        shutil.rmtree(command[command.index("--bundle") + 1], ignore_errors=True)


def _make_root(root: Path, jail: Jail) -> None:
    """The container's root: links, and empty places to mount on."""
    for path in (*jail.shown, SCRATCH, "/proc", "/dev", "/sys", "/tmp"):  # noqa: S108 - places in the jail
        place = root / path.lstrip("/")
        if os.path.isfile(path):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        else:
            place.mkdir(parents=True, exist_ok=True)
    for target, link in jail.links:
        (root / link.lstrip("/")).symlink_to(target)


def _nothing(path: str) -> Mapping[str, Any]:
    """An empty directory where gVisor would show one of its own: no process sees another's."""
    return {"destination": path, "type": "tmpfs", "source": "tmpfs", "options": ["ro", "size=4096"]}


def specification(jail: Jail, scratch_bytes: int) -> Mapping[str, Any]:
    """What `config.json` of the bundle says."""
    shown = [
        {"destination": path, "type": "bind", "source": path, "options": ["ro", "rbind"]}
        for path in jail.shown
    ]
    scratch = {
        "destination": SCRATCH,
        "type": "tmpfs",
        "source": "tmpfs",
        "options": [f"size={max(scratch_bytes, 4096)}", f"uid={INNER_ID}", f"gid={INNER_ID}", "mode=0700"],
    }
    return {
        "ociVersion": "1.0.0",
        "process": {
            "user": {"uid": INNER_ID, "gid": INNER_ID},
            "args": replace(jail, walls="own kernel").start,
            "env": [f"{name}={value}" for name, value in jail.environment.items()],
            "cwd": SCRATCH,
            "noNewPrivileges": True,
            "capabilities": {},
        },
        "root": {"path": "root", "readonly": True},
        "hostname": HOSTNAME,
        "mounts": [*(_nothing(path) for path in ("/proc", "/sys")), *shown, scratch],
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")]},
    }
