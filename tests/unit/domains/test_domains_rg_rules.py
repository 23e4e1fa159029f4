"""Wrong answers to which the scorers of reasoning-gym give full marks, or which they execute."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from burnish.domains import reasoning_gym
from burnish.domains.reasoning_gym import judge_answer, make_domain
from burnish.records import Abstained, Boundary, Faulted, Sample, Scored, Split, Task

RIGHT, WRONG = Scored(1.0, passed=True), Scored(0.0, passed=False)


def find(name: str, wanted, level: int = 0) -> Task:
    """The first task of a family whose item fulfils a condition."""
    domain = make_domain(name)
    tasks = (domain.task(Split.TRAIN, level, index) for index in range(300))
    return next(task for task in tasks if wanted(entry(task)))


def entry(task: Task) -> dict[str, Any]:
    found = task.data["entry"]
    assert isinstance(found, dict)
    return found


def grade(name: str, task: Task, answer: str):
    return make_domain(name).grade(task, Sample(answer))


def test_halting_is_not_decided_by_saying_anything() -> None:
    task = find("game_of_life_halting", lambda e: str(e["answer"]) == "False")
    assert grade("game_of_life_halting", task, "True") == WRONG
    assert grade("game_of_life_halting", task, "false") == RIGHT


def test_a_prefix_of_a_probability_is_not_the_probability() -> None:
    task = find("coin_flip", lambda e: e["answer"].startswith("0."))
    assert grade("coin_flip", task, "0") == WRONG
    rational = entry(task)["metadata"]["rational"]
    fraction = f"{rational['numerator']}/{rational['denominator']}"
    assert grade("coin_flip", task, fraction) == RIGHT


def test_24_needs_the_given_numbers() -> None:
    task = find("puzzle24", lambda e: sorted(e["metadata"]["numbers"]) != [1, 1, 4, 6])
    assert grade("puzzle24", task, "6*4*1*1") == WRONG
    assert grade("puzzle24", task, "24") == WRONG


def test_24_means_24_exactly() -> None:
    item = {"question": "", "answer": "4*6*1*1", "metadata": {"numbers": [5, 5, 7, 4]}}
    assert judge_answer("puzzle24", 0, "5*5-7/4", item) == WRONG  # 23.25
    item["metadata"] = {"numbers": [5, 5, 3, 4]}
    assert judge_answer("puzzle24", 0, "5*5-3/4", item) == WRONG  # 24.25, which int() cuts to 24


@pytest.mark.parametrize("answer", ["countdown", "numbers(1)", "(1,2)", "1 if 1 else 2", "10**2"])
def test_countdown_reads_arithmetic_only(answer: str) -> None:
    task = make_domain("countdown").task(Split.TRAIN, 0, 0)
    assert grade("countdown", task, answer) == WRONG


def test_a_sorted_list_of_other_numbers_is_wrong() -> None:
    task = make_domain("number_sorting").task(Split.TRAIN, 0, 0)
    numbers = entry(task)["metadata"]["sorted_numbers"]
    off = [str(float(number) + 0.9) for number in numbers]
    assert grade("number_sorting", task, json.dumps(off)) == WRONG
    assert grade("number_sorting", task, json.dumps(["NaN"] * len(numbers))) == WRONG
    assert grade("number_sorting", task, json.dumps([float(number) for number in numbers])) == RIGHT


def test_a_reference_of_minus_one_is_not_a_bonus() -> None:
    item = {
        "question": "",
        "answer": "-1",
        "metadata": {"task": "recurring_event_day", "source_dataset": "calendar_arithmetic"},
    }
    assert judge_answer("calendar_arithmetic", 0, "31", item) == WRONG
    assert judge_answer("calendar_arithmetic", 0, "-1", item) == RIGHT


def test_a_negative_number_is_not_its_absolute_value() -> None:
    item = {"question": "", "answer": "5", "metadata": {}}
    assert judge_answer("gsm_symbolic", 0, "-5", item) == WRONG
    assert judge_answer("gsm_symbolic", 0, "5.0", item) == RIGHT


@pytest.mark.parametrize("answer", ["nan", "nan+nanj", "nanj", "1+nani"])
def test_not_a_number_is_no_complex_number(answer: str) -> None:
    task = make_domain("complex_arithmetic").task(Split.TRAIN, 0, 0)
    assert grade("complex_arithmetic", task, answer) == WRONG


def test_more_letters_than_the_word_are_wrong() -> None:
    for index in range(20):
        task = make_domain("spell_backward").task(Split.TRAIN, 4, index)
        assert grade("spell_backward", task, f"{task.gold}s") == WRONG


def test_ten_right_letters_do_not_make_a_word() -> None:
    item = {"question": "", "answer": "CONSIDERATION", "metadata": {}}
    assert judge_answer("figlet_font", 0, "CONSIDERATIVE", item) == WRONG


def test_cells_beyond_the_board_are_wrong() -> None:
    task = make_domain("game_of_life").task(Split.TRAIN, 0, 0)
    board = json.loads(task.gold or "")
    assert grade("game_of_life", task, json.dumps([*board, board[0]])) == WRONG
    assert grade("game_of_life", task, json.dumps(board, indent=1)) == RIGHT


@pytest.mark.parametrize("name", ["simple_integration", "intermediate_integration"])
def test_an_unsolved_integral_is_no_answer(name: str) -> None:
    for index in range(5):
        task = make_domain(name).task(Split.TRAIN, 0, index)
        meta = entry(task)["metadata"]
        unsolved = f"Integral({meta['integrand']}, {meta['variable']})"
        assert grade(name, task, unsolved) == WRONG


def test_an_equivalent_antiderivative_is_right() -> None:
    task = make_domain("simple_integration").task(Split.TRAIN, 0, 0)
    assert grade("simple_integration", task, f"7 + ({(task.gold or '').replace(' + C', '')}) - C") == RIGHT


def test_a_polynomial_may_be_written_in_another_order() -> None:
    task = find("polynomial_multiplication", lambda e: " + " in e["answer"])
    terms = (task.gold or "").replace(" - ", " + -").split(" + ")
    assert grade("polynomial_multiplication", task, " + ".join(reversed(terms))) == RIGHT


def test_the_unsolved_product_is_no_answer() -> None:
    task = make_domain("polynomial_multiplication").task(Split.TRAIN, 0, 0)
    assert grade("polynomial_multiplication", task, f"({task.gold})*1*(1)+y-y") in (WRONG, RIGHT)
    product = (task.gold or "").replace(" + ", ") + (")
    assert grade("polynomial_multiplication", task, f"({product})**2") == WRONG


EXECUTING = [
    "string_insertion",
    "spiral_matrix",
    "binary_matrix",
    "n_queens",
    "number_sorting",
    "countdown",
    "puzzle24",
    "simple_integration",
    "intermediate_integration",
    "polynomial_multiplication",
]


@pytest.mark.parametrize("name", EXECUTING)
def test_answers_are_never_executed(name: str, tmp_path: Path) -> None:
    task = make_domain(name).task(Split.TRAIN, 0, 0)
    target = tmp_path / "executed"
    for code in (
        f"open({str(target)!r}, 'w')",
        f"[open({str(target)!r}, 'w')]",
        f"x.__class__(open({str(target)!r},'w'))",
    ):
        assert grade(name, task, code) == WRONG
    assert not target.exists()


def test_a_repeated_move_is_bounded() -> None:
    task = make_domain("rubiks_cube").task(Split.TRAIN, 0, 0)
    assert grade("rubiks_cube", task, "U999999999") == WRONG
    task = make_domain("rush_hour").task(Split.TRAIN, 0, 0)
    assert grade("rush_hour", task, "A+999999999") == WRONG


def test_a_scorer_that_cannot_parse_an_answer_calls_it_wrong() -> None:
    task = make_domain("prime_factorization").task(Split.TRAIN, 0, 0)
    for answer in ("two times three", "2 ×", "×", "2.5 × 2"):
        assert grade("prime_factorization", task, answer) == WRONG


def scorer(monkeypatch: pytest.MonkeyPatch, function) -> Task:
    monkeypatch.setattr(reasoning_gym, "score", lambda family, level, answer, item: function(answer))
    return make_domain("lcm").task(Split.TRAIN, 0, 0)


def raise_(error: Exception):
    raise error


def test_a_scorer_that_fails_on_the_gold_answer_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    task = scorer(monkeypatch, lambda answer: raise_(ValueError("no")))
    verdict = grade("lcm", task, "12")
    assert verdict == Faulted(Boundary.DOMAIN, "ValueError: no (scorer of lcm)")


def test_a_scorer_that_fails_on_one_answer_only_calls_it_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    task = scorer(monkeypatch, lambda answer: raise_(KeyError("x")) if answer == "?" else 1.0)
    assert grade("lcm", task, "?") == WRONG


@pytest.mark.parametrize("error", [MemoryError("full"), OSError("disk"), ImportError("gone")])
def test_what_no_answer_explains_is_a_fault(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    task = scorer(monkeypatch, lambda answer: raise_(error) if answer == "?" else 1.0)
    assert isinstance(grade("lcm", task, "?"), Faulted)


def test_a_scorer_that_takes_too_long_cannot_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = reasoning_gym.Rule(seconds=0.1)
    monkeypatch.setattr(reasoning_gym, "rule_of", lambda family, item: rule)

    def slow(answer: str) -> float:
        while True:
            sum(range(1000))

    task = scorer(monkeypatch, slow)
    verdicts: list[object] = []
    thread = threading.Thread(target=lambda: verdicts.append(grade("lcm", task, "3")))
    thread.start()
    thread.join(20)
    assert isinstance(verdicts[0], Abstained)


def test_floors_and_partial_credit_are_dropped() -> None:
    task = find("word_sorting", lambda e: len(e["metadata"]["sorted_words"]) >= 3)
    words = (task.gold or "").split(", ")
    nearly = ", ".join([words[0], *reversed(words[1:])])
    assert grade("word_sorting", task, nearly) == WRONG


def test_graded_families_keep_credit_above_their_floor() -> None:
    task = find("word_sorting", lambda e: len(e["metadata"]["sorted_words"]) >= 3)
    words = (task.gold or "").split(", ")
    nearly = ", ".join([words[0], *reversed(words[1:])])
    verdict = make_domain("word_sorting", graded=True).grade(task, Sample(nearly))
    assert isinstance(verdict, Scored)
    assert 0 < verdict.value < 1 and not verdict.passed
    floor = make_domain("sentence_reordering").task(Split.TRAIN, 0, 0)
    assert make_domain("sentence_reordering", graded=True).grade(floor, Sample("one")) == WRONG


def test_families_that_are_not_graded_stay_binary() -> None:
    task = make_domain("lcm").task(Split.TRAIN, 0, 0)
    assert make_domain("lcm", graded=True).grade(task, Sample(f"it is {task.gold}")) == WRONG


def test_items_of_the_composite_go_by_the_rule_of_their_family() -> None:
    task = find("composite", lambda e: e["metadata"]["source_dataset"] == "spell_backward")
    assert grade("composite", task, f"{task.gold}s") == WRONG
