"""Files of problems as domains, judged in the sandbox."""

import json
import os
from pathlib import Path

import pytest

from burnish.domains.code.engine import close_engines
from burnish.domains.code.grading import verdict_of
from burnish.domains.code.rows import CodeRowsDomain, open_code_rows
from burnish.domains.registry import build_domains, default_registry
from burnish.domains.settings import CodeSettings, DomainSettings, RowsSettings
from burnish.errors import DomainError
from burnish.records import Boundary, Faulted, Sample, Scored, Split
from burnish.sandbox.judging.checks import Judgement, Outcome
from burnish.sandbox.records import State


@pytest.fixture(scope="module", autouse=True)
def _closed():
    yield
    close_engines()


def mbpp() -> Path:
    folder = os.environ.get("BURNISH_DATA") or Path(__file__).parents[3].parent / "shared" / "data"
    path = Path(folder) / "mbpp_train.jsonl"
    if not path.is_file():
        pytest.skip("MBPP rows are not here; set BURNISH_DATA to the folder that holds mbpp_train.jsonl")
    return path


def humaneval(tmp_path: Path, count: int = 40) -> Path:
    rows = [
        {
            "prompt": f"import math\n\ndef add{n}(x):\n    '''Add {n}.'''\n",
            "entry_point": f"add{n}",
            "canonical_solution": f"    return math.floor(x) + {n}\n",
            "test": f"def check(candidate):\n    for x in 1, 2:\n        assert candidate(x) == x + {n}\n",
        }
        for n in range(count)
    ]
    path = tmp_path / "humaneval.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def open_humaneval(tmp_path: Path, **common: object) -> CodeRowsDomain:
    settings = RowsSettings(name="code/he", path=str(humaneval(tmp_path)), adapter="humaneval")
    return open_code_rows(settings, DomainSettings(**common))  # pyright: ignore[reportArgumentType]


def test_mbpp_gold_passes_and_others_do_not():
    domain = open_code_rows(RowsSettings(name="code/mbpp", path=str(mbpp()), adapter="mbpp"))
    assert domain.levels == 1
    for split in Split:
        task = domain.task(split, 0, 0)
        assert task.gold
        verdict = domain.grade(task, Sample(f"```python\n{task.gold}\n```"))
        assert isinstance(verdict, Scored)
        assert (verdict.value, verdict.passed, verdict.parts["passed"]) == (1.0, True, 1.0)
        other = domain.task(split, 0, 1)
        for wrong in (
            "",
            "pass",
            "import sys; sys.exit(0)",
            other.gold or "",
            "x" * 20_000,
            "\ud800",
            "\x00",
        ):
            verdict = domain.grade(task, Sample(wrong))
            assert isinstance(verdict, Scored)
            assert (verdict.value, verdict.passed) == (0.0, False)


def test_a_function_is_continued_or_written_anew(tmp_path):
    domain = open_humaneval(tmp_path)
    task = domain.task(Split.TRAIN, 0, 0)
    number = task.messages[-1].content.partition("def add")[2].partition("(")[0]
    answers = {
        f"    return x + {number}": True,
        f"return x + {number}": True,
        f"def add{number}(x):\n    return math.floor(x) + {number}": True,
        task.gold: True,
        "    return x": False,
        f"def other(x):\n    return x + {number}": False,
    }
    for text, right in answers.items():
        verdict = domain.grade(task, Sample(text))
        assert isinstance(verdict, Scored)
        assert verdict.passed is right, text


def test_pass_ratio_pays_for_a_share_of_the_tests():
    settings = CodeSettings(reward="pass_ratio")
    domain = open_code_rows(
        RowsSettings(name="code/mbpp", path=str(mbpp()), adapter="mbpp"), DomainSettings(code=settings)
    )
    task = domain.task(Split.TRAIN, 0, 0)
    name = str(task.gold).partition("def ")[2].partition("(")[0]
    nothing = domain.grade(task, Sample(f"def {name}(*a): raise ValueError"))
    assert isinstance(nothing, Scored)
    assert nothing.value == 0.0
    one_of_four = tuple(Outcome(str(n), n == 0) for n in range(4))
    some = verdict_of(Judgement(one_of_four), 4, settings)
    assert isinstance(some, Scored)
    assert (some.value, some.passed, some.parts["passed"]) == (pytest.approx(0.225 / 1.1), False, 0.25)


def test_states_become_verdicts():
    settings = CodeSettings(reward="pass_ratio")

    def verdict(*outcomes: Outcome) -> Scored:
        found = verdict_of(Judgement(outcomes), 2, settings)
        assert isinstance(found, Scored)
        return found

    right, wrong = Outcome("a", True), Outcome("b", False)
    slow = Outcome("b", False, State.WALL_TIMEOUT)
    all_right, half = verdict(right, right), verdict(right, wrong)
    timed_out, not_run = verdict(right, slow), verdict(right)
    assert all_right.value == 1.0 > half.value == timed_out.value == not_run.value
    assert all_right.passed
    assert not (half.passed or timed_out.passed or not_run.passed)
    assert (half.parts["timeouts"], timed_out.parts["timeouts"]) == (0.0, 1.0)
    assert isinstance(verdict_of(Judgement((right,), fault="the machine"), 2, settings), Faulted)


def test_a_wall_that_cannot_be_kept_is_a_fault_of_the_sandbox(tmp_path):
    domain = open_humaneval(tmp_path, code=CodeSettings(profile="no_such_package_anywhere"))
    verdict = domain.grade(domain.task(Split.TRAIN, 0, 0), Sample("pass"))
    assert isinstance(verdict, Faulted)
    assert verdict.boundary is Boundary.SANDBOX


def test_settings_without_meaning_are_refused(tmp_path):
    path = str(humaneval(tmp_path))
    with pytest.raises(DomainError, match="`grader` has no meaning"):
        open_code_rows(RowsSettings(name="code/he", path=path, adapter="humaneval", grader="exact"))
    with pytest.raises(DomainError, match="row 1 has no column 'test_list'"):
        open_code_rows(RowsSettings(name="code/he", path=path, adapter="mbpp"))


def test_the_registry_opens_code_by_adapter(tmp_path):
    row = RowsSettings(name="code/he", path=str(humaneval(tmp_path)), adapter="humaneval")
    settings = DomainSettings(train=("code/*",), rows=(row,))
    names = [domain.name for domain in build_domains(settings).train]
    assert names == [
        "code/he",
        "code/python/fix_bug",
        "code/python/predict_output",
        "code/python/write_function",
    ]
    assert default_registry().resolve(["code/python/*"]) == names[1:]
