"""Derivations: every line is checked, true but idle lines earn nothing, and no line breaks a grader."""

from __future__ import annotations

import pickle

import pytest

from burnish.domains.derivations.arithmetic import Expression
from burnish.domains.derivations.equation import Equation
from burnish.domains.derivations.families import FAMILIES
from burnish.domains.derivations.puzzle import Puzzle
from burnish.domains.derivations.worlds import World
from burnish.domains.generated import NAMES as GENERATED
from burnish.domains.registry import default_registry
from burnish.domains.settings import DomainSettings
from burnish.domains.validate import validate_domain
from burnish.errors import DomainError
from burnish.records import Sample, Scored, Split, Task
from burnish.rewards.judge import judge
from burnish.rewards.steps import MAX_STEPS, step_spans

NAMES = sorted(FAMILIES)
FORMS = ("plain", "tags")


def made(name: str, form: str = "plain"):
    return FAMILIES[name](DomainSettings(answer_format=form))  # pyright: ignore[reportArgumentType]


def marks(name: str, exercise: object, text: str, form: str = "plain") -> tuple[float, tuple[float, ...]]:
    task = Task(name, Split.TRAIN, 0, 0, (), data={"exercise": exercise})
    verdict = judge(made(name, form), task, Sample(text))
    assert isinstance(verdict, Scored), verdict
    assert len(verdict.steps) == len(step_spans(text))
    assert verdict.passed == (verdict.value == 1.0)
    return verdict.value, verdict.steps


def arithmetic(expression: str, text: str, form: str = "plain") -> tuple[float, tuple[float, ...]]:
    value = str(eval(expression.replace("/", "//")))
    return marks("derivations/arithmetic", Expression(expression, (value,)), text, form)


def equation(asked: str, solution: str, text: str, form: str = "plain") -> tuple[float, tuple[float, ...]]:
    return marks("derivations/equation", Equation(asked, (f"x = {solution}",)), text, form)


JUGS = Puzzle(World("jugs", (3, 5)), (0, 0), 4)
DISCS = Puzzle(World("discs", ()), (0, 0), (2, 2))
TILES = Puzzle(World("tiles", ()), (1, 2, 3, 4, 0, 5), (1, 2, 3, 4, 5, 0))


def puzzle(exercise: Puzzle, text: str, form: str = "plain") -> tuple[float, tuple[float, ...]]:
    return marks("derivations/puzzle", exercise, text, form)


def test_the_registry_knows_them_without_importing_them():
    assert sorted(GENERATED["derivations"]) == NAMES
    registry = default_registry()
    for name in registry.resolve(["derivations/*"]):
        assert registry.load(name).name == name


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMS)
def test_they_validate(name, form):
    report = validate_domain(made(name, form), tasks=3)
    assert report.ok, report.problems


@pytest.mark.parametrize("name", NAMES)
def test_tasks_are_pure_varied_and_survive_a_journey(name):
    domain = pickle.loads(pickle.dumps(made(name)))
    assert domain.levels >= 3
    for level in range(domain.levels):
        tasks = [domain.task(Split.TRAIN, level, index) for index in range(20)]
        again = [made(name).task(Split.TRAIN, level, index) for index in range(20)]
        assert [(t.messages, t.gold, t.data) for t in tasks] == [(t.messages, t.gold, t.data) for t in again]
        assert len({task.messages[-1].content for task in tasks}) >= 12
    with pytest.raises(DomainError, match="no such level"):
        domain.task(Split.TRAIN, domain.levels, 0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", FORMS)
def test_every_step_of_a_reference_counts_and_a_corrupt_line_costs_itself_only(name, form):
    domain = made(name, form)
    for level in range(domain.levels):
        for index in range(6):
            task = domain.task(Split.TRAIN, level, index)
            text = task.gold or ""
            whole = domain.grade(task, Sample(text))
            assert isinstance(whole, Scored)
            assert whole.steps == (1.0,) * len(step_spans(text))
            lines = text.split("\n")
            for at in range(len(lines)):
                broken = [*lines[:at], f"{lines[at].removesuffix('</answer>')} ?", *lines[at + 1 :]]
                verdict = domain.grade(task, Sample("\n".join(broken)))
                assert isinstance(verdict, Scored)
                if form == "plain" or at < len(lines) - 1:
                    assert verdict.steps[:at] == (1.0,) * at
                assert verdict.steps[at] == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_the_easiest_level_is_one_line(name):
    domain = made(name)
    for index in range(20):
        task = domain.task(Split.TRAIN, 0, index)
        assert task.gold is not None
        assert "\n" not in task.gold


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "(" * 150, "-" * 199 + "1", "1=" * 90 + "1", "=", "==", "x", "x = ", "= = =", "1/0",
     "x = 1/0", "9**9**9", "9" * 150, "1e999", "1e-300 = x", "__import__('os')", "()", "[1]",
     "1 if 1 else 2", "١ + ١",
     "\ud800", "\x00", "x" * 100_000, "1 = 1\n" * 5_000, "<answer>", "</answer><answer>", "x(x)", "3x3x",
     "1/x = 1", "x*x = 4", "(1 +\n 2)", "move", "fill", "pour A A", "slide 0", "move A A", "0x1f", "1_0",
     "1j", "<answer></answer>", "<answer>\n</answer>", "nan",
     "inf = x", "x = nan", "True", "1 < 2", "a\rb"],
)  # fmt: skip
@pytest.mark.parametrize("form", FORMS)
def test_no_text_breaks_a_grader_or_passes(name, text, form):
    domain = made(name, form)
    verdict = judge(domain, domain.task(Split.TRAIN, 1, 0), Sample(text))
    assert isinstance(verdict, Scored), verdict
    assert not verdict.passed
    assert len(verdict.steps) == len(step_spans(text)) <= MAX_STEPS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("19 * 3 - 5\n57 - 5\n52", (1.0, (1, 1, 1))),
        ("= 19 * 3 - 5\n= 57 - 5\n= 52", (1.0, (1, 1, 1))),
        ("(12 + 7) * 3 - 5 = 19 * 3 - 5\n57 - 5 = 52", (1.0, (1, 1))),
        ("12 + 7 = 19\n19 * 3 = 57\n57 - 5 = 52", (1.0, (1, 1, 1))),
        ("19 × 3 − 5\n52", (1.0, (1, 1))),
        ("3 * (12 + 7) - 5\n-5 + 3 * 19\n52", (1.0, (0, 1, 1))),
        ("52", (1.0, (1,))),
        # true, and idle
        ("1 = 1\n52", (1.0, (0, 1))),
        ("52\n52\n52 = 52", (1.0, (1, 0, 0))),
        ("19 * 3 - 5\n19 * 3 - 5\n12 + 7 = 19\n52", (1.0, (1, 0, 0, 1))),
        ("(12 + 7) * 3 - 5\n52", (1.0, (0, 1))),
        ("2 + 2 = 4\n100 - 48 = 52", (1.0, (0, 0))),
        ("50 + 2\n52", (1.0, (0, 1))),
        ("19 * 3 - 5 + 1 - 1\n52 + 0\n52", (1.0, (0, 0, 1))),
        ("12 + 7 = 19 = 19\n52", (1.0, (1, 1))),
        # false
        ("18 * 3 - 5\n54 - 5\n49", (0.0, (0, 0, 0))),
        ("12 + 7 = 18\n18 * 3 = 54\n52", (1.0, (0, 0, 1))),
        ("19 * 3 - 5\n57 - 5\n51", (0.0, (1, 1, 0))),
        ("19 * 3 - 5 = 57 = 52", (1.0, (0,))),
        ("the answer is 52", (0.0, (0,))),
        ("52\nDone.", (0.0, (1, 0))),
        ("104/2", (0.0, (0,))),
        ("52.0", (1.0, (1,))),
    ],
)
def test_lines_of_arithmetic(text, expected):
    assert arithmetic("(12 + 7) * 3 - 5", text) == expected


@pytest.mark.parametrize(
    ("expression", "line"),
    [
        ("10 - 3 - 2", "3 + 2 = 5"),  # as 10 - (3 + 2)
        ("12 / 2 / 3", "2 * 3 = 6"),
        ("2 + 3 + 4", "3 + 4 = 7"),
        ("2 + 3 + 4", "7 + 2"),
        ("2 * 3 * 4", "8 * 3"),
        ("5 - (2 - 3)", "5 - (-1)"),
        ("7 + 0 * 5", "7"),
        ("4 * (2 + 3) * 1", "4 * (2 + 3)"),
        ("1 + 2 + 3", "3 + 3 = 6"),
    ],
)
def test_operations_may_be_regrouped(expression, line):
    assert arithmetic(expression, line)[1] == (1,)


@pytest.mark.parametrize(
    ("expression", "line"),
    [
        ("10 - 3 + 2", "3 + 2 = 5"),
        ("12 / 2 * 3", "2 * 3 = 6"),
        ("2 * (3 + 4)", "2 * 3 = 6"),
        ("2 + 3 * 4", "2 + 3 = 5"),
        ("2 + 3 * 4", "5 * 4"),
        ("8 - 2 - 2", "2 - 2 = 0"),
        ("1 + 2 * 3", "3 + 4 = 7"),
        ("1 + 2 * 3", "5 + 2"),
    ],
)
def test_what_does_not_stand_in_the_expression_is_no_step(expression, line):
    assert arithmetic(expression, line)[1] == (0,)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "line",
    [
        " + ".join("1" * 40) + " = " + " + ".join("2" * 20),
        "9 + 9 + 9 + 9 + 9 + 9",
        "1 + 1 + 1 + 1 + 1 + 23",
        "4 + 4 + 4 + 4 + 4 + 8",
        "1 * 1 * 1 * 1 * 1 * 28",
    ],
)
def test_no_line_takes_long(line):
    text = "\n".join([line] * MAX_STEPS)
    assert arithmetic("4 + 4 + 4 + 4 + 4 + 4 + 4", text)[0] == 0.0


def test_the_answer_in_tags_is_a_step_worth_the_outcome():
    assert arithmetic("1 + 2 + 3", "3 + 3\n<answer>6</answer>", "tags") == (1.0, (1, 1))
    assert arithmetic("1 + 2 + 3", "3 + 3\n6\n<answer>\n6\n</answer>", "tags") == (1.0, (1, 1, 1, 1, 1))
    assert arithmetic("1 + 2 + 3", "3 + 3\n<answer>7</answer>\n6", "tags") == (0.0, (1, 0, 1))
    assert arithmetic("1 + 2 + 3", "3 + 3\n6", "tags") == (0.0, (1, 1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3x + 3 = 12\n3x = 9\nx = 3", (1.0, (1, 1, 1))),
        ("5x - 2x = 12 - 3\n3x = 9\nx = 9/3\nx = 3", (1.0, (1, 1, 1, 1))),
        ("3 = x", (1.0, (1,))),
        ("3 * x = 9\n3", (1.0, (1, 0))),
        # true, and idle
        ("1 = 1\nx = x\n0 = 0\nx = 3", (1.0, (0, 0, 0, 1))),
        ("x = 3\nx = 3\n3 = x\n2x = 6", (0.0, (1, 0, 0, 0))),
        ("10x + 6 = 4x + 24\nx = 3", (1.0, (0, 1))),
        ("2x + 12 = 5x + 3\nx = 3", (1.0, (0, 1))),
        ("5x + 3 + 1 = 2x + 12 + 1\nx = 3", (1.0, (0, 1))),
        ("x = 3 + 1 - 1\nx = 3 + 0\nx = 3", (1.0, (1, 1, 1))),
        ("x = 3 + 1 + 1 + 1 + 1 - 4\nx = 3", (1.0, (0, 1))),
        # false
        ("7x = 15\nx = 15/7", (0.0, (0, 0))),
        ("x = 1\nx = 2\nx = 3", (1.0, (0, 0, 1))),
        ("3x = 9\nx = 6/2", (0.0, (1, 1))),
        ("x*x = 9\nx = -3", (0.0, (0, 0))),
        ("y = 3", (0.0, (0,))),
        ("x = 3 = 3", (0.0, (0,))),
    ],
)
def test_lines_of_an_equation(text, expected):
    assert equation("5x + 3 = 2x + 12", "3", text) == expected


def test_idle_equations_cannot_be_strung_together():
    """However they are written, credited lines are bounded by the size of the equation asked about."""
    lines = [f"x = 3 + {n} - {n}" for n in range(50)] + [f"x = {6 * n}/{2 * n}" for n in range(1, 40)]
    value, steps = equation("5x + 3 = 2x + 12", "3", "\n".join([*lines, "x = 3"]))
    assert value == 1.0
    assert sum(steps) <= 10


def test_fractions_are_numbers_in_lowest_terms():
    assert equation("4x = 6", "3/2", "x = 3/2") == (1.0, (1,))
    assert equation("4x = 6", "3/2", "x = 1.5") == (1.0, (1,))
    assert equation("4x = 6", "3/2", "x = 6/4")[0] == 0.0
    assert equation("4x = 6", "3/2", "<answer>3/2</answer>", "tags") == (1.0, (1,))
    assert equation("4x = 6", "3/2", "<answer>x = 3/2</answer>", "tags") == (1.0, (1,))


@pytest.mark.parametrize(
    ("exercise", "text", "expected"),
    [
        (JUGS, "fill B\npour B A\nempty A\npour B A\nfill B\npour B A", (1.0, (1,) * 6)),
        (JUGS, "Fill b.\nPOUR  B a\nempty A\npour B A\nfill B\npour B A\n", (1.0, (1,) * 6)),
        (JUGS, "empty A\npour A B\nfill B\nfill B", (0.0, (0, 0, 1, 0))),
        (JUGS, "fill A\nempty A\nfill B\nempty B\nfill B", (0.0, (0.5, 0, 1, 0, 0))),
        (JUGS, "fill C\npour A C\nfill B\ndrink", (0.0, (0, 0, 1, 0))),
        (DISCS, "move A B\nmove A C\nmove B C", (1.0, (1, 1, 1))),
        (DISCS, "move A C\nmove A B\nmove C B\nmove A C", (0.0, (0.5, 0.5, 0.5, 0))),
        (DISCS, "move A B\nmove A B", (0.0, (1, 0))),
        (TILES, "slide 5", (1.0, (1,))),
        (TILES, "slide 5\nslide 5\nslide 5", (1.0, (1, 0, 0))),
        (TILES, "slide 1\nslide 5", (0.0, (0, 1))),
        (TILES, "slide 4\nslide 4\nslide 5", (1.0, (0.5, 0, 1))),
    ],
)
def test_moves(exercise, text, expected):
    assert puzzle(exercise, text) == expected


def test_wandering_is_paid_no_longer_than_the_solution():
    tour = "slide 4\nslide 1\nslide 2\nslide 3\nslide 5"
    assert puzzle(TILES, tour)[1] == (0.5, 0, 0, 0, 0)


def test_in_tags_only_what_stands_in_the_answer_is_a_move():
    moves = "move A B\nmove A C\nmove B C"
    assert puzzle(DISCS, f"<answer>{moves}</answer>", "tags") == (1.0, (1, 1, 1))
    assert puzzle(DISCS, f"Let me see.\nmove A C\n<answer>\n{moves}\n</answer>\nDone", "tags") == (
        1.0,
        (0, 0, 0, 1, 1, 1, 0, 0),
    )
    assert puzzle(DISCS, moves, "tags") == (0.0, (0, 0, 0))
