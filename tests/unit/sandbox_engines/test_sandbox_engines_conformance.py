"""Every engine that can be had here keeps to the same rules, and gives the same answers to a judge."""

import json
import threading
from pathlib import Path

import pytest

from burnish.sandbox import Call, Case, Limits, Policy, RunRequest, Sandbox, SandboxError, State, Tier
from burnish.sandbox.engines import ENGINES, open_engine
from burnish.sandbox.engines.commands import jail_of
from burnish.sandbox.engines.conformance import TRIALS, conformance
from burnish.sandbox.engines.gvisor import clean_up, gvisor
from burnish.sandbox.engines.open import BUILDERS
from burnish.sandbox.judging.asserts import read_asserts
from burnish.sandbox.judging.judge import judge
from burnish.sandbox.link import configuration
from burnish.sandbox.serve.server import close_server, open_server


@pytest.fixture(scope="module")
def service():
    server = open_server(port=0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.url
    close_server(server)


INSTALLED = [name for name in ENGINES if name not in BUILDERS or BUILDERS[name].find()]
"""The tests bring bubblewrap and nsjail; gVisor is tried where it is installed."""


def test_what_the_tests_bring_is_tried():
    assert {"native", "bwrap", "nsjail"} <= set(INSTALLED)


@pytest.fixture(params=[*INSTALLED, "service"])
def engine(request, service):
    name = service if request.param == "service" else request.param
    engine = open_engine(Policy(engine=name))
    yield engine
    engine.close()


def test_every_trial_holds(engine):
    assert [(f.name, f.seen) for f in conformance(engine) if not f.held] == []


def test_a_judge_does_not_notice_the_engine(engine):
    suite = read_asserts(["assert f(2) == 4", "assert len(str(f(30))) == 3"])
    assert judge(engine, "def f(x): return x * x", suite).all_passed
    found = judge(engine, "import sys\nsys.exit(0)", suite)
    assert not found.fault
    assert (found.passed, found.outcomes[0].state) == (0, State.EXITED_EARLY)


def test_results_carry_the_tier(engine):
    expected = Tier.T3 if getattr(engine, "name", "") == "runsc" else Tier.T2
    assert engine.run(RunRequest("pass")).tier is expected


def test_files_and_seeds_arrive(engine):
    request = RunRequest("import random\nprint(open('a').read(), random.random())", files={"a": b"x"}, seed=3)
    first, second = engine.run(request).cases[0], engine.run(request).cases[0]
    assert first.state is State.OK, first.stderr
    assert first.stdout.startswith(b"x ")
    assert first.stdout == second.stdout


def test_a_run_stops_at_the_first_failure_when_asked(engine):
    cases = tuple(Case(call=Call("f", (n,))) for n in range(4))
    request = RunRequest("def f(n): return 1 // (1 - n)", cases=cases, stop_at_first_failure=True)
    assert [case.state for case in engine.run(request).cases] == [State.OK, State.RUNTIME_ERROR]


def test_what_cannot_be_opened_says_why():
    with pytest.raises(SandboxError, match=r"unknown Policy\.engine"):
        open_engine(Policy(engine="bubble"))
    with pytest.raises(SandboxError, match=r"cannot keep Policy\.tier"):
        open_engine(Policy(engine="bwrap", tier=Tier.T3))
    with pytest.raises(SandboxError, match="is no address"):
        open_engine(Policy(engine="http://"))


def test_the_native_engine_does_not_pass_for_another():
    with pytest.raises(SandboxError, match="is the native engine"):
        Sandbox(Policy(engine="bwrap"))


def test_a_service_that_is_gone_is_our_fault():
    engine = open_engine(Policy(engine="http://127.0.0.1:9"))
    result = engine.run(RunRequest("pass", limits=Limits(wall_seconds=1.0)))
    assert result.state is State.INFRA_ERROR
    assert "127.0.0.1:9" in result.detail
    assert judge(engine, "def f(): return 1", read_asserts(["assert f() == 1"])).fault


def test_a_builder_that_cannot_start_is_our_fault(monkeypatch):
    from burnish.sandbox.engines import open as opening

    monkeypatch.setitem(
        opening.BUILDERS,
        "bwrap",
        opening.Builder(lambda *_: ["/bin/false"], Tier.T2, lambda: "/bin/false", ""),
    )
    result = open_engine(Policy(engine="bwrap")).run(RunRequest("pass"))
    assert result.state is State.INFRA_ERROR
    assert "before the program started" in result.detail


def test_trials_have_names_of_their_own():
    assert len({trial.name for trial in TRIALS}) == len(TRIALS) > 20


def test_the_command_prints_what_holds_on_each_engine(monkeypatch, capsys):
    from burnish.cli.entry import main
    from burnish.sandbox.engines import conformance as trials

    findings = [trials.Finding("a first trial", True), trials.Finding("another", False, "state ok")]
    monkeypatch.setattr(trials, "conformance", lambda _: findings)
    assert main(["sandbox", "conform", "native", "bwrap"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["native", "bwrap"]
    assert lines[1].split() == ["a", "first", "trial", "ok", "ok"]
    assert lines[2].split() == ["another", "FAIL", "FAIL"]
    assert lines[3] == "native, another: state ok"
    assert main(["sandbox", "conform", "bubble"]) == 2
    assert "unknown Policy.engine" in capsys.readouterr().err


def test_a_bundle_of_gvisor_shows_what_a_jail_shows_and_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    jail = jail_of(configuration(Policy(), Tier.T2)["zygote"])
    command = gvisor("runsc", jail, 1 << 20)
    bundle = Path(command[command.index("--bundle") + 1])
    said = json.loads((bundle / "config.json").read_text())
    mounts = {mount["destination"]: mount for mount in said["mounts"]}
    assert said["root"]["readonly"] and said["process"]["capabilities"] == {}
    assert set(mounts) == {*jail.shown, "/proc", "/sys", "/home/box"}
    assert all("ro" in mount["options"] for path, mount in mounts.items() if path != "/home/box")
    assert all(text.split("=")[0] not in ("USER", "SSH_AUTH_SOCK") for text in said["process"]["env"])
    assert "--network=none" in command
    clean_up(command)
    assert list(tmp_path.iterdir()) == []
