"""`Sandbox` from outside: order, queues, callers, cancelling, a lost supervisor; what is refused."""

import asyncio
import os
import signal
import threading
import time
from dataclasses import replace

import psutil
import pytest

from burnish.sandbox import (
    Call,
    Case,
    Limits,
    Policy,
    QueueFull,
    RunRequest,
    Sandbox,
    SandboxError,
    State,
    Tier,
)
from burnish.sandbox.fairqueue import FairQueue

SLOW = RunRequest("import time; time.sleep(0.4); print('slow')")


@pytest.fixture(scope="module")
def box():
    with Sandbox(Policy(queue=16, per_caller=8)) as box:
        yield box


def test_many_come_back_in_order_whatever_the_queue_holds(box):
    requests = [RunRequest(f"print({n})") for n in range(60)]
    assert [result.cases[0].stdout for result in box.run_many(requests)] == [b"%d\n" % n for n in range(60)]
    assert box.run_many([]) == []


def test_many_wait_for_each_other_instead_of_failing(box):
    found = {}

    def ask(name):
        requests = [RunRequest(f"print({n})", caller=name) for n in range(25)]
        found[name] = [result.cases[0].stdout for result in box.run_many(requests)]

    threads = [threading.Thread(target=ask, args=(f"caller {n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert all(outputs == [b"%d\n" % n for n in range(25)] for outputs in found.values())


def test_a_wrong_request_among_many_is_said_when_the_others_have_ended(box):
    with pytest.raises(SandboxError, match=r"RunRequest\.language"):
        box.run_many([RunRequest("print(1)"), RunRequest("x", language="cobol")])
    assert box.stats()["active"] == 0


def test_a_full_queue_is_said_and_nothing_is_lost(box):
    futures = [box.submit(replace(SLOW, caller="a")) for _ in range(8)]
    with pytest.raises(QueueFull, match="caller 'a'"):
        box.submit(replace(SLOW, caller="a"))
    others = [box.submit(RunRequest("print(1)", caller=f"b{n % 2}")) for n in range(10)]
    with pytest.raises(QueueFull, match=r"Policy\.queue"):
        box.submit(RunRequest("print(1)", caller="c"))
    assert all(future.result().state is State.OK for future in futures + others)


def test_a_caller_with_many_requests_delays_nobody(box):
    crowd = [box.submit(replace(SLOW, caller="crowd")) for _ in range(8)]
    one = box.submit(RunRequest("print('one')", caller="single"))
    assert one.result().cases[0].stdout == b"one\n"
    assert sum(future.done() for future in crowd) <= 4
    assert all(future.result().state is State.OK for future in crowd)


def test_cancelling_a_wait_breaks_nothing(box):
    async def impatient():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(box.arun(SLOW), 0.05)
        futures = [asyncio.ensure_future(box.arun(replace(SLOW, seed=n))) for n in range(4)]
        await asyncio.sleep(0.05)
        for future in futures:
            future.cancel()
        await asyncio.gather(*futures, return_exceptions=True)
        return await asyncio.wait_for(box.arun(RunRequest("print(7)")), 20)

    assert asyncio.run(impatient()).cases[0].stdout == b"7\n"
    future = box.submit(SLOW)
    assert not future.cancel()
    assert future.result().state is State.OK


def test_what_a_supervisor_had_under_way_is_run_again():
    with Sandbox(Policy()) as box:
        futures = [box.submit(replace(SLOW, seed=n)) for n in range(4)]
        session = box.session()
        time.sleep(0.2)
        os.kill(box.stats()["pid"], signal.SIGKILL)
        assert [future.result().cases[0].stdout for future in futures] == [b"slow\n"] * 4
        with pytest.raises(SandboxError, match="this session has ended"):
            session.execute("1")
        os.kill(box.stats()["zygote"], signal.SIGKILL)
        assert box.run(RunRequest("print(1)")).state is State.OK


def test_a_closed_sandbox_says_so():
    box = Sandbox(Policy(workers=1))
    pid = box.stats()["pid"]
    future = box.submit(SLOW)
    box.close()
    box.close()
    assert future.result().state is State.INFRA_ERROR
    with pytest.raises(SandboxError, match="closed"):
        box.run(RunRequest("print(1)"))
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


F = Case(call=Call("f"))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"code": "a\0b"}, "code holds a NUL byte"),
        ({"code": "\ud800"}, "code is not valid Unicode"),
        ({"code": "x" * (5 << 20)}, "code is too long"),
        ({"code": 7}, "code is no text"),
        ({"language": "cobol"}, "RunRequest.language"),
        ({"language": ["python"]}, "RunRequest.language"),
        ({"limits": Limits(cpu_seconds=float("nan"))}, "Limits.cpu_seconds"),
        ({"limits": Limits(cpu_seconds=-1)}, "Limits.cpu_seconds"),
        ({"limits": Limits(wall_seconds=float("inf"))}, "Limits.wall_seconds"),
        ({"limits": Limits(memory_bytes=0)}, "Limits.memory_bytes"),
        ({"limits": Limits(memory_bytes=10**30)}, "Limits.memory_bytes"),
        ({"limits": Limits(processes=True)}, "Limits.processes"),
        ({"limits": Limits(output_bytes="1")}, "Limits.output_bytes"),
        ({"limits": None}, "RunRequest.limits"),
        ({"cases": ()}, "RunRequest.cases"),
        ({"cases": (F, Case(b"x"))}, "mixes calls and programs"),
        ({"cases": (Case("text"),)}, "Case.stdin"),
        ({"cases": (7,)}, "RunRequest.cases"),
        ({"cases": (Case(call=Call("os.system('x')")),)}, "Call.function"),
        ({"cases": (Case(call=Call("f", (object(),))),)}, "not plain data"),
        ({"cases": (Case(call=Call("f", 7)),)}, "Call.args"),
        ({"cases": (Case(call=Call("f", (), {1: 2})),)}, "Call.kwargs"),
        ({"cases": (Case(call="f"),)}, "Case.call"),
        ({"files": {"../x": b""}}, "RunRequest.files"),
        ({"files": {"/x": b""}}, "RunRequest.files"),
        ({"files": {"a\n": b""}}, "RunRequest.files"),
        ({"files": {"x": "text"}}, "RunRequest.files"),
        ({"files": {"x": bytes(17 << 20)}}, "RunRequest.files do not fit"),
        ({"files": ["x"]}, "RunRequest.files"),
        ({"seed": -1}, "RunRequest.seed"),
        ({"caller": "x" * 300}, "RunRequest.caller"),
    ],
)
@pytest.mark.parametrize("cached", [False, True], ids=["plain", "cached"])
def test_a_wrong_request_is_refused_before_work_and_names_its_field(boxes, change, word, cached):
    box = boxes[cached]
    with pytest.raises(SandboxError) as caught:
        box.run(replace(RunRequest("print(1)"), **change))
    assert word in str(caught.value)
    assert len(str(caught.value)) < 2000
    assert box._waiting.total() == 0


@pytest.fixture(scope="module")
def boxes(box):
    with Sandbox(Policy(cache_entries=100)) as cached:
        yield {False: box, True: cached}
        assert cached.run(RunRequest("print(1)")).state is State.OK


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"workers": 0}, "Policy.workers"),
        ({"workers": 1.5}, "Policy.workers"),
        ({"queue": -1}, "Policy.queue"),
        ({"profile": "nunpy"}, "Policy.profile"),
        ({"profile": ("no_such_package_here",)}, "no_such_package_here"),
        ({"profile": ("os; x",)}, "Policy.profile"),
        ({"profile": 7}, "Policy.profile"),
        ({"tier": Tier.T3}, "Policy.tier"),
        ({"tier": "T2"}, "Policy.tier"),
        ({"audit_fraction": 2}, "Policy.audit_fraction"),
        ({"engine": "bwrap"}, "open_engine"),
        ({"sessions": 0}, "Policy.sessions"),
    ],
)
def test_a_wrong_policy_is_refused(change, word):
    with pytest.raises(SandboxError) as caught:
        Sandbox(replace(Policy(), **change))
    assert word in str(caught.value)


def test_the_queue_takes_callers_in_turn():
    queue = FairQueue()
    for item in range(3):
        queue.put("a", f"a{item}")
    queue.put("b", "b0")
    assert [queue.get() for _ in range(2)] == ["a0", "b0"]
    queue.put_back("a", "a-again")
    assert [queue.get() for _ in range(3)] == ["a-again", "a1", "a2"]
    assert len(queue) == 0
    with pytest.raises(IndexError):
        queue.get()
