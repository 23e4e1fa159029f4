"""Reading requests and deciding who may ask: nothing runs here."""

import base64
import json
from http import HTTPStatus

import pytest

from burnish.sandbox.records import CaseResult, Limits, QueueFull, RunResult, SandboxError, State, Tier
from burnish.sandbox.serve.access import access_for
from burnish.sandbox.serve.datasets import code_of, suite_of
from burnish.sandbox.serve.errors import Refused, refused_by
from burnish.sandbox.serve.requests import read_cells, read_run_code, read_submit, read_table
from burnish.sandbox.serve.responses import run_code_response

BASE = Limits()
GOOD = {"code": "print(1)", "language": "python"}


def test_a_request_of_the_published_client_is_understood():
    table = {
        **GOOD,
        "stdin": "é",
        "compile_timeout": 10,
        "run_timeout": 3,
        "memory_limit_MB": 64,
        "files": {"a/b.txt": base64.b64encode(b"x").decode(), "empty": None},
        "fetch_files": [],
    }
    request = read_run_code(table, "me", BASE)
    assert (request.code, request.language, request.caller) == ("print(1)", "python", "me")
    assert request.cases[0].stdin == "é".encode()
    assert request.files == {"a/b.txt": b"x", "empty": b""}
    assert (request.limits.cpu_seconds, request.limits.memory_bytes) == (3.0, 64 << 20)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"code": None}, "code"),
        ({"code": 7}, "code"),
        ({"code": "\ud800"}, "code"),
        ({"language": "cobol"}, "language"),
        ({"language": "pytest"}, "language"),
        ({"language": None}, "language"),
        ({"stdin": 3}, "stdin"),
        ({"stdin": "\udfff"}, "stdin"),
        ({"run_timeout": -1}, "run_timeout"),
        ({"run_timeout": 1e9}, "run_timeout"),
        ({"run_timeout": float("nan")}, "run_timeout"),
        ({"run_timeout": True}, "run_timeout"),
        ({"memory_limit_MB": 0}, "memory_limit_MB"),
        ({"memory_limit_MB": 2**40}, "memory_limit_MB"),
        ({"memory_limit_MB": 1.5}, "memory_limit_MB"),
        ({"files": ["a"]}, "files"),
        ({"files": {"a": "!"}}, "files['a']"),
        ({"files": {"a": 3}}, "files['a']"),
        ({"fetch_files": ["a"]}, "fetch_files"),
        ({"fetch_files": "a"}, "fetch_files"),
    ],
)
def test_a_bad_field_is_named(change, field):
    with pytest.raises(Refused) as refusal:
        read_run_code({**GOOD, **change}, "", BASE)
    assert refusal.value.detail.startswith(field)
    assert refusal.value.status == HTTPStatus.UNPROCESSABLE_ENTITY


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"3", b"\xff", b"[" * 100_000, b'{"a":' * 100_000])
def test_a_body_that_is_no_table_is_refused(body):
    with pytest.raises(Refused) as refusal:
        read_table(body)
    assert refusal.value.status == HTTPStatus.BAD_REQUEST


def test_cells_have_limits_of_their_own():
    request = read_cells({"cells": ["a = 1"], "cell_timeout": 2, "total_timeout": 9}, BASE)
    assert (request.cells, request.limits.cpu_seconds, request.total_seconds) == (("a = 1",), 2.0, 9.0)
    assert read_cells({"cells": ["a"]}, BASE).limits.wall_seconds == 45.0
    for wrong in ({}, {"cells": []}, {"cells": [1]}, {"cells": ["a"], "files": {"a": ""}}):
        with pytest.raises(Refused):
            read_cells(wrong, BASE)


def submission(kind: str, row: object, completion: str = "def f(x): return x", **config: object):
    table = {
        "id": 1,
        "completion": completion,
        "config": {"dataset_type": kind, "provided_data": row, **config},
    }
    return read_submit(json.loads(json.dumps(table)), BASE)


def test_rows_of_each_kind_become_suites():
    asserts = {
        "test_list": json.dumps(["assert f(1) == 1"]),
        "labels": json.dumps({"test_setup_code": "import re"}),
    }
    assert len(suite_of(submission("MBPPDataset", asserts)).calls) == 1
    check = {"test": "def check(candidate):\n    assert candidate(1) == 1\n", "entry_point": "f"}
    assert suite_of(submission("HumanEvalDataset", check)).calls[0].call.function == "f"
    programs = {"test": [{"input": {"stdin": "1"}, "output": {"stdout": "2"}}]}
    assert suite_of(submission("CommonOJDataset", programs)).programs[0].expected == b"2"
    module = {"test": "from solution import f\ndef test_f(): assert f(1) == 1"}
    tests = suite_of(submission("PytestDataset", module)).tests
    assert tests is not None
    assert tests.labels == ("test_f",)


@pytest.mark.parametrize(
    ("kind", "row", "field"),
    [
        ("NoDataset", {}, "config.dataset_type"),
        ("MBPPDataset", {}, "config.provided_data.test_list"),
        ("MBPPDataset", {"test_list": "x"}, "config.provided_data.test_list"),
        ("HumanEvalDataset", {"entry_point": "f"}, "config.provided_data.test"),
        ("HumanEvalDataset", {"test": "x", "entry_point": "a b"}, "config.provided_data.entry_point"),
        ("CommonOJDataset", {"test": []}, "config.provided_data.test"),
        ("CommonOJDataset", {"test": [{"input": {}}]}, "config.provided_data.test[0]"),
    ],
)
def test_a_bad_column_is_named(kind, row, field):
    with pytest.raises(Refused) as refusal:
        suite_of(submission(kind, row))
    assert refusal.value.detail.startswith(field)


def test_the_row_must_come_along():
    for table in ({}, {"config": {}}, {"config": {"provided_data": {}}}, {"config": {"provided_data": []}}):
        with pytest.raises(Refused):
            read_submit({"completion": "x", **table}, BASE)


def test_the_program_of_a_completion():
    row = {"prompt": "import re\ndef f(x):\n", "entry_point": "f"}
    assert (
        code_of(submission("HumanEvalDataset", row, "    return x")) == "import re\ndef f(x):\n    return x\n"
    )
    fenced = "So:\n```python\ndef f(x): return x\n```\nDone."
    assert code_of(submission("MBPPDataset", {}, fenced)) == "def f(x): return x"


def test_loopback_needs_no_token_and_everything_else_does():
    for host in ("127.0.0.1", "::1", "localhost", "127.8.9.1"):
        access_for(host)
    for host in ("0.0.0.0", "::", "10.0.0.1", "example.org", ""):
        with pytest.raises(SandboxError, match="needs a token"):
            access_for(host)
        access_for(host, "t" * 16)
    with pytest.raises(SandboxError, match="too weak"):
        access_for("127.0.0.1", "short")


def test_a_token_is_compared_whole():
    access = access_for("0.0.0.0", "t" * 16)
    access.check({"Authorization": "Bearer " + "t" * 16})
    for wrong in ("", "Bearer", "Bearer t", "Bearer " + "t" * 17, "Basic " + "t" * 16, "t" * 16, "Bearer é"):
        with pytest.raises(Refused) as refusal:
            access.check({"Authorization": wrong})
        assert refusal.value.status == HTTPStatus.UNAUTHORIZED


def test_without_a_token_the_host_must_be_loopback():
    access = access_for("127.0.0.1")
    for host in ("127.0.0.1:8080", "localhost", "[::1]:80", "localhost:1"):
        access.check({"Host": host})
    for host in ("evil.example:8080", "", "169.254.169.254", "localhost.evil.example"):
        with pytest.raises(Refused):
            access.check({"Host": host})


def test_full_queues_say_whose_they_are():
    own = refused_by(QueueFull("the queue of caller 'a' is full"))
    everybodys = refused_by(QueueFull("the queue is full"))
    assert (own.status, everybodys.status) == (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
    assert "Retry-After" in own.headers
    assert refused_by(SandboxError("x")).status == HTTPStatus.UNPROCESSABLE_ENTITY


@pytest.mark.parametrize(
    ("case", "status", "ran", "code"),
    [
        (CaseResult(State.OK, exit_code=0), "Success", "Finished", 0),
        (CaseResult(State.RUNTIME_ERROR, exit_code=3), "Failed", "Finished", 3),
        (CaseResult(State.CPU_TIMEOUT, signal=9), "Failed", "TimeLimitExceeded", None),
        (CaseResult(State.WALL_TIMEOUT, signal=9), "Failed", "TimeLimitExceeded", None),
        (CaseResult(State.SIGNAL, signal=11), "Failed", "Finished", -11),
        (CaseResult(State.OUTPUT_LIMIT), "Failed", "Finished", 1),
        (CaseResult(State.INFRA_ERROR), "SandboxError", "Error", None),
    ],
)
def test_states_in_the_words_of_the_interface(case, status, ran, code):
    answer = run_code_response(RunResult((case,), Tier.T2, "digest", detail="why"))
    assert (answer["status"], answer["run_result"]["status"], answer["run_result"]["return_code"]) == (
        status,
        ran,
        code,
    )
    assert answer["state"] == case.state
