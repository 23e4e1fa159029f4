"""The service on a port of this machine, asked by hand and by the published client."""

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from burnish.sandbox import Policy, SandboxError
from burnish.sandbox.serve.server import Server, close_server, open_server

TOKEN = "a-token-for-tests-only"


def started(**settings: object) -> Server:
    server = open_server(port=0, **settings)  # pyright: ignore[reportArgumentType]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = started(policy=Policy(queue=64, per_caller=8))
    yield server
    close_server(server)


def post(server: Server, path: str, body: object, **headers: str) -> tuple[int, dict, dict]:
    """Status, answer and headers."""
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=30)
    try:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", path, data, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else {}, dict(answer.getheaders())
    finally:
        connection.close()


def run(server: Server, code: str, **more: object) -> dict:
    status, answer, _ = post(server, "/run_code", {"code": code, "language": "python", **more})
    assert status == 200, answer
    return answer


def test_a_program_runs(server):
    answer = run(server, "print(input()[::-1]); import sys; sys.stderr.write('e')", stdin="abc")
    assert (answer["status"], answer["state"], answer["tier"]) == ("Success", "ok", "T2")
    assert (answer["run_result"]["stdout"], answer["run_result"]["stderr"]) == ("cba\n", "e")
    assert answer["run_result"]["cpu_time"] > 0
    loop = run(server, "while True: pass", run_timeout=0.5)
    assert (loop["status"], loop["run_result"]["status"]) == ("Failed", "TimeLimitExceeded")


def test_tests_that_come_along_judge_a_completion(server):
    row = {"test_list": ["assert f(2) == 4", "assert len(str(f(9))) == 2"]}
    config = {"dataset_type": "MBPPDataset", "provided_data": row, "run_timeout": 2}
    for completion, right in {
        "```python\ndef f(x): return x * x\n```": True,
        "def f(x): return 4": False,
    }.items():
        status, answer, _ = post(server, "/submit", {"id": 3, "completion": completion, "config": config})
        assert (status, answer["accepted"], answer["id"]) == (200, right, 3)
        assert len(answer["tests"]) == 2
    assert "== 4" not in json.dumps(answer)


def test_cells_keep_their_variables(server):
    cells = {"cells": ["a = 20", "print(a + 1)", "1 / 0", "print(a)"]}
    status, answer, _ = post(server, "/run_jupyter", cells)
    assert (status, answer["status"]) == (200, "Success")
    assert [cell["stdout"] for cell in answer["cells"]] == ["", "21\n", "", "20\n"]
    assert [bool(cell["error"]) for cell in answer["cells"]] == [False, False, True, False]


@pytest.mark.parametrize(
    ("language", "code", "printed"),
    [
        ("bash", "read x; echo $((x + 1))", "8\n"),
        ("nodejs", "console.log(Number(require('fs').readFileSync(0)) + 1)", "8\n"),
        (
            "cpp",
            "#include <iostream>\nint main() { int x; std::cin >> x; std::cout << x + 1 << '\\n'; }",
            "8\n",
        ),
        (
            "c",
            '#include <stdio.h>\nint main(void) { int x; scanf("%d", &x); printf("%d\\n", x + 1); }',
            "8\n",
        ),
        ("sql", "select 7 + 1;", "8\n"),
    ],
)
def test_other_languages_run(server, language, code, printed):
    stdin = "" if language == "sql" else "7\n"
    status, answer, _ = post(server, "/run_code", {"code": code, "language": language, "stdin": stdin})
    assert (status, answer["status"]) == (200, "Success"), answer
    assert answer["run_result"]["stdout"] == printed
    assert (answer["compile_result"] is not None) == (language in ("c", "cpp"))


def test_a_program_that_does_not_compile_has_no_run(server):
    _, answer, _ = post(server, "/run_code", {"code": "int main(", "language": "c"})
    assert (answer["status"], answer["run_result"]) == ("Failed", None)
    assert answer["compile_result"]["return_code"] == 1
    assert "error" in answer["compile_result"]["stderr"]


def test_cells_have_a_total(server):
    cells = ["import time; time.sleep(0.3); print(1)"] * 5
    began = time.monotonic()
    status, answer, _ = post(server, "/run_jupyter", {"cells": cells, "total_timeout": 0.8})
    assert (status, answer["status"]) == (200, "Failed")
    assert answer["driver"]["status"] == "TimeLimitExceeded"
    assert 1 <= len(answer["cells"]) <= 3
    assert time.monotonic() - began < 5
    hostile = ["import os; os.write(3, b'x' * 100)", "print('after')"]
    status, answer, _ = post(server, "/run_jupyter", {"cells": hostile})
    assert status == 200
    assert run(server, "print(1)")["status"] == "Success"


@pytest.mark.parametrize(
    ("path", "body", "status", "word"),
    [
        ("/run_code", {"code": "x", "language": "cobol"}, 422, "language"),
        ("/run_code", {"code": "a\0b", "language": "python"}, 422, "NUL"),
        ("/run_code", {"code": "x" * (5 << 20), "language": "python"}, 422, "too long"),
        ("/run_code", {"code": "x", "language": "python", "files": {"../a": ""}}, 422, "files"),
        ("/run_code", b"{", 400, "JSON"),
        (
            "/submit",
            {"completion": "x", "config": {"provided_data": {}, "dataset_type": "X"}},
            422,
            "dataset_type",
        ),
        ("/get_prompts", {}, 404, "/submit"),
    ],
)
def test_bad_requests_get_a_status_and_a_reason(server, path, body, status, word):
    found, answer, _ = post(server, path, body)
    assert found == status
    assert word in answer["detail"]
    assert "Traceback" not in answer["detail"]


def test_only_json_of_a_known_length_for_this_machine_is_read(server):
    assert post(server, "/run_code", b"{}", **{"Content-Type": "text/plain"})[0] == 415
    assert post(server, "/run_code", b"{}", Host="evil.example")[0] == 403
    for head, status in (
        (b"Content-Length: 99999999999", b" 413 "),
        (b"Content-Length: 000000000000000000000" + b"9" * 11, b" 413 "),
        (b"Content-Length: \xd9\xa1", b" 411 "),
        (b"Content-Length: -1", b" 411 "),
        (b"Content-Length: x", b" 411 "),
        (b"A: b", b" 411 "),
    ):
        with socket.create_connection(server.server_address[:2], timeout=10) as raw:
            raw.sendall(b"POST /run_code HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n")
            assert status in raw.recv(200)


def test_a_full_queue_is_said_and_the_others_go_on(server):
    """One caller floods; it is refused beyond its share, and another is still served."""

    def flood(_: int) -> int:
        body = {"code": "import time; time.sleep(0.3)", "language": "python"}
        return post(server, "/run_code", body, **{"X-Caller": "flood"})[0]

    with ThreadPoolExecutor(40) as pool:
        flooding = [pool.submit(flood, n) for n in range(40)]
        assert run(server, "print(7)")["run_result"]["stdout"] == "7\n"
        statuses = [future.result() for future in flooding]
    assert set(statuses) == {200, 429}
    assert statuses.count(200) >= 8
    assert run(server, "print(8)")["run_result"]["stdout"] == "8\n"


def test_a_service_that_is_full_says_when_to_come_back():
    server = started(policy=Policy(queue=1, per_caller=1, workers=1))
    try:
        slow = {"code": "import time; time.sleep(0.5)", "language": "python"}
        with ThreadPoolExecutor(12) as pool:
            futures = [
                pool.submit(post, server, "/run_code", slow, **{"X-Caller": str(n)}) for n in range(12)
            ]
            answers = [future.result() for future in futures]
    finally:
        close_server(server)
    refused = [headers for status, _, headers in answers if status == 503]
    assert len(refused) >= 8
    assert all(headers["Retry-After"] for headers in refused)
    assert {status for status, _, _ in answers} == {200, 503}


def test_with_a_token_nothing_is_answered_without_it():
    server = started(token=TOKEN)
    try:
        body = {"code": "print(1)", "language": "python"}
        assert post(server, "/run_code", body)[0] == 401
        assert post(server, "/run_code", body, Authorization="Bearer wrong-token-wrong-token")[0] == 401
        status, _, _ = post(server, "/run_code", body, Authorization=f"Bearer {TOKEN}", Host="any.example")
        assert status == 200
    finally:
        close_server(server)


def test_the_command_serves_until_it_is_told_to_end():
    command = [sys.executable, "-m", "burnish", "sandbox", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        url = line.split()[2].rstrip(",")
        with urllib.request.urlopen(f"{url}/v1/ping", timeout=10) as answer:
            assert answer.read() == b'"pong"'
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    refused = subprocess.run([*command, "--host", "0.0.0.0"], capture_output=True, text=True, check=False)
    assert (refused.returncode, "needs a token" in refused.stderr) == (2, True)


def test_addresses_that_cannot_be_used(server):
    with pytest.raises(SandboxError, match="needs a token"):
        open_server("0.0.0.0", 0)
    with pytest.raises(SandboxError, match="cannot listen"):
        open_server("127.0.0.1", server.server_address[1])
    with pytest.raises(SandboxError, match="cannot listen"):
        open_server("127.0.0.1", 99_999)


def test_the_published_client_of_sandbox_fusion(server):
    import sandbox_fusion as client

    client.set_endpoint(server.url)
    once = {"max_attempts": 1, "client_timeout": 30}
    request = client.RunCodeRequest(code="print(input())", language="python", stdin="hi", run_timeout=5)
    answer = client.run_code(request, **once)
    assert (answer.status, answer.run_result.stdout) == (client.RunStatus.Success, "hi\n")
    loop = client.run_code(
        client.RunCodeRequest(code="while 1: 0", language="python", run_timeout=0.5), **once
    )
    words = client.SummaryMapping(Success="ok", Failed="failed", RunTimeout="slow", RunFailed="broken")
    assert client.summary_run_code_result(loop, words) == "slow"
    broken = client.run_code(client.RunCodeRequest(code="1/0", language="python"), **once)
    assert client.summary_run_code_result(broken, words) == "broken"
    cells = client.run_jupyter(client.RunJupyterRequest(cells=["a = 1", "print(a)"]), **once)
    assert cells.cells[1].stdout == "1\n"
    many = [[client.RunCodeRequest(code=f"print({n})", language="python")] for n in range(8)]
    printed = client.run_concurrent(client.run_code, args=many, concurrency=4)
    assert [found.run_result.stdout for found in printed] == [f"{n}\n" for n in range(8)]
    row = {"test_list": ["assert f(1) == 2"]}
    config = client.TestConfig(dataset_type="MBPPDataset", provided_data=row)
    for code, accepted in {"def f(x): return x + 1": True, "import os; os._exit(0)": False}.items():
        submitted = client.SubmitRequest(dataset="mine", id=1, completion=code, config=config)
        assert client.submit(submitted, **once).accepted is accepted
