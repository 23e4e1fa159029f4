"""Procedural code: purity, levels, sound answers, and no constant that passes."""

import pickle
from random import Random

import pytest

from burnish.domains.code.catalogue import KINDS, STEPS, Program, draw_value
from burnish.domains.code.engine import close_engines, engine_of
from burnish.domains.code.families import FAMILIES, LEVELS, draw_exercise, suite_of
from burnish.domains.settings import CodeSettings, DomainSettings
from burnish.errors import DomainError
from burnish.records import Sample, Scored, Split
from burnish.sandbox.judging.judge import judge
from burnish.sandbox.records import Call, Case, RunRequest

NAMES = sorted(FAMILIES)


@pytest.fixture(scope="module", autouse=True)
def _closed():
    yield
    close_engines()


def made(name: str, **settings: object):
    return FAMILIES[name](DomainSettings(**settings))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("name", NAMES)
def test_tasks_are_pure_disjoint_and_survive_a_journey(name):
    domain = pickle.loads(pickle.dumps(made(name)))
    assert domain.name == name
    questions: dict[str, Split] = {}
    for split in Split:
        for level in range(LEVELS):
            for index in range(12):
                task = domain.task(split, level, index)
                again = made(name).task(split, level, index)
                assert (task.messages, task.gold, task.data) == (again.messages, again.gold, again.data)
                assert questions.setdefault(task.messages[-1].content, split) is split
    assert len(questions) > 150
    with pytest.raises(DomainError, match="no such level"):
        domain.task(Split.TRAIN, LEVELS, 0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["plain", "tags"])
def test_gold_passes_and_what_is_wrong_does_not(name, form):
    domain = made(name, answer_format=form)
    for level in range(LEVELS):
        task = domain.task(Split.TRAIN, level, 3)
        verdict = domain.grade(task, Sample(task.gold or ""))
        assert isinstance(verdict, Scored)
        assert (verdict.value, verdict.passed) == (1.0, True)
        gold_and_more = f"{task.gold} x".replace("</answer> x", " x</answer>")
        for wrong in ("", "def f(x): return x", task.messages[-1].content, gold_and_more, "\ud800"):
            verdict = domain.grade(task, Sample(wrong))
            assert isinstance(verdict, Scored)
            assert (verdict.value, verdict.passed) == (0.0, False)


def test_no_constant_and_no_bug_passes():
    rng = Random(5)
    exercises = [e for e in (draw_exercise(rng, level) for level in range(LEVELS) for _ in range(40)) if e]
    assert len(exercises) > 60
    for exercise in exercises:
        answers = [repr(answer) for _, answer in exercise.tests]
        assert max(answers.count(answer) for answer in answers) < len(answers)
        assert any(exercise.wrong.answer(value) != answer for value, answer in exercise.tests)
        assert sum(check.public for check in suite_of(exercise).calls) < len(exercise.tests)
    for exercise in exercises[::30]:
        assert not judge(engine_of(CodeSettings()), exercise.wrong.source, suite_of(exercise)).all_passed


@pytest.mark.parametrize("kind", KINDS)
def test_each_step_answers_in_the_sandbox_as_it_does_here(kind):
    """The answers of the catalogue are those of the code that it shows."""
    rng = Random(1)
    steps = [(step, step.ks[-1]) for step in STEPS if step.takes == kind]
    programs = [Program(((step, k),), buggy) for step, k in steps for buggy in (None, 0)]
    values = [draw_value(rng, kind) for _ in range(2)]
    lines = [program.source.replace("def f", f"def f{n}") for n, program in enumerate(programs)]
    lines.append(f"def all(x): return [f(x) for f in ({', '.join(f'f{n}' for n in range(len(programs)))},)]")
    cases = tuple(Case(call=Call("all", (value,))) for value in values)
    result = engine_of(CodeSettings()).run(RunRequest("\n".join(lines), cases=cases))
    for value, case in zip(values, result.cases, strict=True):
        assert case.value == [program.answer(value) for program in programs], case.stderr
    kinds = {"int": int, "ints": list, "str": str, "strs": list}
    for step, k in steps:
        assert type(Program(((step, k),)).answer(values[0])) is kinds[step.gives]
