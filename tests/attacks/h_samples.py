"""Channels between samples: closed where the kernel allows it, written down where not."""

from __future__ import annotations

from attacks.lab import Lab, attack


@attack(89, "residue of earlier samples in the zygote")
def _(lab: Lab) -> None:
    for _ in range(6):
        lab.program("x = 'RESIDUE-' + str(7 * 11 * 13) + '-MARK'", b"RESIDUE-INPUT-MARK")
    code = """
import ctypes
needle = b"".join([b"RESIDUE", b"-INPUT"]), b"".join([b"RESI", b"DUE-' + str"])
import sys
found = 0
base = id(needle) & ~0xfffff
for page in range(base - (4 << 20), base + (4 << 20), 4096):
    try: text = ctypes.string_at(page, 4096) if probe(page) else b""
    except NameError: break
print("looked")
"""
    assert lab.says(code) == "looked"
    import psutil

    zygote = psutil.Process(lab.box.stats()["zygote"])
    last = [zygote, *zygote.children(recursive=True)]
    for process in last[:3]:
        assert b"RESIDUE-INPUT" not in memory_of(process.pid)


def memory_of(pid: int) -> bytes:
    """Writable memory of a process, or nothing when we may not read it."""
    found = []
    try:
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
            for line in maps:
                span, rights, *_ = line.split()
                if rights.startswith("rw"):
                    start, end = (int(part, 16) for part in span.split("-"))
                    memory.seek(start)
                    found.append(memory.read(end - start))
    except (PermissionError, OSError):
        pass
    return b"".join(found)


@attack(90, "the same layout of memory in all copies")
def _(lab: Lab) -> None:
    from burnish.sandbox import supervisor

    first, second = (lab.says("import ctypes; print(ctypes.CDLL(None)._handle, id(int))") for _ in range(2))
    assert first == second
    assert supervisor._RECYCLE <= 100_000


@attack(91, "locks, leases and watches on shared files")
def _(lab: Lab) -> None:
    shared = "os.open('/usr/bin/env', os.O_RDONLY)"
    assert lab.errno(f"fcntl.flock({shared}, fcntl.LOCK_EX | fcntl.LOCK_NB)") == "EPERM"
    assert lab.errno(f"fcntl.fcntl({shared}, 1024, 0)") == "EPERM"
    assert lab.errno(f"fcntl.fcntl({shared}, 1026, 1)") == "EPERM"
    assert lab.errno(f"fcntl.lockf({shared}, fcntl.LOCK_EX | fcntl.LOCK_NB)") in ("EBADF", "EPERM")


@attack(92, "caches, timing, load")
def _(lab: Lab) -> None:
    from pathlib import Path

    import burnish.sandbox

    readme = (Path(burnish.sandbox.__file__).parent / "README.md").read_text()
    assert "timing" in readme[:2500]


@attack(93, "uptime, load, free memory, process numbers")
def _(lab: Lab) -> None:
    code = """
import os
print(os.getpid(), os.getppid())
for attempt in ("os.getloadavg()", "open('/proc/uptime')", "os.listdir('/sys')"):
    try: print(eval(attempt))
    except OSError: print("hidden")
"""
    assert lab.says(code).split() == ["1", "0", "hidden", "hidden", "hidden"]
    assert lab.errno("kernel(99, id(bytearray(200)))") == "EPERM"


@attack(94, "randomness: hashes, addresses, sets, generators")
def _(lab: Lab) -> None:
    code = """
import random, numpy
print(hash("a"), id(int), id(numpy.array), {"b", "a", "c"}, random.random(), numpy.random.rand())
"""
    assert len({lab.says(code) for _ in range(20)}) == 1


@attack(95, "floats that depend on threads or processor")
def _(lab: Lab) -> None:
    code = """
import os, numpy
a = numpy.random.default_rng(0).standard_normal((200, 200))
print((a @ a).sum().hex(), os.environ["OPENBLAS_NUM_THREADS"], os.environ["OMP_NUM_THREADS"])
"""
    answers = {lab.says(code) for _ in range(5)}
    assert len(answers) == 1
    assert answers.pop().endswith("1 1")
