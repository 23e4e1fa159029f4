"""Attacks on the kernel: what honest code never needs fails with an errno."""

from __future__ import annotations

from attacks.lab import Lab, attack
from burnish.sandbox import State, Tier
from burnish.sandbox.seccomp import DENIED, INTO_NAMESPACES


@attack(83, "namespaces inside")
def _(lab: Lab) -> None:
    for flag in (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x8000000, 0x4000000, 0x2000000, 0x80):
        assert lab.errno(f"kernel(272, {flag})") == "EPERM", hex(flag)
        assert lab.errno(f"kernel(56, {flag | 17}, 0, 0, 0, 0)", processes=2) in ("EPERM", "EAGAIN"), hex(
            flag
        )
    assert lab.errno("kernel(308, 0, 0)") == "EPERM"
    assert lab.errno("kernel(435, 0, 0)", processes=2) == "ENOSYS"


@attack(84, "bpf, perf, userfaultfd, io_uring, keys, mounts, modules")
def _(lab: Lab) -> None:
    numbers = sorted({*DENIED.values(), *INTO_NAMESPACES.values()})
    code = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True); libc.syscall.restype = ctypes.c_long
wrong = []
for n in {numbers}:
    ctypes.set_errno(0)
    done = libc.syscall(ctypes.c_long(n), *[ctypes.c_long(0)] * 6)
    if done != -1 or ctypes.get_errno() != 1: wrong.append(n)
print(wrong)
"""
    assert lab.says(code) == "[]"
    assert len(numbers) > 75
    assert lab.errno("kernel(471)") == "ENOSYS"


@attack(85, "32-bit and x32 calls")
def _(lab: Lab) -> None:
    assert lab.program("import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 39)").signal == 31
    code = """
import ctypes, mmap
m = mmap.mmap(-1, 4096, prot=7)
m.write(bytes.fromhex("b814000000cd80c3"))
f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
print(f())
"""
    result = lab.program(code)
    assert (result.state, result.signal, result.stdout) == (State.SIGNAL, 31, b"")


@attack(86, "typing into a terminal")
def _(lab: Lab) -> None:
    assert lab.errno("open('/dev/tty')") in ("ENXIO", "ENOENT", "EACCES")
    assert lab.errno("fcntl.ioctl(0, 0x5412, b'x')") == "EPERM"
    assert lab.errno("fcntl.ioctl(0, 0x541c, b'x')") == "EPERM"


@attack(87, "a filter so tight that it kills honest code")
def _(lab: Lab) -> None:
    code = """
import asyncio, concurrent.futures, tempfile, sqlite3, numpy, subprocess, multiprocessing
async def main():
    return await asyncio.gather(asyncio.to_thread(sum, range(10)), asyncio.sleep(0.01, 7))
print(asyncio.run(main()))
with concurrent.futures.ThreadPoolExecutor(4) as pool: print(list(pool.map(abs, [-1, 2])))
with tempfile.TemporaryDirectory() as d: open(d + "/x", "w").write("1")
print(sqlite3.connect("a.db").execute("select 1+1").fetchone())
print(numpy.linalg.inv(numpy.eye(3)).sum(), numpy.random.default_rng(1).integers(10))
for attempt in (lambda: subprocess.run(["/bin/true"]), lambda: multiprocessing.Process(target=print).start()):
    try: attempt()
    except OSError as e: print(e.errno)
"""
    lines = lab.says(code).splitlines()
    assert lines == ["[45, 7]", "[1, 2]", "(2,)", "3.0 4", "11", "11"]


@attack(88, "a flaw in the kernel behind an allowed call")
def _(lab: Lab) -> None:
    result = lab.run("print(1)")
    assert result.tier is Tier.T2
    from pathlib import Path

    import burnish.sandbox

    readme = (Path(burnish.sandbox.__file__).parent / "README.md").read_text()
    assert "What is not covered" in readme[:400]
    assert "kernel" in readme[:1500]
