from __future__ import annotations

import io
import json
import subprocess
import sys
import threading

import pytest

from burnish.observe import Console
from burnish.observe.console import step_line
from burnish.observe.text import clean, duration, number, percent, points


def _console(clock, **options) -> tuple[Console, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    return Console(stdout=out, stderr=err, clock=clock, **options), out, err


def _records(out: io.StringIO) -> list[dict]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_plain_progress_prints_one_line_every_few_seconds_and_one_at_the_end(clock) -> None:
    console, out, _ = _console(clock)
    with console.task("evaluate", 100) as bar:
        for _ in range(100):
            clock.now += 0.12
            bar.advance(1, success=0.25)
    lines = out.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0] == "evaluate: 42/100 (42%), 7.0s left, success 0.25"
    assert lines[-1] == "evaluate: 100/100 in 12s, success 0.25"


def test_a_quick_transient_task_leaves_no_line_but_a_slow_one_does(clock) -> None:
    console, out, _ = _console(clock)
    with console.task("generate", 4, transient=True) as bar:
        bar.advance(4)
    assert out.getvalue() == ""
    with console.task("generate", 4, transient=True) as bar:
        clock.now += 60
        bar.advance(2)
        bar.advance(2)
    assert out.getvalue().splitlines()[-1] == "generate: 4/4 in 1m 00s"


def test_a_task_that_fails_says_how_far_it_came_and_lets_the_error_through(clock) -> None:
    console, out, _ = _console(clock)
    with pytest.raises(KeyError), console.task("make tasks", 10) as bar:
        bar.advance(3)
        raise KeyError
    assert out.getvalue() == "make tasks: 3/10 stopped after 0.0s\n"


def test_a_task_of_unknown_length_counts(clock) -> None:
    console, out, _ = _console(clock)
    with console.task("read rows") as bar:
        clock.now += 6
        bar.advance(10)
        bar.set_total(20)
        clock.now += 6
        bar.advance(5)
    assert out.getvalue().splitlines() == [
        "read rows: 10",
        "read rows: 15/20 (75%), 4.0s left",
        "read rows: 15/20 in 12s",
    ]


def test_quiet_keeps_warnings_and_tables_only(clock) -> None:
    console, out, err = _console(clock, quiet=True)
    console.say("hello")
    console.step("rl", 1, 2, {"success": 0.5})
    with console.task("work", 1) as bar:
        bar.advance()
    assert out.getvalue() == ""
    console.warn("careful")
    console.table(["a", "b"], [["x", "1"]])
    assert err.getvalue() == "warning: careful\n"
    assert "| x | 1 |" in out.getvalue()


def test_json_gives_one_object_a_line_on_stdout_and_words_on_stderr(clock) -> None:
    console, out, err = _console(clock, json=True)
    console.say("line one\nline two")
    console.warn("careful")
    console.step("rl", 1, 10, {"success": 0.5, "kl": float("nan"), "seconds": 2.0})
    console.table(["a"], [["x"]], title="t")
    with console.task("work", 2) as bar:
        bar.advance(2, reward=float("inf"))
    records = _records(out)
    assert [r["event"] for r in records] == ["say", "warning", "step", "table", "progress"]
    assert records[2]["metrics"] == {"success": 0.5, "kl": None, "seconds": 2.0}
    assert records[2]["seconds_left"] == 18.0
    assert records[4] | {"seconds": 0} == {
        "event": "progress", "label": "work", "state": "done", "done": 2, "total": 2, "seconds": 0,
        "seconds_left": 0.0, "fields": {"reward": None},
    }  # fmt: skip
    assert "line two" in err.getvalue()
    assert "work: 2/2" in err.getvalue()


def test_json_stays_on_stdout_when_quiet(clock) -> None:
    console, out, err = _console(clock, json=True, quiet=True)
    console.say("hello")
    with console.task("work", 1) as bar:
        bar.advance()
    assert [r["event"] for r in _records(out)] == ["say", "progress"]
    assert err.getvalue() == ""


def test_time_left_of_a_stage_follows_the_pace_of_its_steps(clock) -> None:
    console, out, _ = _console(clock)
    console.step("rl", 1, 11, {})
    clock.now += 30
    console.step("rl", 2, 11, {})
    assert out.getvalue().splitlines() == ["rl 1/11", "rl 2/11  4m 30s left"]


def test_a_step_line_shows_the_known_metrics_in_a_fixed_order() -> None:
    metrics = {
        "tokens_per_second": 1234.5, "seconds": 8.1, "kl": 0.00123, "success": 0.3125, "reward": 0.3125,
        "entropy": 0.84, "grad_norm": 0.71, "unknown": 3.0,
    }  # fmt: skip
    assert step_line("rl", 12, 60, metrics, 390.0) == (
        "rl 12/60  success 31.2%  reward 0.312  kl 0.00123  entropy 0.84  grad 0.71  1,234 tok/s  8.1s"
        "  6m 30s left"
    )


@pytest.mark.parametrize("terminal", [False, True])
def test_text_from_a_model_is_neither_markup_nor_an_escape_sequence(clock, terminal: bool) -> None:
    console, out, _ = _console(clock, terminal=terminal)
    evil = "[bold red]x[/] [/nothing] \x1b]0;title\x07 :smile: \u202e"
    console.say(evil)
    console.warn(evil)
    console.table([evil], [[evil]], title=evil)
    with console.task(evil, 1) as bar:
        bar.advance(1, note=evil)
    text = out.getvalue()
    assert "[bold red]x[/] [/nothing]" in text
    assert ":smile:" in text
    assert "\x1b]0" not in text
    assert "\x07" not in text
    assert "\u202e" not in text


def test_a_terminal_gets_live_bars_that_are_cleaned_away(clock) -> None:
    console, out, _ = _console(clock, terminal=True)
    with console.task("outer", 2) as outer:
        with console.task("inner", 3, transient=True) as inner:
            inner.advance(3)
        console.say("between")
        outer.advance(2, success=0.5)
    text = out.getvalue()
    assert "between" in text
    assert text.rstrip().endswith("outer: 2/2 in 0.0s, success 0.5")
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1  # one live display, cursor given back


def test_a_failing_task_gives_the_cursor_back(clock) -> None:
    console, out, _ = _console(clock, terminal=True)
    with pytest.raises(KeyboardInterrupt), console.task("work", 2):
        raise KeyboardInterrupt
    assert "\x1b[?25h" in out.getvalue()


def test_bars_count_right_from_many_threads(clock) -> None:
    console, out, _ = _console(clock)
    with console.task("work", 4000) as bar:
        threads = [threading.Thread(target=lambda: [bar.advance() for _ in range(1000)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert out.getvalue() == "work: 4000/4000 in 0.0s\n"


def test_a_stream_that_cannot_hold_a_character_gets_a_question_mark(clock) -> None:
    raw = io.BytesIO()
    console = Console(stdout=io.TextIOWrapper(raw, encoding="ascii"), clock=clock)
    console.say("naïve 🦊")
    assert raw.getvalue() == b"na?ve ?\n"


def test_a_plain_table_is_markdown_of_any_width(clock) -> None:
    console, out, _ = _console(clock)
    console.table(["domain", "before"], [["x" * 300, "1.0%"], ["a|b\nc", "-"]], title="Accuracy")
    lines = out.getvalue().splitlines()
    assert lines[0] == "Accuracy"
    assert lines[1].startswith("| domain ")
    assert set(lines[2]) <= set("|-: ")
    assert "x" * 300 in lines[3]
    assert "a\\|b c" in lines[4]
    assert len(lines) == 5


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0s"), (9.94, "9.9s"), (9.96, "10s"), (59.6, "1m 00s"), (190, "3m 10s"), (3600, "1h 00m"),
     (3719, "1h 02m"), (7199, "2h 00m"), (-1, "0.0s"), (float("nan"), "?")],
)  # fmt: skip
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.5, "0.5"), (0.01234, "0.0123"), (1e-5, "1.0e-05"), (123.4, "123"), (12345.6, "12,346"),
     (3, "3"), (12345, "12,345"), (float("nan"), "nan"), (float("-inf"), "-inf"), ("a\x1b", "a\\x1b")],
)  # fmt: skip
def test_numbers(value: object, text: str) -> None:
    assert number(value) == text


def test_shares_and_points() -> None:
    assert (percent(0.2224), percent(None), percent(float("nan"))) == ("22.2%", "-", "-")
    assert (points(0.079), points(-0.2), points(-0.0001), points(None)) == ("+7.9", "-20.0", "0.0", "-")


def test_clean_keeps_ordinary_text() -> None:
    text = "two\nlines\tand ümlaut, 中文, 🦊"
    assert clean(text) == text


def test_observe_loads_neither_torch_nor_rich() -> None:
    code = "import sys, burnish.observe; print(sorted({'torch', 'rich', 'jinja2'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "[]\n"
