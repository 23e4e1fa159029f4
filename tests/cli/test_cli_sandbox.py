"""`burnish sandbox run` by hand: languages by suffix, standard input, and what is said when it goes wrong."""

import json
import subprocess
import sys

import pytest

PROGRAMS = {
    "a.py": ("print(int(input()) + 1)", "8"),
    "a.sh": ("read x; echo $((x + 1))", "8"),
    "a.c": ('#include <stdio.h>\nint main(void) { int x; scanf("%d", &x); printf("%d", x + 1); }', "8"),
}


def sandbox(*words, stdin=""):
    command = [sys.executable, "-m", "burnish", "sandbox", *map(str, words)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_file_runs_in_the_language_of_its_suffix(tmp_path, name):
    code, printed = PROGRAMS[name]
    (tmp_path / name).write_text(code)
    (tmp_path / "in").write_text("7\n")
    done = sandbox("run", tmp_path / name, "--stdin", tmp_path / "in", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["state"], found["tier"]) == ("ok", "T2")
    assert found["cases"][0]["stdout"].strip() == printed


def test_a_program_comes_from_standard_input():
    done = sandbox("run", "-", "--language", "sql", stdin="select 6 * 7;")
    assert (done.returncode, done.stdout) == (0, "42\n"), done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "nope.py"), "cannot read nope.py"),
        (("run", "-", "--language", "cobol"), "expected: python, shell"),
        (("run", "-", "--cpu", "nan"), "Limits.cpu_seconds"),
        (("run", "-", "--profile", "nunpy"), "numpy"),
        (("bench", "--parts", "all"), "speed, honest, leaks, same"),
        (("serve", "--host", "0.0.0.0"), "needs a token"),
    ],
)
def test_what_is_wrong_is_said_in_words(words, said):
    done = sandbox(*words, stdin="print(1)")
    assert done.returncode not in (0, 1) or done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
