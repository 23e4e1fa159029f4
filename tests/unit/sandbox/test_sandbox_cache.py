"""The cache: one run for equal requests, a key of everything that decides, audits, and what is never kept."""

import asyncio
import time
from dataclasses import fields, replace

import pytest

from burnish.sandbox import Call, Case, Limits, Policy, RunRequest, Sandbox, State

PROGRAM = RunRequest("print(6 * 7)")


@pytest.fixture
def box():
    with Sandbox(Policy(cache_entries=4, audit_fraction=0.0)) as box:
        yield box


def test_a_second_equal_request_is_a_hit(box):
    first, second = box.run(PROGRAM), box.run(replace(PROGRAM, caller="somebody else"))
    assert (first.cached, second.cached) == (False, True)
    assert replace(second, cached=False) == first
    assert asyncio.run(box.arun(PROGRAM)).cached
    assert [result.cached for result in box.run_many([PROGRAM] * 3)] == [True] * 3
    assert (box.cache.stats.hits, box.cache.stats.misses) == (5, 1)


def test_equal_requests_under_way_share_one_run(box):
    slow = RunRequest("import time, os; time.sleep(0.3); print(os.urandom(8).hex())")
    futures = [box.submit(slow) for _ in range(6)]
    assert len({future.result().cases[0].stdout for future in futures}) == 1
    assert (box.cache.stats.misses, box.cache.stats.joined) == (1, 5)


def test_a_joined_request_survives_the_cancelling_of_another(box):
    slow = RunRequest("import time; time.sleep(0.3); print('kept')")

    async def both():
        first, second = (asyncio.ensure_future(box.arun(slow)) for _ in range(2))
        await asyncio.sleep(0.05)
        first.cancel()
        return await asyncio.wait_for(second, 20)

    assert asyncio.run(both()).cases[0].stdout == b"kept\n"
    assert box.run(PROGRAM).state is State.OK


def test_everything_that_decides_is_in_the_key(box):
    base = RunRequest("def f(*a): return a", cases=(Case(call=Call("f", (1,))),), files={"a": b"1"})
    changes = [
        {"code": "def f(*a): return  a"},
        {"language": "shell", "cases": (Case(),)},
        {"cases": (Case(call=Call("f", (1.0,))),)},
        {"cases": (Case(call=Call("f", (True,))),)},
        {"cases": (Case(call=Call("f", ((1,),))),)},
        {"cases": (Case(call=Call("f", (), {"a": 1})),)},
        {"cases": (Case(call=Call("g", (1,))),)},
        {"cases": (Case(b"1"),)},
        {"cases": base.cases * 2},
        {"files": {"a": b"2"}},
        {"files": {"b": b"1"}},
        {"files": {"a": b"1", "b": b""}},
        {"files": {}},
        {"seed": 1},
        {"stop_at_first_failure": True},
        *({"limits": replace(Limits(), **{f.name: getattr(Limits(), f.name) + 1})} for f in fields(Limits)),
    ]
    keys = {box.cache.key(replace(base, **change)) for change in changes} | {box.cache.key(base)}
    assert len(keys) == len(changes) + 1
    assert box.cache.key(base) == box.cache.key(replace(base, code=base.code.encode(), caller="x"))


def test_another_version_of_a_tool_is_another_key(box, monkeypatch):
    from burnish.sandbox import cache

    request = RunRequest("echo hi", language="shell")
    before = box.cache.key(request)
    cache._settings.cache_clear()
    monkeypatch.setattr(cache, "identity", lambda language: "another bash")
    assert box.cache.key(request) != before
    cache._settings.cache_clear()


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        ("1 / 0", True),
        ("import sys; sys.exit(3)", True),
        ("while True: pass", False),
        ("import time; time.sleep(9)", False),
        ("x = bytearray(1 << 40)", False),
        ("import os; os.kill(os.getpid(), 11); import ctypes; ctypes.string_at(0)", False),
    ],
)
def test_only_what_the_program_alone_decides_is_kept(box, code, kept):
    request = RunRequest(code, limits=Limits(cpu_seconds=0.2, wall_seconds=0.8))
    box.run(request)
    assert box.run(request).cached is kept


def test_the_oldest_is_forgotten(box):
    for number in range(5):
        box.run(RunRequest(f"print({number})"))
    assert [box.run(RunRequest(f"print({n})")).cached for n in (4, 0)] == [True, False]


def test_an_audit_finds_results_that_differ_and_forgets_them():
    with Sandbox(Policy(cache_entries=10, audit_fraction=0.5)) as box:
        lucky = RunRequest("import os; print(os.urandom(8).hex())")
        for request in (PROGRAM, lucky):
            box.run(request)
        for _ in range(4):
            assert box.run(PROGRAM).cached
        # In step with another request, which must not draw all the audits.
        for _ in range(30):
            box.run_many([lucky, PROGRAM])
        deadline = time.monotonic() + 20
        while box.cache.stats.disagreements < 2 and time.monotonic() < deadline:
            box.run(lucky)
            time.sleep(0.01)
        stats = box.cache.stats
        assert 2 <= stats.disagreements < stats.audits
        assert box.run(PROGRAM).cached
