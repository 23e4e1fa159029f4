"""The kernel, called by number through ctypes: no package is needed and nothing is compiled.

Numbers are of x86-64 (`Documentation/` and `arch/x86/entry/syscalls/syscall_64.tbl` of Linux); the ones above
400 are the same on every architecture.
"""

from __future__ import annotations

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_held = ctypes.PyDLL(None, use_errno=True)
"""The same library, called without letting go of the interpreter's lock."""

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
MNT_DETACH = 2

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38
ADDR_NO_RANDOMIZE = 0x0040000

_PIVOT_ROOT, _CAPSET, _PERSONALITY, _CLOSE_RANGE, _MOUNT_SETATTR = 155, 126, 135, 436, 442
_AT_RECURSIVE = 0x8000
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID = 1, 2
_CAPABILITY_HEADER = (ctypes.c_uint32 * 2)(0x20080522, 0)
_NO_CAPABILITIES = (ctypes.c_uint32 * 6)()


def check(result: int, what: str) -> int:
    """`result`, or OSError with the kernel's errno when it is negative."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def syscall(what: str, number: int, *args: object) -> int:
    """Call the kernel by number; raises OSError that names `what`."""
    return check(_libc.syscall(ctypes.c_long(number), *map(_word, args)), what)


def _word(argument: object) -> object:
    return ctypes.c_long(argument) if isinstance(argument, int) else argument


def bare_fork() -> int:
    """`fork` without what Python does around it; for a process with one thread, whose locks are all free.

    Python's own runs the handlers of modules, which write to half of the pages that a child would else share.
    """
    return check(_held.fork(), "fork")


def unshare(flags: int) -> None:
    """Move this process into new namespaces."""
    check(_libc.unshare(ctypes.c_int(flags)), "unshare")


def setns(fd: int, kind: int) -> None:
    """Enter the namespace that `fd` names."""
    check(_libc.setns(ctypes.c_int(fd), ctypes.c_int(kind)), "setns")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Mount, or bind-mount, `source` on `target`."""
    result = _libc.mount(
        source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode() or None
    )
    check(result, f"mount {kind or source} on {target}")


def unmount(target: str) -> None:
    """Detach what is mounted on `target`."""
    check(_libc.umount2(target.encode(), MNT_DETACH), f"unmount {target}")


def make_read_only(target: str) -> None:
    """Make a mount and all that is mounted below it read-only, without set-user-id."""
    attributes = (ctypes.c_uint64 * 4)(_MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID, 0, 0, 0)
    syscall("mount_setattr", _MOUNT_SETATTR, -100, target.encode(), _AT_RECURSIVE, attributes, 32)


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root of this mount namespace."""
    syscall("pivot_root", _PIVOT_ROOT, new.encode(), old.encode())


def prctl(option: int, *values: int) -> None:
    """`prctl(2)`."""
    words = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    check(_libc.prctl(ctypes.c_int(option), *words), f"prctl {option}")


def set_personality(flags: int) -> None:
    """Change how the next program is laid out in memory."""
    syscall("personality", _PERSONALITY, flags)


def close_from(first: int) -> None:
    """Close every descriptor from `first` on."""
    syscall("close_range", _CLOSE_RANGE, first, 0xFFFFFFFF, 0)


def set_hostname(name: str) -> None:
    """Name of the machine in this UTS namespace."""
    check(_libc.sethostname(name.encode(), ctypes.c_size_t(len(name))), "sethostname")


def drop_capabilities() -> None:
    """Give up every capability; with `no_new_privs` and a user that is not 0, no program brings one back."""
    syscall("capset", _CAPSET, _CAPABILITY_HEADER, _NO_CAPABILITIES)
