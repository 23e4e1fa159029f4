"""The outer jail, built once for each zygote: a root of its own with only what programs may read.

    /usr and the interpreter, read-only - a few devices - /home/box, where each run mounts its own scratch

Built by root with plain mounts before it becomes an unprivileged user of a new user namespace, by
anybody else inside one. Afterwards there is no network, no other process, no host name, nothing of /etc,
/proc, /sys or /run.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass

from burnish.sandbox import syscalls as sc

SCRATCH = "/home/box"
INNER_ID = 1000
"""User and group that programs see."""
OUTER_ID = 231072
"""User and group that root's zygotes really have; nobody's, so nothing on the host is theirs."""
DEVICES = ("null", "zero", "full", "random", "urandom")
HOSTNAME = "sandbox"
_BASE = "/tmp"  # noqa: S108 - only a place to mount on, in a namespace of our own
_ISOLATED = sc.CLONE_NEWPID | sc.CLONE_NEWNET | sc.CLONE_NEWIPC | sc.CLONE_NEWUTS | sc.CLONE_NEWCGROUP


@dataclass(frozen=True, slots=True)
class Layout:
    """What a jail shows: host directories, at their own paths, read-only."""

    paths: tuple[str, ...]
    devices: tuple[str, ...] = DEVICES


def enter(layout: Layout, proc: int) -> None:
    """Put the calling process's child into a new jail; returns there only, as process 1 of it.

    Args:
        layout: what the jail shows.
        proc: descriptor of the host's /proc.

    Raises OSError when the kernel refuses a namespace or a mount.
    """
    if os.geteuid() == 0:
        os.setgroups([])
        sc.unshare(sc.CLONE_NEWNS)
        build_root(layout)
        _become_nobody(proc)
    else:
        uid, gid = os.geteuid(), os.getegid()
        sc.unshare(sc.CLONE_NEWUSER | sc.CLONE_NEWNS)
        map_ids(proc, "self", uid, gid)
        build_root(layout)
        sc.unshare(_ISOLATED)
    _become_first()
    sc.set_hostname(HOSTNAME)


def map_ids(proc: int, who: str, uid: int, gid: int, inner: int = INNER_ID) -> None:
    """Let `inner` of the user namespace of process `who` stand for `uid` and `gid` outside it."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{inner} {uid} 1"),
        ("gid_map", f"{inner} {gid} 1"),
    ):
        fd = os.open(f"{who}/{name}", os.O_WRONLY | os.O_CLOEXEC, dir_fd=proc)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)


def _become_nobody(proc: int) -> None:
    """Root only: go on in a child whose user namespace maps one id that nobody has."""
    asked_r, asked_w = os.pipe()
    done_r, done_w = os.pipe()
    child = os.fork()
    if child:
        os.close(asked_w)
        if os.read(asked_r, 1):
            map_ids(proc, str(child), OUTER_ID, OUTER_ID)
            os.write(done_w, b"1")
        _wait_and_exit(child)
    sc.prctl(sc.PR_SET_PDEATHSIG, 9)
    sc.unshare(_ISOLATED | sc.CLONE_NEWUSER | sc.CLONE_NEWNS)
    os.write(asked_w, b"1")
    if not os.read(done_r, 1):
        os._exit(1)
    for fd in (asked_r, asked_w, done_r, done_w):
        os.close(fd)
    os.setresgid(INNER_ID, INNER_ID, INNER_ID)
    os.setresuid(INNER_ID, INNER_ID, INNER_ID)
    sc.prctl(sc.PR_SET_DUMPABLE, 1)
    sc.prctl(sc.PR_SET_PDEATHSIG, 9)


def _become_first() -> None:
    child = os.fork()
    if child:
        _wait_and_exit(child)
    sc.prctl(sc.PR_SET_PDEATHSIG, 9)


def _wait_and_exit(child: int) -> None:
    """Stand by until `child` ends; its sockets are not ours to hold open."""
    os.closerange(0, 3)
    sc.close_from(3)
    os.waitpid(child, 0)
    os._exit(0)


def build_root(layout: Layout) -> None:
    """Make a root of the layout in this mount namespace and leave the old one."""
    sc.mount("none", "/", "", sc.MS_REC | sc.MS_PRIVATE)
    sc.mount("tmpfs", _BASE, "tmpfs", sc.MS_NOSUID, "size=1m,mode=0755")
    os.mkdir(f"{_BASE}/old")
    os.mkdir(f"{_BASE}/new")
    os.chdir(_BASE)
    sc.pivot_root(".", "old")
    os.chdir("/")
    sc.mount("tmpfs", "/new", "tmpfs", sc.MS_NOSUID, "size=8m,mode=0755")
    _fill("/old", "/new", layout)
    os.chdir("/new")
    sc.make_read_only("/new")
    sc.pivot_root(".", ".")
    sc.unmount(".")
    os.chdir("/")


def _fill(old: str, new: str, layout: Layout) -> None:
    for path in _system(old):
        _show(old, new, path)
    for path in layout.paths:
        if not os.path.isdir(new + path) or not os.path.samefile(old + path, new + path):
            _bind(old + path, new + path)
    os.makedirs(new + "/dev", exist_ok=True)
    for name in layout.devices:
        open(f"{new}/dev/{name}", "w").close()
        sc.mount(f"{old}/dev/{name}", f"{new}/dev/{name}", "", sc.MS_BIND)
    os.makedirs(new + SCRATCH, exist_ok=True)
    os.makedirs(new + "/var")
    for link in ("/tmp", "/var/tmp", "/dev/shm"):  # noqa: S108 - all three are the scratch
        os.symlink(SCRATCH, new + link)
    os.makedirs(new + "/etc")
    if os.path.isfile(old + "/etc/ld.so.cache"):
        shutil.copyfile(old + "/etc/ld.so.cache", new + "/etc/ld.so.cache")
    _alternatives(old, new)


def _alternatives(old: str, new: str) -> None:
    """Debian's links by which `awk` or `cc` are one of several programs; the programs only."""
    place = "/etc/alternatives"
    names = os.listdir(old + place) if os.path.isdir(old + place) else []
    os.makedirs(new + place)
    for name in names:
        link = f"{old}{place}/{name}"
        target = os.readlink(link) if os.path.islink(link) else ""
        if target.startswith(("/usr/bin/", "/bin/")):
            os.symlink(target, f"{new}{place}/{name}")


def _system(old: str) -> list[str]:
    names = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32")
    return [f"/{name}" for name in names if os.path.lexists(f"{old}/{name}")]


def _show(old: str, new: str, path: str) -> None:
    if os.path.islink(old + path):
        os.symlink(os.readlink(old + path), new + path)
    else:
        _bind(old + path, new + path)


def _bind(source: str, target: str) -> None:
    os.makedirs(target, exist_ok=True)
    sc.mount(source, target, "", sc.MS_BIND | sc.MS_REC)


def mount_scratch(size: int, inodes: int) -> None:
    """A file system of the run's own, empty and capped (bytes, files), as working directory."""
    options = f"size={max(size, 4096)},nr_inodes={max(inodes, 2)},mode=0700"
    sc.mount("tmpfs", SCRATCH, "tmpfs", sc.MS_NOSUID | sc.MS_NODEV, options)
    os.chdir(SCRATCH)
