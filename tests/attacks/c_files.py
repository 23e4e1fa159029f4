"""Attacks on files: there is only an interpreter, read-only, and an empty scratch of the run's own."""

from __future__ import annotations

from pathlib import Path

from attacks.lab import Lab, attack
from burnish.sandbox import State

HERE = str(Path(__file__).resolve())


@attack(37, "reading tests, reward code, data sets, other samples")
def _(lab: Lab) -> None:
    lab.program("open('mine', 'w').write('secret')")
    for path in (HERE, str(Path(HERE).parents[2] / "pyproject.toml"), "/home/box/mine", "/proc/1/cwd/mine"):
        assert lab.errno(f"open({path!r})") in ("ENOENT", "EACCES"), path
    import burnish

    root = str(Path(burnish.__file__).parent)
    assert lab.errno(f"os.listdir({root!r})") in ("ENOENT", "EACCES")


@attack(38, "reading passwords, keys, caches")
def _(lab: Lab) -> None:
    for path in (
        "/etc/passwd", "/etc/shadow", "/root/.ssh", "/root/.bashrc", "/home/box/.cache", "/etc/hosts", "/run",
        "/var/log", "/var/lib", "/sys", "/boot", "/opt", "/mnt", "/proc/self",
    ):  # fmt: skip
        assert (
            lab.errno(f"os.listdir({path!r}) if os.path.isdir({path!r}) else open({path!r})") == "ENOENT"
        ), path


@attack(39, "secrets in the environment")
def _(lab: Lab) -> None:
    import os

    os.environ["SANDBOX_TEST_TOKEN"] = "secret"
    names = set(lab.says("import os; print(*sorted(os.environ))").split())
    assert names <= {
        "HOME", "LANG", "PATH", "PYTHONHASHSEED", "TZ", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
        "OPENBLAS_CORETYPE",
    }  # fmt: skip


@attack(40, "writing outside the scratch")
def _(lab: Lab) -> None:
    for path in ("/x", "/usr/x", "/dev/x", "/etc/x", "/home/x", "/usr/bin/python3", "/lib/x"):
        assert lab.errno(f"open({path!r}, 'w')") in ("EROFS", "EACCES"), path
    assert lab.errno("os.mkdir('/sys')") in ("EROFS", "EACCES")
    assert lab.errno("os.unlink('/usr/bin/env')") in ("EROFS", "EACCES")
    assert lab.errno("os.chmod('/usr/bin/env', 0o777)") in ("EROFS", "EPERM")


@attack(41, "filling the disk")
def _(lab: Lab) -> None:
    code = """
import os
n = 0
try:
    for i in range(100):
        with open(str(i), "wb") as f: n += f.write(bytes(1 << 20)); f.flush()
except OSError as e: print(e.errno, n >> 20)
"""
    errno, size = lab.says(code, scratch_bytes=8 << 20).split()
    assert errno == "28"
    assert int(size) <= 9
    lab.alive()


@attack(42, "using up all inodes")
def _(lab: Lab) -> None:
    code = """
n = 0
try:
    while True: open(str(n), 'w').close(); n += 1
except OSError as e: print(e.errno, n)
"""
    errno, count = lab.says(code, scratch_inodes=100).split()
    assert errno == "28"
    assert int(count) < 100


@attack(43, "leaving files for the next run")
def _(lab: Lab) -> None:
    places = ("/tmp", "/var/tmp", "/dev/shm", "/home/box")
    assert lab.says(f"for d in {places}: open(d + '/left', 'a').write('x')") == ""
    assert lab.says(f"import os; print([os.listdir(d) for d in {places}])") == "[[], [], [], []]"


@attack(44, "deep trees and loops of links")
def _(lab: Lab) -> None:
    code = """
import os
try:
    for _ in range(900): os.mkdir("d"); os.chdir("d")
    os.symlink("..", "loop")
except OSError as e: print(e)
def f(): return 1
"""
    assert lab.call(code).value == 1
    lab.alive()


@attack(45, "climbing out of the root")
def _(lab: Lab) -> None:
    names = set(lab.says("import os; print(*os.listdir('/'))").split())
    assert not names & {"proc", "sys", "run", "boot", "opt", "srv", "mnt", "media", "old", "new", "oldroot"}
    climb = "import os\nfor _ in range(50): os.chdir('..')\nprint(os.getcwd(), os.path.exists('proc'))"
    assert lab.says(climb) == "/ False"
    assert lab.errno("os.chroot('.')") == "EPERM"
    code = "import os\nfor fd in range(200):\n    try: os.fchdir(fd); print(fd)\n    except OSError: pass"
    assert lab.says(code) == ""


@attack(46, "set-user-id programs")
def _(lab: Lab) -> None:
    code = "import os\ntry: os.execv('/usr/bin/su', ['su', '-c', 'id'])\nexcept OSError as e: print(e.errno)"
    result = lab.program(code)
    assert b"uid=0" not in result.stdout
    for call in ("os.setuid(0)", "os.setgid(0)", "os.setresuid(0, 0, 0)", "os.setgroups([0])"):
        assert lab.errno(call) in ("EPERM", "EINVAL"), call
    assert lab.errno("os.chmod(os.open('x', os.O_CREAT), 0o4755)") in ("done", "EPERM")


@attack(47, "making device nodes")
def _(lab: Lab) -> None:
    for kind in (0o020666, 0o060666):
        assert lab.errno(f"os.mknod('node', {kind}, 259)") in ("EPERM", "EACCES")
    for name in ("mem", "kvm", "fuse", "vda", "sda", "nvidia0", "tty", "ptmx"):
        assert lab.errno(f"open('/dev/{name}')") in ("ENOENT", "EACCES"), name


@attack(48, "sockets of services that read-only mounts leave open")
def _(lab: Lab) -> None:
    for path in ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/user"):
        assert lab.errno(f"os.stat({path!r})") == "ENOENT"
    assert lab.errno("socket.socket(socket.AF_UNIX)") == "EPERM"


@attack(49, "other processes through /proc")
def _(lab: Lab) -> None:
    for name in ("mem", "environ", "root", "cwd", "fd", "maps"):
        for pid in ("self", "1", "2"):
            assert lab.errno(f"os.stat('/proc/{pid}/{name}')") == "ENOENT"


@attack(50, "kernel settings through /proc/sys")
def _(lab: Lab) -> None:
    for path in ("/proc/sys/kernel/core_pattern", "/proc/self/oom_score_adj", "/proc/self/coredump_filter"):
        assert lab.errno(f"open({path!r}, 'w')") in ("ENOENT", "EACCES", "EROFS")
    limits = "import resource; print(resource.getrlimit(resource.RLIMIT_CORE))"
    assert lab.says(limits) == "(0, 0)"
    assert lab.errno("kernel(157, 3, 0, 0, 0, 0); assert libc.prctl(3, 0, 0, 0, 0) == 0") == "done"
    assert lab.program("import ctypes; ctypes.string_at(0)").state is State.SIGNAL
