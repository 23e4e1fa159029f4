"""Which files a program may open, by Landlock: a second wall behind the mounts, and the first without them.

Source: `Documentation/userspace-api/landlock.rst` of Linux. Rights that the running kernel does not know
are left out, by its ABI number.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable

from burnish.sandbox.syscalls import PR_SET_NO_NEW_PRIVS, prctl, syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_MAKE_CHAR, _MAKE_SOCK, _MAKE_BLOCK = 1 << 6, 1 << 9, 1 << 11
_FIRST_ABI = (1 << 13) - 1
_SCOPE_ABSTRACT_SOCKET, _SCOPE_SIGNAL = 1, 2
_TCP = 3

_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
READ = _EXECUTE | _READ_FILE | _READ_DIR
LIST = _READ_DIR
DEVICE = _READ_FILE | _WRITE_FILE | _TRUNCATE
WRITE = ((1 << 15) - 1) & ~(_MAKE_CHAR | _MAKE_SOCK | _MAKE_BLOCK)


def abi() -> int:
    """The kernel's Landlock version; 0 when it has none."""
    try:
        return syscall("landlock_create_ruleset", _CREATE_RULESET, 0, 0, _VERSION_FLAG)
    except OSError:
        return 0


def _handled(version: int) -> int:
    later = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV))
    return _FIRST_ABI | sum(right for since, right in later if version >= since)


def make_ruleset(rules: Iterable[tuple[str, int]]) -> int:
    """A ruleset as a descriptor: each path with the rights on all that is beneath it.

    A file system mounted later is judged by the directories above its mount point, not by the one it covers.
    """
    version = abi()
    handled = _handled(version)
    scoped = _SCOPE_ABSTRACT_SOCKET | _SCOPE_SIGNAL if version >= 6 else 0
    attributes = struct.pack("=QQQ", handled, _TCP if version >= 4 else 0, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = syscall("landlock_create_ruleset", _CREATE_RULESET, _buffer(attributes), size, 0)
    for path, rights in rules:
        _add(ruleset, path, rights & handled)
    return ruleset


def _buffer(data: bytes) -> object:
    return ctypes.create_string_buffer(data, len(data))


def _add(ruleset: int, path: str, rights: int) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    if not os.path.isdir(path):
        rights &= _OF_FILES
    try:
        rule = _buffer(struct.pack("=Qi", rights, fd))
        syscall(f"landlock rule for {path}", _ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(fd)


def restrict(ruleset: int) -> None:
    """Put the ruleset on this process and all it will start, for good."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    syscall("landlock_restrict_self", _RESTRICT_SELF, ruleset, 0)
