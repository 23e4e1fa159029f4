"""Which calls a program may make of the kernel: a list of what is denied, each with an errno.

Honest code is never killed: what it may not do fails as it would for lack of a permission. Only the
32-bit and x32 entries kill, since they exist here for no other purpose than to go round the list.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Iterable
from functools import lru_cache

from burnish.sandbox.syscalls import PR_SET_NO_NEW_PRIVS, prctl, syscall

_SECCOMP, _SET_MODE_FILTER = 317, 1
_X86_64 = 0xC000003E
_X32_BIT = 0x40000000
_LAST_KNOWN = 470
"""Highest call that was looked at when the list was written; newer ones do not exist in here."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER_AT, _ARCH_AT, _ARGUMENTS_AT = 0, 4, 16

CLONE, SOCKET, SOCKETPAIR, IOCTL, FCNTL, PERSONALITY, PRCTL = 56, 41, 53, 16, 72, 135, 157
FORK, VFORK, CLONE3, MEMFD_CREATE = 57, 58, 435, 319
_CLONE_THREAD = 0x00010000
_CLONE_NAMESPACES = 0x7E020080
_AF_UNIX = 1
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_F_SETLEASE, _F_NOTIFY = 1024, 1026

DENIED = {
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "pidfd_getfd": 438,
    "process_madvise": 440, "pivot_root": 155, "chroot": 161,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
    "fspick": 433, "mount_setattr": 442, "open_tree_attr": 467, "statmount": 457, "listmount": 458,
    "name_to_handle_at": 303, "open_by_handle_at": 304, "bpf": 321, "perf_event_open": 298,
    "userfaultfd": 323, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427,
    "add_key": 248, "request_key": 249, "keyctl": 250, "kexec_load": 246, "kexec_file_load": 320,
    "init_module": 175, "finit_module": 313, "delete_module": 176, "memfd_secret": 447, "acct": 163,
    "swapon": 167, "swapoff": 168, "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172,
    "ioperm": 173, "modify_ldt": 154, "quotactl": 179, "quotactl_fd": 443, "settimeofday": 164,
    "clock_settime": 227, "adjtimex": 159, "clock_adjtime": 305, "syslog": 103, "vhangup": 153,
    "uselib": 134, "ustat": 136, "sysfs": 139, "nfsservctl": 180, "lookup_dcookie": 212,
    "fanotify_init": 300, "fanotify_mark": 301, "inotify_init": 253, "inotify_init1": 294,
    "inotify_add_watch": 254, "flock": 73, "sysinfo": 99, "shmget": 29, "shmat": 30, "shmctl": 31,
    "semget": 64, "semop": 65, "semctl": 66, "msgget": 68, "msgsnd": 69, "msgrcv": 70, "mq_open": 240,
      "migrate_pages": 256, "move_pages": 279, "mbind": 237,
    "set_mempolicy": 238, "set_mempolicy_home_node": 450, "personality": 135, "vmsplice": 278,
    "sched_setscheduler": 144, "sched_setattr": 314, "sched_setparam": 142, "ioprio_set": 251,
}  # fmt: skip
"""Calls that fail with EPERM: other processes' memory, mounts, namespaces, kernel code, keys, clocks, nodes,
and whatever shared inodes, queues or segments could carry between runs or keep memory out of the count."""

INTO_NAMESPACES = {"mount": 165, "umount2": 166, "unshare": 272, "setns": 308}
"""The same, for the calls that a run's own entry needs."""


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value & 0xFFFFFFFF)


def _fail(number: int) -> bytes:
    return _op(_RETURN, _ERRNO | number)


def _deny(numbers: Iterable[int], error: int) -> list[bytes]:
    return [op for number in numbers for op in (_op(_EQUAL, number, 0, 1), _fail(error))]


def _argument(call: int, index: int, tests: list[bytes]) -> list[bytes]:
    """Run `tests` on the low half of an argument of `call`, then put the call's number back."""
    body = [_op(_LOAD, _ARGUMENTS_AT + 8 * index), *tests, _op(_LOAD, _NUMBER_AT)]
    return [_op(_EQUAL, call, 0, len(body)), *body]


def _deny_values(values: Iterable[int]) -> list[bytes]:
    return [op for value in values for op in (_op(_EQUAL, value, 0, 1), _fail(errno.EPERM))]


def _entry() -> list[bytes]:
    return [
        _op(_LOAD, _ARCH_AT),
        _op(_EQUAL, _X86_64, 1, 0),
        _op(_RETURN, _KILL),
        _op(_LOAD, _NUMBER_AT),
        _op(_AT_LEAST, _X32_BIT, 0, 1),
        _op(_RETURN, _KILL),
    ]


def common_filter() -> bytes:
    """What neither a run nor its zygote needs; put on the zygote, inherited by all its copies.

    Threads, `fork`, and the calls by which a copy goes into its namespaces are still allowed.
    """
    not_local = [_op(_EQUAL, _AF_UNIX, 1, 0), _fail(errno.EPERM)]
    parts = [
        _entry(),
        [_op(_AT_LEAST, _LAST_KNOWN + 1, 0, 1), _fail(errno.ENOSYS)],
        # glibc then falls back to clone, whose flags can be read here; clone3 keeps them in memory.
        _deny([CLONE3], errno.ENOSYS),
        _deny([SOCKET], errno.EPERM),
        _argument(SOCKETPAIR, 0, not_local),
        _argument(IOCTL, 1, _deny_values([_TIOCSTI, _TIOCLINUX])),
        _argument(FCNTL, 1, _deny_values([_F_SETLEASE, _F_NOTIFY])),
        _deny(sorted(DENIED.values()), errno.EPERM),
        [_op(_RETURN, _ALLOW)],
    ]
    return b"".join(op for part in parts for op in part)


@lru_cache(maxsize=2)
def program_filter(forks: bool) -> bytes:
    """The rest of the list, put on last; without `forks` only threads can be made."""
    new_namespace = [_op(_ANY_BIT, _CLONE_NAMESPACES, 0, 1), _fail(errno.EPERM)]
    not_thread = [_op(_ANY_BIT, _CLONE_THREAD, 1, 0), _fail(errno.EAGAIN)]
    parts = [
        _entry(),
        # memfd_create: its pages belong to no address space, so no limit but a cgroup would count them.
        _deny([*INTO_NAMESPACES.values(), MEMFD_CREATE], errno.EPERM),
        _argument(CLONE, 0, [*new_namespace, *([] if forks else not_thread)]),
        [] if forks else _deny([FORK, VFORK], errno.EAGAIN),
        [_op(_RETURN, _ALLOW)],
    ]
    return b"".join(op for part in parts for op in part)


@lru_cache(maxsize=8)
def prepared(program: bytes) -> tuple[object, object]:
    """The program and its header as the kernel reads them; made before it is needed."""
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("=HxxxxxxQ", len(program) // 8, ctypes.addressof(code))
    return ctypes.create_string_buffer(header, len(header)), code


def install(program: bytes) -> None:
    """Put a filter on this process and all it will start; it can only be added to."""
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    syscall("seccomp", _SECCOMP, _SET_MODE_FILTER, 0, prepared(program)[0])
