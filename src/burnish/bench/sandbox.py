"""Sandboxed runs a second and their latency, in turns with bubblewrap and with a process without a wall.

Every side runs the same one-line program and its output is checked. Wall numbers of shared cores swing
twofold, so the sides take turns within the same minute and the ratios are what counts. bubblewrap builds
all namespaces, a read-only /usr, /proc, /dev and a tmpfs; the bare process is an interpreter with
nothing around it. Ours has numpy imported; theirs have not.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil

from burnish.sandbox.client import Sandbox
from burnish.sandbox.engines.open import find_bubblewrap
from burnish.sandbox.records import Call, Case, Policy, RunRequest

_PROGRAM = "print(6 * 7)"
_ANSWER = b"42\n"
_ROUNDS = 3
Run = Callable[[], bytes]


def _interpreter() -> list[str]:
    """The system's Python where there is one: bubblewrap shows it /usr and nothing else."""
    found = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
    return [found, "-I", "-S", "-c", _PROGRAM]


def _bubblewrap() -> list[str] | None:
    path = find_bubblewrap()
    if path is None or not _interpreter()[0].startswith("/usr/"):
        return None
    words = [
        path,
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--ro-bind",
        "/usr",
        "/usr",
    ]
    for link in ("lib", "lib64", "bin"):
        words += ["--symlink", f"usr/{link}", f"/{link}"]
    return [*words, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", *_interpreter()]  # noqa: S108


def _process(command: list[str]) -> Run:
    def run() -> bytes:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout

    return run


def _ours(sandbox: Sandbox) -> Run:
    request = RunRequest(_PROGRAM)
    return lambda: sandbox.run(request).cases[0].stdout


def throughput(run: Run, seconds: float, at_once: int) -> tuple[int, float, list[float]]:
    """Runs that ended, seconds they took, and the time of each, with `at_once` callers that never pause."""
    times: list[float] = []
    lock = threading.Lock()
    began = time.perf_counter()
    end = began + seconds

    def caller() -> None:
        while time.perf_counter() < end:
            start = time.perf_counter()
            if run() != _ANSWER:
                raise RuntimeError("a run gave a wrong answer")
            with lock:
                times.append(time.perf_counter() - start)

    with ThreadPoolExecutor(at_once) as pool:
        for future in [pool.submit(caller) for _ in range(at_once)]:
            future.result()
    return len(times), time.perf_counter() - began, times


def _latency_at_rest(run: Run, seconds: float) -> list[float]:
    """Times of single runs with 8 ms of rest before each."""
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        time.sleep(0.008)
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return times


def _summary(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "p50_ms": 1000 * statistics.median(ordered),
        "p99_ms": 1000 * ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))],
    }


def _sides(sandbox: Sandbox) -> dict[str, Run]:
    sides = {"burnish": _ours(sandbox), "bare process": _process(_interpreter())}
    bubblewrap = _bubblewrap()
    return sides | ({"bubblewrap": _process(bubblewrap)} if bubblewrap else {})


def _cpu_seconds(supervisor: int) -> float:
    """CPU time of this process, of all children it waited for, and of the sandbox's processes and theirs."""
    waited = resource.getrusage(resource.RUSAGE_CHILDREN)
    top = psutil.Process(supervisor)
    tree = [process.cpu_times() for process in (top, *top.children(recursive=True))]
    theirs = sum(t.user + t.system + t.children_user + t.children_system for t in tree)
    return time.process_time() + waited.ru_utime + waited.ru_stime + theirs


def _in_turns(
    sides: dict[str, Run], seconds: float, at_once: int, supervisor: int
) -> dict[str, dict[str, float]]:
    """Rates and latencies of all sides, in rounds; the rate is that of all rounds together."""
    counts = dict.fromkeys(sides, 0)
    spent = dict.fromkeys(sides, 0.0)
    cpu = dict.fromkeys(sides, 0.0)
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(_ROUNDS):
        for name, run in sides.items():
            before = _cpu_seconds(supervisor)
            count, took, each = throughput(run, seconds / _ROUNDS, at_once)
            cpu[name] += _cpu_seconds(supervisor) - before
            counts[name] += count
            spent[name] += took
            times[name] += each
    return {
        name: {
            "per_second": counts[name] / spent[name],
            "cpu_ms": 1000 * cpu[name] / counts[name],
            **_summary(times[name]),
        }
        for name in sides
    }


def _cases_per_second(sandbox: Sandbox, seconds: float) -> float:
    cases = tuple(Case(call=Call("f", (number,))) for number in range(100))
    request = RunRequest("def f(x):\n    return x * x", cases=cases)
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        for results in sandbox.run_many([request, request]):
            if [case.value for case in results.cases] != [number**2 for number in range(100)]:
                raise RuntimeError("a case gave a wrong answer")
            done += 100
    return done / (time.perf_counter() - began)


def _hits_per_second(seconds: float) -> float:
    with Sandbox(Policy(cache_entries=1000, workers=1)) as sandbox:
        request = RunRequest(_PROGRAM)
        sandbox.run(request)
        began, done = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            for _ in range(1000):
                sandbox.run(request)
            done += 1000
        return done / (time.perf_counter() - began)


def bench_sandbox(seconds: float) -> dict[str, Any]:
    """All measurements: `seconds` for each side with eight callers, a quarter of it for every other."""
    workers = len(os.sched_getaffinity(0))
    less = seconds / 4
    with Sandbox(Policy(profile="numpy", workers=workers)) as sandbox:
        sides = _sides(sandbox)
        for run in sides.values():
            run()
        supervisor = sandbox.stats()["pid"]
        busy = _in_turns(sides, seconds, 8, supervisor)
        pair = _in_turns(sides, less, 2, supervisor)
        rest = {name: _summary(_latency_at_rest(run, less)) for name, run in sides.items()}
        cases = _cases_per_second(sandbox, less)
        tier = sandbox.tier.name
    ours = busy["burnish"]["per_second"]
    return {
        "tier": tier,
        "cores": workers,
        "eight callers": busy,
        "two callers": pair,
        "at rest": rest,
        "cpu time, of": {name: side["cpu_ms"] / busy["burnish"]["cpu_ms"] for name, side in busy.items()},
        "times a second, to": {name: ours / side["per_second"] for name, side in busy.items()},
        "cases_per_second": cases,
        "cache_hits_per_second": _hits_per_second(min(less, 1.0)),
    }


def table(report: dict[str, Any]) -> str:
    """The report as text."""
    lines = [
        f"tier {report['tier']}, {report['cores']} cores; burnish with numpy imported, the others without"
    ]
    for title in ("eight callers", "two callers", "at rest"):
        lines.append(title)
        for name, side in report[title].items():
            rate = (
                f"{side['per_second']:8.0f}/s {side['cpu_ms']:5.1f} ms CPU" if "cpu_ms" in side else " " * 23
            )
            lines.append(f"  {name:14} {rate}  p50 {side['p50_ms']:7.1f} ms  p99 {side['p99_ms']:7.1f} ms")
    ratios = ", ".join(
        f"{ratio:.1f}x {name}" for name, ratio in report["times a second, to"].items() if ratio != 1
    )
    lines.append(f"eight callers: burnish runs {ratios}")
    ratios = ", ".join(
        f"{ratio:.1f}x less than {name}" for name, ratio in report["cpu time, of"].items() if ratio != 1
    )
    lines.append(f"CPU time of a run: {ratios}")
    lines.append(f"cases of one program: {report['cases_per_second']:.0f}/s")
    lines.append(f"cache hits: {report['cache_hits_per_second']:.0f}/s")
    return "\n".join(lines)
