"""Attacks by and on processes: nothing outside can be seen or hit, and nothing outlives its run."""

from __future__ import annotations

import time

from attacks.lab import Lab, attack
from burnish.sandbox import Limits, State


@attack(51, "kill(0, SIGKILL): the process group")
def _(lab: Lab) -> None:
    before = lab.box.stats()
    lab.program("import os; os.kill(0, 9)", processes=3)
    lab.program("import os\nif os.fork() == 0: os.kill(0, 9)\nos.wait()", processes=3)
    after = lab.box.stats()
    assert (before["pid"], before["zygote"]) == (after["pid"], after["zygote"])
    lab.alive()


@attack(52, "kill(-1), kill(getppid()), killpg")
def _(lab: Lab) -> None:
    before = lab.box.stats()
    code = """
import os
for target in ("os.kill(-1, 9)", "os.kill(os.getppid(), 9)", "os.killpg(os.getpgid(0), 0)", "os.kill(2, 9)"):
    try: exec(target)
    except OSError as e: pass
print(os.getppid())
"""
    assert lab.says(code) == "0"
    after = lab.box.stats()
    assert (before["pid"], before["zygote"]) == (after["pid"], after["zygote"])


@attack(53, "a daemon by double fork")
def _(lab: Lab) -> None:
    code = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for fd in (0, 1, 2): os.close(fd)
        while True: pass
    os._exit(0)
os.wait(); print("left one behind")
"""
    began = time.monotonic()
    result = lab.program(code, processes=4)
    assert (result.state, result.stdout) == (State.OK, b"left one behind\n")
    assert time.monotonic() - began < 3
    assert running("left one behind") == 0


def running(text: str) -> int:
    """Processes of this machine that come from a zygote and use the processor now."""
    import psutil

    return sum(
        text in " ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"])
    )


@attack(54, "a child that keeps stdout open")
def _(lab: Lab) -> None:
    code = "import os, time\nif os.fork() == 0: time.sleep(60)\nprint('done')"
    began = time.monotonic()
    assert lab.program(code, processes=2).stdout == b"done\n"
    assert time.monotonic() - began < 3


@attack(55, "fork bomb")
def _(lab: Lab) -> None:
    assert lab.errno("os.fork()") == "EAGAIN"
    assert lab.program("import os; os.fork()").state is State.PIDS_LIMIT
    code = """
import os, time
n = 0
try:
    while True:
        if os.fork() == 0: time.sleep(60); os._exit(0)
        n += 1
except BlockingIOError: print(n)
"""
    for processes in (1, 4):
        assert int(lab.says(code, processes=processes)) == processes
    wild = lab.program(
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
        processes=3,
        cpu_seconds=0.2,
        wall_seconds=2,
    )
    assert wild.state in (State.CPU_TIMEOUT, State.WALL_TIMEOUT)
    lab.alive()


@attack(56, "threads, clone loops, vfork storms")
def _(lab: Lab) -> None:
    code = """
import threading, time
n = 0
try:
    for n in range(1000): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
except RuntimeError: print(n)
"""
    assert 8 <= int(lab.says(code, memory_bytes=1 << 30)) <= 32
    assert lab.errno("kernel(58)") == "EAGAIN"
    assert lab.errno("kernel(56, 17, 0, 0, 0, 0)") == "EAGAIN"
    storm = """
import threading, time
while True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
"""
    assert lab.program(storm, memory_bytes=1 << 30).state is State.PIDS_LIMIT
    lab.alive()


@attack(57, "ignoring every signal")
def _(lab: Lab) -> None:
    code = """
import signal
for n in range(1, 65):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True: pass
"""
    assert lab.program(code, cpu_seconds=0.3).state is State.CPU_TIMEOUT


@attack(58, "stopping itself, pausing, sleeping, reading for ever")
def _(lab: Lab) -> None:
    for line in (
        "os.kill(os.getpid(), signal.SIGSTOP); time.sleep(60)", "signal.pause()", "time.sleep(60)",
        "os.read(os.pipe()[0], 1)",
    ):  # fmt: skip
        result = lab.program(f"import os, signal, time\n{line}", wall_seconds=0.25)
        assert result.state is State.WALL_TIMEOUT, line


@attack(59, "a farm of zombies")
def _(lab: Lab) -> None:
    code = "import os\nfor _ in range(8):\n    if os.fork() == 0: os._exit(0)\nprint('sown')"
    for _ in range(5):
        assert lab.says(code, processes=16) == "sown"
    assert zombies(lab) == 0


def zombies(lab: Lab) -> int:
    import psutil

    supervisor = psutil.Process(lab.box.stats()["pid"])
    found = [supervisor, *supervisor.children(recursive=True)]
    return sum(process.status() == psutil.STATUS_ZOMBIE for process in found)


@attack(60, "reading and steering siblings")
def _(lab: Lab) -> None:
    for call in (
        "kernel(101, 16, 1, 0, 0)", "kernel(310, 1, 0, 0, 0, 0, 0)", "kernel(311, 1, 0, 0, 0, 0, 0)",
        "kernel(438, 0, 0, 0)", "kernel(312, 1, 1, 0, 0, 0)", "kernel(440, 0, 0, 0, 0, 0)",
    ):  # fmt: skip
        assert lab.errno(call) == "EPERM", call


@attack(61, "reusing a process number before a kill")
def _(lab: Lab) -> None:
    code = """
import os
for _ in range(100):
    if os.fork() == 0: os._exit(0)
    os.wait()
print(os.getpid())
"""
    assert lab.says(code, processes=2) == "1"
    from burnish.sandbox import hatchery

    assert "pidfd_send_signal" in hatchery.Jail.kill.__code__.co_names


@attack(62, "other interpreters")
def _(lab: Lab) -> None:
    shell = "import os; os.execv('/bin/sh', ['sh', '-c', {!r}])"
    assert lab.says(shell.format("echo $$; cd /; echo *")).split()[0] == "1"
    assert lab.program(shell.format("while :; do :; done"), cpu_seconds=0.3).state is State.CPU_TIMEOUT
    assert b"proc" not in lab.program(shell.format("cd /; echo *")).stdout
    forks = lab.program(shell.format("/bin/sleep 60 & wait"))
    assert forks.state is not State.OK


@attack(63, "prctl, priorities, real-time scheduling")
def _(lab: Lab) -> None:
    assert lab.errno("os.nice(-5)") in ("EPERM", "EACCES")
    assert lab.errno("os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))") == "EPERM"
    assert lab.errno("os.setpriority(os.PRIO_PROCESS, 0, -10)") in ("EPERM", "EACCES")
    code = """
import ctypes
l = ctypes.CDLL(None)
l.prctl(1, 0, 0, 0, 0); l.prctl(4, 1, 0, 0, 0); print(l.prctl(39, 0, 0, 0, 0))
"""
    assert lab.says(code) == "1"


@attack(64, "crashing the zygote")
def _(lab: Lab) -> None:
    smash = """
import ctypes
for a in range(id(int) - 4096, id(int) + 65536, 8): ctypes.c_long.from_address(a).value = 7
"""
    assert lab.program(smash).state in (State.SIGNAL, State.RUNTIME_ERROR)
    lab.alive()
    import psutil

    tree = psutil.Process(lab.box.stats()["zygote"])
    psutil.Process(tree.pid).kill()
    for _ in range(3):
        lab.alive()
    assert lab.box.stats()["zygote"] != tree.pid
    assert Limits().processes == 0
