"""The report as a page: complete, self-contained, and inert whatever a model wrote."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from burnish.errors import RunError
from burnish.observe.report import build_report
from burnish.randomness import uniform
from burnish.records import (
    Abstained,
    Boundary,
    Faulted,
    Group,
    Sample,
    Scored,
    Split,
    StopReason,
    Task,
    Verdict,
)
from burnish.store import RunDir, RunStore, write_json_atomic, write_text_atomic

EVIL = "<script>alert(1)</script>"
EVIL_MORE = "</script><img src=x onerror=alert(2)> \" onload='alert(3)' {{ 7*1187 }} <!-- \u2028 ]]>"
TRAINED = [f"reasoning-gym/arithmetic/{name}" for name in ("chain_sum", "gcd", "products", "count_bits")]
HELD_OUT = ["reasoning-gym/games/maze"]


class Page(HTMLParser):
    """Elements with their attributes, and the text of the page outside scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self._inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts.append(data)
        elif self._inside != "style":
            self.text += data

    def all(self, tag: str, css_class: str = "") -> list[dict[str, str | None]]:
        found = [attributes for name, attributes in self.elements if name == tag]
        return [a for a in found if not css_class or css_class in (a.get("class") or "").split()]


def _draw(*key: str | int) -> float:
    return uniform(0, "report-test", *key)


def _figure(value: float, margin: float = 0.06) -> dict[str, float]:
    return {"value": value, "low": value - margin, "high": value + margin}


def _part(level: float) -> dict[str, Any]:
    values = {d: level + 0.2 * _draw(d) for d in TRAINED}
    held_out = dict.fromkeys(HELD_OUT, 0.04)
    return {
        "macro": _figure(sum(values.values()) / len(values), 0.03),
        "domains": {
            d: {**_figure(v), "tasks": 64, "held_out": d in HELD_OUT}
            for d, v in {**values, **held_out}.items()
        },
    }


def _summary() -> dict[str, Any]:
    loss = {
        "macro": _figure(0.08, 0.03),
        "domains": {d: _figure(0.1) for d in TRAINED} | {TRAINED[1]: _figure(-0.1)},
    }
    return {
        "evaluations": [
            {"name": name, "sampled": _part(level), "greedy": _part(level + 0.1)}
            for name, level in (("before", 0.05), ("sft", 0.22), ("rl", 0.3))
        ],
        "differences": [
            {"from": "before", "to": "rl", "sampled": loss, "greedy": loss},
            {"from": "sft", "to": "rl", "sampled": loss, "greedy": loss},
        ],
        "seconds": {"sft": 200.0, "rl": 640.0},
        "tokens": {"sft": 1000, "rl": 2000},
    }


def _group(domain: str, ordinal: int, verdicts: list[Verdict], text: str) -> Group:
    task = Task(domain, Split.TRAIN, 0, ordinal, (), gold="42")
    samples = [
        Sample(f"{text} {n}", n, (1, 2), (-0.1, -0.2), (0, 0), StopReason.EOS) for n in range(len(verdicts))
    ]
    return Group(ordinal, task, (1,), tuple(samples), tuple(verdicts))


def _fill(store: RunStore, domains: list[str], text: str, steps: int = 24) -> None:
    for step in range(1, steps + 1):
        store.add_metrics("sft", step, {"loss": 2.0 / step})
        store.add_metrics("rl", step, {"success": step / 50, "kl": math.nan if step == 3 else 0.001 * step})
        for n, domain in enumerate(domains):
            success = 0.2 + 0.4 * step / steps + 0.2 * (_draw(domain, step) - 0.5)
            store.add_metrics("rl", step, {"success": success, "entropy": 1.0 - success}, domain)
            verdicts: list[Verdict] = [
                Scored(float(_draw(domain, step, k) < success), k == 0) for k in range(3)
            ]
            group = _group(domain, step * len(domains) + n, verdicts, text)
            store.add_group("rl", step, group, f"What is {step} + {n}? {text}", [0.5, -0.5, math.nan])
    broken = [Faulted(Boundary.DOMAIN, f"crash {text}"), Abstained(text)]
    store.add_group("rl", steps, _group(domains[0], 9999, broken, text), text)
    store.add_event("rl", 3, "warning", "quarantine", f"left out after 5 faults {text}", domain=domains[0])
    store.add_event("rl", 4, "info", "checkpoint", "saved")
    store.add_stage("sft", 200.0, tokens_trained=90_000, tasks=1600)
    store.add_stage("rl", 640.0, tokens_generated=120_000, tokens_trained=110_000, tasks=1500)


def make_run(folder: Path, text: str = "answer", domains: list[str] | None = None) -> Path:
    """A finished run in which every text that comes from outside holds `text`."""
    run = RunDir.create(folder)
    with RunStore.create(run.database) as store:
        _fill(store, domains or TRAINED, text)
    write_json_atomic(run.summary, _summary())
    write_text_atomic(run.recipe, f'name = "quickstart"\nseed = 7\n# {text}\n[model]\nname = "smollm2"\n')
    machine = {
        "python": "3.11.7",
        "cpu": {"model": f"Some CPU {text}", "cores": 2},
        "packages": {"torch": "2.13.0"},
    }
    write_json_atomic(run.environment, machine)
    run.write_status("finished", "rl", 24)
    return run.path


def _report(folder: Path) -> str:
    with RunStore.open(folder / "run.sqlite") as store:
        return build_report(folder, store).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _report(make_run(tmp_path_factory.mktemp("report") / "run"))


@pytest.fixture(scope="module")
def evil_html(tmp_path_factory: pytest.TempPathFactory) -> str:
    return _report(make_run(tmp_path_factory.mktemp("evil") / "run", text=EVIL + EVIL_MORE))


def test_every_section_is_there_and_linked(html: str) -> None:
    page = Page(html)
    sections = [a["id"] for a in page.all("section")]
    assert sections == ["result", "domains", "curves", "mixture", "time", "events", "samples", "recipe"]
    assert [a["href"] for a in page.all("a")] == [f"#{name}" for name in sections]


def test_headline_says_what_happened(html: str) -> None:
    text = Page(html).text
    assert "Sampled accuracy, averaged over domains:" in text
    assert "RL against SFT: +8.0 points (95% interval +5.0 to +11.0): a clear gain." in text
    assert "Significantly worse after RL than after SFT: gcd, greedy, -10.0 points" in text


def test_domains_have_marks_figures_and_judgements(html: str) -> None:
    page = Page(html)
    assert len(page.all("svg", "chart")) == 2
    marks = len(page.all("line", "bar"))
    assert marks == 2 * 3 * (1 + len(TRAINED) + len(HELD_OUT))
    assert page.text.count("significantly worse") == 2
    assert "held out" in page.text
    assert len(page.all("td", "worse")) >= 4


def test_every_mark_lies_inside_the_chart(html: str) -> None:
    for bar in Page(html).all("line", "bar"):
        assert 210 <= float(bar["x1"] or "nan") <= float(bar["x2"] or "nan") <= 780


def test_curves_show_success_by_domain_without_a_script(html: str) -> None:
    page = Page(html)
    panels = [a["data-panel"] for a in page.all("figure", "panel")]
    assert panels[: len(TRAINED)] == sorted(d.rsplit("/", 1)[1] for d in TRAINED)
    assert all(re.fullmatch(r"(-?\d+,-?\d+ ?)+", a["points"] or "") for a in page.all("polyline"))
    assert [a["value"] for a in page.all("option") if "/" in (a.get("value") or "")] == [
        "rl/success",
        "rl/entropy",
    ]


def test_samples_show_prompt_completion_gold_verdict_and_advantage(html: str) -> None:
    page = Page(html)
    samples = page.all("article", "sample")
    assert {a["data-pick"] for a in samples} == {"best", "worst", "random"}
    assert re.search(r"What is \d+ \+ \d\? answer", page.text)
    for text in ("answer 0", "42", "reward 1", "advantage +0.50", "chain_sum:train:0"):
        assert text in page.text


def test_mixture_time_faults_recipe_and_machine_are_told(html: str) -> None:
    text = Page(html).text
    for part in (
        "25 (25.8%)",
        "10m 40s",
        "120,000",
        "left out after 5 faults",
        "name = ",
        "Some CPU",
        "2.13.0",
    ):
        assert part in text


def test_nothing_is_loaded_from_anywhere(evil_html: str) -> None:
    page = Page(evil_html)
    assert not {tag for tag, _ in page.elements} & {
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "base",
        "audio",
    }
    for _, attributes in page.elements:
        for name in ("src", "href", "xlink:href", "data", "action", "srcset", "poster"):
            assert (attributes.get(name) or "#").startswith("#")
    style = evil_html.split("<style>")[1].split("</style>", maxsplit=1)[0]
    assert "url(" not in style
    assert "@import" not in style
    assert "http://" not in evil_html
    assert "https://" not in evil_html


def test_text_from_outside_is_inert(evil_html: str) -> None:
    page = Page(evil_html)
    assert [a.get("type") for a in page.all("script")] == ["application/json", None]
    assert not any("alert" in script for script in page.scripts)
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert page.text.count(EVIL) > 20
    assert "{{ 7*1187 }}" in page.text
    assert re.search(r"8309", page.text) is None


def test_a_domain_named_by_a_villain_cannot_leave_its_json(tmp_path: Path) -> None:
    page = Page(_report(make_run(tmp_path / "run", domains=[f"x/{EVIL_MORE}", "x/y"])))
    data = json.loads(page.scripts[0])
    assert len(page.scripts) == 2
    assert set(data["rl/success"]["panels"]) == {EVIL_MORE.rsplit("/", 1)[1], "y"}


def test_the_policy_admits_only_the_page_s_own_script(html: str) -> None:
    import base64
    import hashlib

    own = html.rsplit("<script>", 1)[1].split("</script>", maxsplit=1)[0]
    digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in html
    assert "default-src 'none'" in html


def test_an_empty_run_still_has_a_report(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path / "run")
    RunStore.create(run.database).close()
    page = Page(_report(run.path))
    assert len(page.all("section")) == 8
    assert "summary.json is missing" in page.text
    assert "No evaluation was finished." in page.text


@pytest.mark.parametrize("content", ["{", "[]", '{"evaluations": [{"name": "before", "sampled": null}]}'])
def test_a_damaged_summary_still_gives_a_report(tmp_path: Path, content: str) -> None:
    folder = make_run(tmp_path / "run")
    (folder / "summary.json").write_text(content)
    assert len(Page(_report(folder)).all("section")) == 8


def test_a_run_with_many_domains_and_long_texts_stays_small(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path / "run")
    domains = [f"many/domain_{n}" for n in range(120)]
    with RunStore.create(run.database) as store:
        _fill(store, domains, "long words " * 2000, steps=8)
        for step in range(9, 130):
            for domain in domains:
                store.add_metrics("rl", step, {"success": 0.1, "entropy": 0.2, "kl": 0.3}, domain)
    html = _report(run.path)
    assert len(html.encode()) < 3_000_000
    page = Page(html)
    assert len(page.all("details", "domain")) == 120
    assert "were left out to keep this file small" in page.text


def test_a_report_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run")
    (folder / "report.html").mkdir()
    (folder / "report.html" / "in-the-way").write_text("")
    with pytest.raises(RunError, match=r"cannot write .*report\.html"):
        _report(folder)
    assert not list(folder.glob("*.aside"))


@pytest.fixture
def chromium(tmp_path: Path) -> Iterator[list[str]]:
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no chromium on this machine: install Debian's package `chromium` to run this test")
    yield [
        found, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        "--virtual-time-budget=3000", "--enable-logging=stderr", f"--user-data-dir={tmp_path / 'profile'}",
    ]  # fmt: skip


def _in_browser(chromium: list[str], page: Path, *options: str) -> tuple[str, list[str]]:
    """The document as the browser has it in the end, and what its console said."""
    command = [*chromium, *options, "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_selectors_work_in_a_browser_and_the_console_is_silent(chromium: list[str], tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", text=EVIL + EVIL_MORE)
    page = folder / "report.html"
    html = _report(folder)
    driver = """
      const choose = (id, value) => {
        const select = document.getElementById(id);
        select.value = value;
        select.dispatchEvent(new Event("input", {bubbles: true}));
        select.dispatchEvent(new Event("change", {bubbles: true}));
      };
      choose("curve-metric", "rl/entropy");
      choose("sample-domain", "gcd");
      choose("sample-pick", "worst");
    """
    # The policy is meant to refuse foreign scripts, so the one that plays the reader needs it lifted.
    driven = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    page.write_text(driven.replace("</body>", f"<script>{driver}</script></body>"), encoding="utf-8")
    dom, console = _in_browser(chromium, page)
    assert console == []
    after = Page(dom)
    assert ">rl: entropy</span>" in dom
    assert "2 shown" in after.text
    assert [a["data-domain"] for a in after.all("details", "domain") if "hidden" not in a] == ["gcd"]
    assert "open" in next(a for a in after.all("details", "domain") if a["data-domain"] == "gcd")


def test_the_policy_lets_the_page_s_script_run_and_no_other(chromium: list[str], tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", text=EVIL)
    html = _report(folder)
    dom, console = _in_browser(chromium, folder / "report.html")
    assert console == []
    assert '<html lang="en" class="js">' in dom
    foreign = "<script>document.title = 'taken over'</script></body>"
    (folder / "report.html").write_text(html.replace("</body>", foreign), encoding="utf-8")
    dom, console = _in_browser(chromium, folder / "report.html")
    assert "<title>taken over</title>" not in dom
    assert len(console) == 1
