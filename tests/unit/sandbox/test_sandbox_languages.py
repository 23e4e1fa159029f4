"""Programs in other languages than Python: the same states, limits and walls; compilers inside the jail."""

from dataclasses import replace

import pytest

from burnish.sandbox import Call, Case, Limits, Policy, RunRequest, Sandbox, SandboxError, State, Tier
from burnish.sandbox.languages import LANGUAGES, identity, missing
from burnish.sandbox.policy import check_request

SMALL = Limits(cpu_seconds=1.0, wall_seconds=4.0, memory_bytes=64 << 20, output_bytes=1 << 16)
OTHERS = tuple(name for name in LANGUAGES if name != "python" and not missing(name))
"""Languages of this machine; that none is missed where the tools are is tested with `missing`."""


@pytest.fixture(scope="module")
def box():
    with Sandbox(Policy()) as box:
        yield box


def run(box, language, code, *stdins, files=None, **limits):
    request = RunRequest(
        code,
        language=language,
        cases=tuple(Case(stdin) for stdin in stdins or (b"",)),
        limits=replace(SMALL, **limits),
        files=files or {},
    )
    result = box.run(request)
    return result, result.cases


DOUBLES = {
    "shell": "read x; echo $((x * 2))",
    "javascript": "console.log(2 * require('fs').readFileSync(0, 'utf8'))",
    "c": '#include <stdio.h>\nint main(void) { int x; scanf("%d", &x); printf("%d\\n", 2 * x); }',
    "cpp": "#include <iostream>\nint main() { int x; std::cin >> x; std::cout << 2 * x << '\\n'; }",
    "sql": "select 2 * x from t;",
}
LOOPS = {
    "shell": "while :; do :; done",
    "javascript": "for (;;) {}",
    "c": "int main(void) { for (volatile int i = 0;; i++) {} }",
    "cpp": "int main() { for (volatile int i = 0;; ++i) {} }",
    "sql": "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n;",
}
HOARDS = {
    "shell": "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done",
    "javascript": "const kept = []; for (;;) kept.push(new Array(100000).fill(1.5));",
    "c": "#include <stdlib.h>\n#include <string.h>\n#include <stdio.h>\n"
    'int main(void) { for (;;) { void *p = malloc(1 << 22); if (!p) { perror("malloc"); return 1; } '
    "memset(p, 1, 1 << 22); } }",
    "cpp": "#include <vector>\nint main() { std::vector<std::vector<char>> v;\n"
    "for (;;) v.emplace_back(1 << 22); }",
    "sql": "create table t(x); with recursive n(x) as (select 1 union all select x + 1 from n) "
    "insert into t select zeroblob(100000) from n;",
}


@pytest.mark.parametrize("language", OTHERS)
def test_a_program_reads_and_prints_afresh_for_each_case(box, language):
    stdins = [b"7\n", b"21\n"]
    if language == "sql":
        stdins = [b"create table t(x); insert into t values (%s);" % x.strip() for x in stdins]
    result, cases = run(box, language, DOUBLES[language], *stdins)
    assert [(case.state, case.stdout) for case in cases] == [(State.OK, b"14\n"), (State.OK, b"42\n")]
    assert result.tier is Tier.T2
    assert (result.compilation is not None) == bool(LANGUAGES[language].compile)
    assert result.digest != box.digest, "the version of a tool decides the result too"


@pytest.mark.parametrize("language", OTHERS)
def test_limits_hold(box, language):
    _, (loop,) = run(box, language, LOOPS[language], cpu_seconds=0.3)
    assert loop.state is State.CPU_TIMEOUT, loop
    assert loop.cpu_seconds < 3
    _, (hoard,) = run(
        box, language, HOARDS[language], memory_bytes=32 << 20, cpu_seconds=4.0, wall_seconds=16.0
    )
    assert hoard.state is State.MEMORY_LIMIT, hoard
    assert hoard.peak_bytes < 300 << 20


@pytest.mark.parametrize("language", OTHERS)
def test_a_program_that_is_wrong_is_a_runtime_error(box, language):
    result, cases = run(box, language, "this is no program (", b"", b"")
    assert [case.state for case in cases] == [State.RUNTIME_ERROR] * 2
    assert all(case.stderr for case in cases)
    if result.compilation:
        assert result.compilation.state is State.RUNTIME_ERROR


def test_the_shell_has_processes_and_pipes_and_nothing_of_the_host(box):
    code = "seq 3 | sort -r | awk '{s = s $1} END {print s}'; cat /etc/passwd || echo none; echo *; ls /proc"
    _, (case,) = run(box, "shell", code)
    assert case.stdout == b"321\nnone\nsolution.sh\n"
    _, (net,) = run(box, "shell", "exec 3<>/dev/tcp/127.0.0.1/22 && echo connected")
    assert b"connected" not in net.stdout
    _, (bomb,) = run(box, "shell", "f() { f | f & }; f; wait", cpu_seconds=0.5, wall_seconds=2.0)
    assert b"Resource temporarily unavailable" in bomb.stderr
    _, (fine,) = run(box, "shell", "echo fine")
    assert fine.stdout == b"fine\n"


def test_many_processes_share_the_time_and_the_memory_of_a_case(box):
    burn = "for i in 1 2 3 4; do (while :; do :; done) & done; wait"
    _, (case,) = run(box, "shell", burn, cpu_seconds=0.5, wall_seconds=20.0)
    assert case.state in (State.CPU_TIMEOUT, State.SIGNAL)
    assert case.wall_seconds < 8, "four processes may not use four times the CPU time"
    fill = "x=aaaaaaaaaaaaaaaa; while [ ${#x} -lt 20000000 ]; do x=$x$x; done; sleep 1"
    hoard = f"for i in 1 2 3 4 5 6 7 8; do ({fill}) & done; wait"
    _, (case,) = run(box, "shell", hoard, memory_bytes=32 << 20, cpu_seconds=4.0)
    assert case.peak_bytes < 64 << 20


def test_what_is_left_behind_does_not_reach_the_next_case(box):
    leave = "ls; echo x > left; (sleep 60 &); printf changed > solution.sh; mkdir -p a/b/c"
    _, cases = run(box, "shell", leave, b"", b"", b"")
    assert [case.stdout for case in cases] == [b"solution.sh\n"] * 3
    rewrite = """
#include <stdio.h>
int main(void) {
    remove("program");
    FILE *f = fopen("program", "w");
    fputs("#!/bin/sh\\necho taken over\\n", f);
    puts("clean");
}"""
    _, cases = run(box, "c", rewrite, b"", b"")
    assert [case.stdout for case in cases] == [b"clean\n"] * 2


def test_a_compiler_is_held_by_the_jail_too(box):
    endless = (
        "template<int N> struct A { static const int v = A<N+1>::v + A<N+2>::v; };\n"
        "int main() { return A<0>::v; }"
    )
    code = (
        "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(A(x)))))\n"
        "int v[] = {B(B(1,))};\nint main(void) {}"
    )
    result, (case,) = run(box, "c", code, compile_seconds=0.5)
    assert case.state in (State.CPU_TIMEOUT, State.MEMORY_LIMIT, State.RUNTIME_ERROR)
    assert result.compilation is not None and result.compilation.cpu_seconds < 3
    _, (case,) = run(box, "cpp", endless, compile_seconds=1.0)
    assert case.state is not State.OK
    for secret in ('#include "/etc/passwd"\nint main(){}', '#include "/proc/1/environ"\nint main(){}'):
        result, (case,) = run(box, "c", secret)
        assert case.state is State.RUNTIME_ERROR
        assert b"root:" not in case.stderr
        assert b"No such file" in case.stderr
    assert run(box, "c", "int main(void) { return 0; }")[1][0].state is State.OK


def test_a_crash_is_a_signal_and_an_exit_status_is_no_answer(box):
    _, (crash,) = run(box, "c", "int main(void) { *(volatile int *)0 = 1; }")
    assert (crash.state, crash.signal) == (State.SIGNAL, 11)
    _, (status,) = run(box, "c", "int main(void) { return 3; }")
    assert (status.state, status.exit_code) == (State.RUNTIME_ERROR, 3)
    _, (forks,) = run(
        box, "c", '#include <unistd.h>\n#include <stdio.h>\nint main(void) { printf("%d", fork()); }'
    )
    assert forks.stdout == b"-1"
    _, (dot,) = run(box, "sql", ".shell echo out\n.system id\nselect 1;")
    assert b"out" not in dot.stdout.replace(b"echo out", b"")


@pytest.mark.parametrize("language", OTHERS)
def test_the_same_program_gives_the_same_result(box, language):
    codes = {
        "javascript": "console.log(Math.random(), process.pid, Object.keys(process.env).sort().join())",
        "shell": "echo $$ $RANDOM_IS_NOT_ASKED; env | sort; date +%Z; hostname; id -u",
        "c": "#include <stdio.h>\n#include <stdlib.h>\nint x;\n"
        'int main(void) { printf("%p %p %d\\n", &x, malloc(9), rand()); }',
        "cpp": "#include <iostream>\nint x; int main() { std::cout << &x << new int; }",
        "sql": "select 1.0 / 3, hex('x');",
    }
    outputs = {run(box, language, codes[language])[1][0].stdout for _ in range(4)}
    assert len(outputs) == 1 and outputs != {b""}


def test_what_cannot_be_run_is_refused_by_name(monkeypatch):
    def refused(request, tier=Tier.T2):
        with pytest.raises(SandboxError) as caught:
            check_request(request, tier)
        return str(caught.value)

    assert "did you mean" in refused(RunRequest("x", language="pyton"))
    assert "RunRequest.language" in refused(RunRequest("x", language=None))
    assert "Case.call" in refused(RunRequest("x", language="c", cases=(Case(call=Call("f")),)))
    assert "pid namespace" in refused(RunRequest("x", language="shell"), Tier.T1)
    assert "program" in refused(RunRequest("x", language="c", files={"program": b""}))
    monkeypatch.setattr("burnish.sandbox.policy.missing", lambda name: ["node"])
    message = refused(RunRequest("x", language="javascript"))
    assert "install nodejs" in message and "burnish sandbox doctor" in message


def test_missing_tools_are_found_missing(monkeypatch):
    monkeypatch.setattr("burnish.sandbox.languages.PATH", "/nowhere")
    assert missing("c") == ["gcc", "ld"]
    assert missing("python") == []
    assert identity("python") == ""
