from __future__ import annotations

import io
import json

import pytest

CHAIN_SUM = "reasoning-gym/arithmetic/chain_sum"
BINARY = "reasoning-gym/algorithmic/binary_alternation"


@pytest.fixture
def answers(monkeypatch):
    """Type lines at the terminal."""

    def _type(*lines: str) -> None:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))

    return _type


@pytest.fixture
def rows(tmp_path):
    """A recipe whose only domain is a file of rows."""

    def _write(name: str, lines: str) -> str:
        (tmp_path / "rows.jsonl").write_text(lines)
        table = f'[[domains.rows]]\nname = "{name}"\npath = "rows.jsonl"\n'
        (tmp_path / "rows.toml").write_text(f'[domains]\ntrain = ["{name}"]\n{table}')
        return "rows.toml"

    return _write


def gold(cli, index: int = 0) -> str:
    return json.loads(cli("domains", "show", CHAIN_SUM, "--index", str(index), "--json").out)["gold"]


def test_list_shows_names_and_levels(cli):
    text = cli("domains", "list", "reasoning-gym/arithmetic/*").out
    assert CHAIN_SUM in text
    assert "reasoning-gym/games" not in text


def test_list_as_json(cli):
    found = json.loads(cli("domains", "list", CHAIN_SUM, "--json").out)
    assert found == [{"name": CHAIN_SUM, "levels": 11}]


def test_pattern_that_matches_nothing(cli):
    done = cli("domains", "list", "nothing/*")
    assert done.code == 2
    assert "matches no domain" in done.err


def test_show_prints_the_task_and_its_gold_answer(cli):
    text = cli("domains", "show", CHAIN_SUM).out
    assert "[user]" in text
    assert f"gold: {gold(cli)}\n" in text


def test_show_knows_the_splits_apart(cli):
    tasks = {cli("domains", "show", CHAIN_SUM, "--split", s).out.split("gold")[0] for s in ("train", "eval")}
    assert len(tasks) == 2


def test_show_follows_the_recipes_format(cli, tmp_path):
    (tmp_path / "r.toml").write_text(f'[domains]\ntrain = ["{CHAIN_SUM}"]\nanswer_format = "tags"\n')
    assert "<answer>" in cli("domains", "show", CHAIN_SUM, "--recipe", "r.toml").out


def test_short_name_suggests_the_full_one(cli):
    assert f"did you mean '{CHAIN_SUM}'?" in cli("domains", "show", "chain_sum").err


def test_level_out_of_range(cli):
    done = cli("domains", "show", CHAIN_SUM, "--level", "99")
    assert done.code == 2
    assert "expected: 0 to 10" in done.err


def test_negative_index(cli):
    assert cli("domains", "show", CHAIN_SUM, "--index", "-1").code == 2


def test_unknown_split(cli):
    assert (
        'Choose from: "train", "eval", "holdout"' in cli("domains", "show", CHAIN_SUM, "--split", "tset").err
    )


def test_play_gives_verdict_gold_and_score(cli, answers):
    right = gold(cli)
    answers(right, "no idea")
    text = cli("domains", "play", CHAIN_SUM, "--tasks", "2").out
    assert "right" in text
    assert "wrong" in text
    assert f"gold: {right}" in text
    assert "Score: 1 of 2." in text


def test_play_ends_politely_at_the_end_of_input(cli, answers):
    answers("0")
    done = cli("domains", "play", CHAIN_SUM, "--tasks", "5")
    assert done.code == 0
    assert "of 1." in done.out


def test_play_without_an_answer(cli, answers):
    answers()
    assert "No question answered." in cli("domains", "play", CHAIN_SUM).out


def test_play_ends_politely_at_control_c(cli, monkeypatch):
    def interrupt(prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupt)
    done = cli("domains", "play", CHAIN_SUM)
    assert done.code == 0
    assert "No question answered." in done.out


def test_play_joins_lines_that_end_in_a_backslash(cli, answers, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "burnish.cli.domains._judge_aloud", lambda domain, task, answer: seen.append(answer) or 0
    )
    answers("one\\", "two")
    cli("domains", "play", CHAIN_SUM, "--tasks", "1")
    assert seen == ["one\ntwo"]


def test_play_starts_where_it_is_told(cli, answers):
    answers(gold(cli, 7))
    assert "Score: 1 of 1." in cli("domains", "play", CHAIN_SUM, "--first", "7", "--tasks", "1").out


def test_validate_passes_a_sound_domain(cli):
    done = cli("domains", "validate", BINARY, "--tasks", "2", "--quiet")
    assert done.code == 0, done.out + done.err
    assert "1 of 1 domains are sound" in done.out


def test_validate_as_json(cli):
    (found,) = json.loads(cli("domains", "validate", BINARY, "--tasks", "1", "--json").out)
    assert (found["name"], found["ok"], found["problems"]) == (BINARY, True, [])


def test_validate_fails_an_unsound_domain_and_names_why(cli, rows):
    recipe = rows("sums", '{"prompt": "1+1?", "answer": "2"}\n')
    done = cli("domains", "validate", "sums", "--recipe", recipe, "--quiet")
    assert done.code == 1
    assert "UNSOUND sums: " in done.out
    assert "rows.jsonl" in done.out


def test_domain_that_cannot_be_made_is_unsound_and_does_not_stop_the_others(cli, rows):
    broken = "reasoning-gym/algorithmic/binary_broken"
    recipe = rows(broken, "not json\n")
    pattern = "reasoning-gym/algorithmic/binary_[ab]*"
    done = cli("domains", "validate", pattern, "--recipe", recipe, "--tasks", "1", "--json")
    assert {report["name"]: report["ok"] for report in json.loads(done.out)} == {BINARY: True, broken: False}


def test_validate_of_some_levels_leaves_out_those_that_a_domain_lacks(cli):
    done = cli("domains", "validate", BINARY, "--levels", "1,99", "--tasks", "1", "--json")
    (found,) = json.loads(done.out)
    assert [level["level"] for level in found["levels"]] == [1]


def test_validate_of_a_pattern_that_matches_nothing(cli):
    assert cli("domains", "validate", "nothing/*").code == 2


def test_validate_needs_tasks(cli):
    assert cli("domains", "validate", BINARY, "--tasks", "0").code == 2


def test_validate_takes_several_names(capsys):
    names = ["reasoning-gym/arithmetic/gcd", "reasoning-gym/logic/aiw"]
    from burnish.cli import main

    assert main(["domains", "validate", *names, "--tasks", "2", "--levels", "0", "--json"]) == 0
    assert [report["name"] for report in json.loads(capsys.readouterr().out)] == names
