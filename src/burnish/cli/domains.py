"""`burnish domains`: what can be trained on, shown, proven and tried by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from burnish.cli.arguments import Json, levels_from
from burnish.cli.output import make_console, print_json
from burnish.errors import DomainError

if TYPE_CHECKING:
    from burnish.domains.base import Domain
    from burnish.domains.registry import Registry
    from burnish.domains.settings import DomainSettings
    from burnish.domains.validate import ValidationReport
    from burnish.observe.console import Console
    from burnish.records import Task, Verdict

Name = Annotated[str, Parameter(help="A domain, for example reasoning-gym/arithmetic/chain_sum.")]
Pattern = Annotated[str, Parameter(help="Names or a pattern, for example 'reasoning-gym/games/*'.")]
RecipeFile = Annotated[
    Path | None, Parameter(name="--recipe", help="Know the row files of this recipe too, and its formats.")
]
Level = Annotated[int, Parameter(help="Difficulty; 0 is the easiest.")]
Index = Annotated[int, Parameter(help="Position within the split and level.")]
SplitName = Annotated[Literal["train", "eval", "holdout"], Parameter(name="--split")]

app = App(name="domains", sort_key=5, help="What a model is trained on: list, show, validate, play.")


@app.command(name="list")
def list_domains(pattern: Pattern = "*", /, *, recipe: RecipeFile = None, json: Json = False) -> int:
    """Every domain that a pattern matches, with its number of levels."""
    registry, settings = _known(recipe)
    found = [registry.load(name, settings) for name in registry.resolve([pattern])]
    if json:
        print_json([{"name": domain.name, "levels": domain.levels} for domain in found])
        return 0
    make_console().table(
        ["domain", "levels"],
        [[domain.name, str(domain.levels)] for domain in found],
        title=f"{len(found)} domains",
    )
    return 0


@app.command
def show(
    name: Name,
    /,
    *,
    level: Level = 0,
    index: Index = 0,
    split: SplitName = "train",
    recipe: RecipeFile = None,
    json: Json = False,
) -> int:
    """One task as a model sees it, and the answer that earns full marks."""
    domain = _load(name, recipe)
    task = _task(domain, split, level, index)
    if json:
        print_json({**asdict(task), "key": task.key, "levels": domain.levels})
        return 0
    _print_task(task)
    print(f"\ngold: {_clean(task.gold) if task.gold is not None else 'none is known'}")
    print(f"level {level} of 0 to {domain.levels - 1}, {split} {index}, {_size_text(domain, task)}")
    return 0


@app.command
def validate(
    pattern: Pattern,
    /,
    *more: Annotated[str, Parameter(help="More names or patterns.")],
    tasks: Annotated[int, Parameter(help="Tasks per level and split.")] = 8,
    levels: Annotated[str, Parameter(help="Levels to try, such as 0,1; `all` for every level.")] = "all",
    recipe: RecipeFile = None,
    json: Json = False,
    quiet: Annotated[bool, Parameter(help="No progress.")] = False,
) -> int:
    """Prove domains without a model: gold answers score full marks, wrong ones do not, splits share nothing.

    Exit code 1 when a domain fails.
    """
    wanted = levels_from(levels)
    registry, settings = _known(recipe)
    names = registry.resolve([pattern, *more])
    console = make_console(json=json, quiet=quiet)
    with console.task("validating", len(names)) as bar:
        reports = []
        for name in names:
            reports.append(_validate(registry, name, settings, tasks, wanted))
            bar.advance(1, domain=name)
    if json:
        print_json([report.to_dict() for report in reports])
    else:
        _show_validation(console, reports)
    return 0 if all(report.ok for report in reports) else 1


def _validate(
    registry: Registry, name: str, settings: DomainSettings, tasks: int, levels: Sequence[int] | None
) -> ValidationReport:
    """The report on one domain; one that cannot even be made is unsound and does not stop the others."""
    from burnish.domains.validate import Problem, ValidationReport, validate_domain  # noqa: PLC0415

    try:
        domain = registry.load(name, settings)
    except DomainError as error:
        problem = Problem(error.what, str(error.got), str(error.expected or "a domain"), name)
        return ValidationReport(name, (), (problem,), ())
    there = None if levels is None else [level for level in levels if level < domain.levels]
    return validate_domain(domain, tasks, there)


def _show_validation(console: Console, reports: Sequence[ValidationReport]) -> None:
    sound = sum(report.ok for report in reports)
    console.table(
        ["domain", "levels", "tasks", "gold passed", "wrong refused", "result"],
        [_validation_row(report) for report in reports],
        title=f"{sound} of {len(reports)} domains are sound",
    )
    for report in reports:
        for note in report.notes:
            console.say(f"note: {report.name}: {note}")
    for report in reports:
        for problem in report.problems:
            print(_clean(f"UNSOUND {report.name}: {problem}"))


def _validation_row(report: ValidationReport) -> list[str]:
    def total(field: str) -> int:
        return sum(getattr(level, field) for level in report.levels)

    return [
        report.name,
        str(len(report.levels)),
        str(total("tasks")),
        f"{total('gold_passed')}/{total('with_gold')}",
        f"{total('wrong_refused')}/{total('wrong_tried')}",
        "sound" if report.ok else "UNSOUND",
    ]


@app.command
def play(
    name: Name,
    /,
    *,
    level: Level = 0,
    tasks: Annotated[int, Parameter(help="Questions to ask.")] = 5,
    first: Annotated[int, Parameter(help="Position of the first question.")] = 0,
    split: SplitName = "train",
    recipe: RecipeFile = None,
) -> int:
    """Answer a domain's questions yourself: see the verdict and the gold answer, and your score at the end.

    A line that ends in a backslash goes on in the next. Ctrl-D or Ctrl-C ends the game.
    """
    domain = _load(name, recipe)
    passed = asked = 0
    try:
        for index in range(first, first + tasks):
            task = _task(domain, split, level, index)
            print(f"\n--- {asked + 1} of {tasks} ---")
            _print_task(task)
            answer = _read_answer()
            asked += 1
            passed += _judge_aloud(domain, task, answer)
    except (EOFError, KeyboardInterrupt):
        print()
    print(f"\nScore: {passed} of {asked}." if asked else "\nNo question answered.")
    return 0


def _known(recipe: Path | None) -> tuple[Registry, DomainSettings]:
    """All domains by name, those of a recipe included, and the settings to make them with."""
    from burnish.domains.registry import default_registry  # noqa: PLC0415
    from burnish.domains.settings import DomainSettings  # noqa: PLC0415
    from burnish.recipe import load_recipe  # noqa: PLC0415

    settings = DomainSettings() if recipe is None else load_recipe(recipe).domains
    return default_registry(settings.rows), settings


def _load(name: str, recipe: Path | None) -> Domain:
    registry, settings = _known(recipe)
    return registry.load(name, settings)


def _task(domain: Domain, split: str, level: int, index: int) -> Task:
    from burnish.records import Split  # noqa: PLC0415

    if not 0 <= level < domain.levels:
        raise DomainError(
            f"{domain.name} has no level {level}",
            got=f"--level {level}",
            expected=f"0 to {domain.levels - 1}" if domain.levels > 1 else "0, its only level",
            next_step="choose one of those",
        )
    if index < 0:
        raise DomainError("an index cannot be negative", got=index, expected="0 or more")
    return domain.task(Split(split), level, index)


def _print_task(task: Task) -> None:
    for message in task.messages:
        print(f"[{message.role}]\n{_clean(message.content)}\n")


def _read_answer() -> str:
    """One answer from the terminal; a backslash at the end of a line continues it."""
    lines = [input("your answer> ")]
    while lines[-1].endswith("\\"):
        lines[-1] = lines[-1][:-1]
        lines.append(input("... "))
    return "\n".join(lines)


def _judge_aloud(domain: Domain, task: Task, answer: str) -> bool:
    from burnish.records import Sample, Scored  # noqa: PLC0415
    from burnish.rewards.judge import judge  # noqa: PLC0415

    verdict = judge(domain, task, Sample(answer))
    print(_in_words(verdict))
    if task.gold is not None:
        print(f"gold: {_clean(task.gold)}")
    return isinstance(verdict, Scored) and verdict.passed


def _in_words(verdict: Verdict) -> str:
    from burnish.records import Abstained, Scored  # noqa: PLC0415

    if isinstance(verdict, Scored):
        partial = "" if verdict.value in (0.0, 1.0) else f" (reward {verdict.value:.2f})"
        return ("right" if verdict.passed else "wrong") + partial
    if isinstance(verdict, Abstained):
        return f"no verdict: {_clean(verdict.reason)}"
    return f"the grader broke ({verdict.boundary}): {_clean(verdict.error)}"


def _size_text(domain: Domain, task: Task) -> str:
    count = domain.size(task.split, task.level)
    return "generated without end" if count is None else f"one of {count}"


def _clean(text: str) -> str:
    from burnish.observe.text import clean  # noqa: PLC0415

    return clean(text)
