"""Small programs made of steps: what each step says, its Python, and a likely mistake in it.

A step is an expression over `x`, and perhaps a constant `k`. Everything else about a program follows from
its steps: the specification in words, the code, its answers, and a version with a bug. The expressions are
ours, so they are evaluated here; nothing that a policy wrote is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from types import CodeType
from typing import Literal

Kind = Literal["int", "ints", "str", "strs"]
Value = int | str | list[int] | list[str]

WORDS = ("a number", "a list of numbers", "a string", "a list of strings")
KINDS: Mapping[Kind, str] = dict(zip(("int", "ints", "str", "strs"), WORDS, strict=True))


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a program."""

    takes: Kind
    gives: Kind
    says: str
    """What it does, as an instruction; `{k}` is the constant."""
    code: str
    """Python expression over `x`."""
    bug: str
    """The same with a mistake."""
    ks: tuple[int, ...] = (0,)
    """Constants to choose from."""


def _steps(takes: Kind, gives: Kind, *rows: tuple[str, str, str] | tuple[str, str, str, range]) -> list[Step]:
    return [Step(takes, gives, *row[:3], tuple(row[3]) if len(row) == 4 else (0,)) for row in rows]


STEPS: tuple[Step, ...] = (
    *_steps(
        "int",
        "int",
        ("add {k}", "x + {k}", "x - {k}", range(1, 20)),
        ("subtract {k}", "x - {k}", "x + {k}", range(1, 20)),
        ("multiply by {k}", "x * {k}", "x + {k}", range(2, 12)),
        ("take the square", "x * x", "x + x"),
        ("negate", "-x", "x"),
        ("take the absolute value", "abs(x)", "-x"),
        ("take the remainder when divided by {k}", "x % {k}", "x // {k}", range(2, 12)),
        ("divide by {k}, rounding down", "x // {k}", "x % {k}", range(2, 12)),
        ("take the larger of it and {k}", "max(x, {k})", "min(x, {k})", range(-5, 10)),
        ("take the smaller of it and {k}", "min(x, {k})", "max(x, {k})", range(-5, 10)),
        ("count its decimal digits", "len(str(abs(x)))", "len(str(x))"),
        ("add up its decimal digits", "sum(int(d) for d in str(abs(x)))", "max(int(d) for d in str(abs(x)))"),
    ),
    *_steps(
        "ints",
        "ints",
        ("add {k} to each number", "[n + {k} for n in x]", "[n - {k} for n in x]", range(1, 10)),
        ("multiply each number by {k}", "[n * {k} for n in x]", "[n + {k} for n in x]", range(2, 10)),
        ("square each number", "[n * n for n in x]", "[n + n for n in x]"),
        ("keep the even numbers", "[n for n in x if n % 2 == 0]", "[n for n in x if n % 2 == 1]"),
        ("keep the odd numbers", "[n for n in x if n % 2 == 1]", "[n for n in x if n % 2 == 0]"),
        (
            "keep numbers greater than {k}",
            "[n for n in x if n > {k}]",
            "[n for n in x if n < {k}]",
            range(-5, 6),
        ),
        (
            "keep numbers less than {k}",
            "[n for n in x if n < {k}]",
            "[n for n in x if n > {k}]",
            range(-5, 6),
        ),
        ("reverse the list", "x[::-1]", "sorted(x)"),
        ("sort in ascending order", "sorted(x)", "sorted(x, reverse=True)"),
        ("sort in descending order", "sorted(x, reverse=True)", "sorted(x)"),
        ("take the first {k} numbers", "x[:{k}]", "x[{k}:]", range(1, 5)),
        ("drop the first {k} numbers", "x[{k}:]", "x[:{k}]", range(1, 5)),
        ("remove duplicates, keeping the first of each", "list(dict.fromkeys(x))", "sorted(set(x))"),
        ("take every second number, beginning with the first", "x[::2]", "x[1::2]"),
    ),
    *_steps(
        "ints",
        "int",
        ("add up the numbers", "sum(x)", "len(x)"),
        ("count the numbers", "len(x)", "sum(x)"),
        ("take the largest number, or 0 if there is none", "max(x, default=0)", "min(x, default=0)"),
        ("take the smallest number, or 0 if there is none", "min(x, default=0)", "max(x, default=0)"),
        ("count the numbers equal to {k}", "x.count({k})", "sum(n != {k} for n in x)", range(-2, 6)),
        ("count the negative numbers", "sum(n < 0 for n in x)", "sum(n > 0 for n in x)"),
        ("count the different numbers", "len(set(x))", "len(x)"),
    ),
    *_steps(
        "str",
        "str",
        ("reverse the string", "x[::-1]", "x"),
        ("convert it to upper case", "x.upper()", "x.title()"),
        ("repeat it {k} times", "x * {k}", "x + str({k})", range(2, 5)),
        ("take the first {k} characters", "x[:{k}]", "x[{k}:]", range(1, 6)),
        ("drop the first {k} characters", "x[{k}:]", "x[:{k}]", range(1, 6)),
        ("remove all spaces", 'x.replace(" ", "")', "x.strip()"),
        ("replace each a with e", 'x.replace("a", "e")', 'x.replace("e", "a")'),
        (
            "remove the vowels",
            '"".join(c for c in x if c not in "aeiou")',
            '"".join(c for c in x if c in "aeiou")',
        ),
        ("sort its characters", '"".join(sorted(x))', '"".join(sorted(set(x)))'),
    ),
    *_steps(
        "str",
        "int",
        ("count the characters", "len(x)", "len(x.split())"),
        ("count the words", "len(x.split())", "len(x)"),
        ("count the vowels", 'sum(c in "aeiou" for c in x)', 'sum(c not in "aeiou" for c in x)'),
        ("count the letter e", 'x.count("e")', 'x.find("e")'),
        ("count the different characters", "len(set(x))", "len(x)"),
    ),
    *_steps("str", "strs", ("split it into words", "x.split()", "list(x)")),
    *_steps(
        "strs",
        "strs",
        ("sort them", "sorted(x)", "x[::-1]"),
        ("reverse their order", "x[::-1]", "sorted(x)"),
        (
            "keep those longer than {k}",
            "[w for w in x if len(w) > {k}]",
            "[w for w in x if len(w) < {k}]",
            range(2, 6),
        ),
        ("reverse each of them", "[w[::-1] for w in x]", "x[::-1]"),
    ),
    *_steps("strs", "str", ("join them with hyphens", '"-".join(x)', '"".join(x)')),
    *_steps("strs", "ints", ("take the length of each", "[len(w) for w in x]", "[len(x) for w in x]")),
    *_steps("strs", "int", ("count them", "len(x)", 'len("".join(x))')),
)

NOUNS = (
    "apple",
    "bread",
    "crane",
    "dance",
    "eagle",
    "flame",
    "grape",
    "house",
    "ivory",
    "jewel",
    "knife",
    "lemon",
)


@dataclass(frozen=True, slots=True)
class Program:
    """A function `f(x)` made of steps, each with its constant."""

    steps: tuple[tuple[Step, int], ...]
    buggy: int | None = None
    """Position of the step with the mistake."""

    @property
    def takes(self) -> Kind:
        """What it takes."""
        return self.steps[0][0].takes

    @property
    def gives(self) -> Kind:
        """What it gives."""
        return self.steps[-1][0].gives

    @property
    def specification(self) -> str:
        """What it does, in words."""
        says = [step.says.format(k=k) for step, k in self.steps]
        tail = f", then {', then '.join(says[1:])}" if len(says) > 1 else ""
        return f"{says[0]}{tail}"

    @property
    def expressions(self) -> tuple[str, ...]:
        """The expression of each step."""
        chosen = (step.bug if i == self.buggy else step.code for i, (step, _) in enumerate(self.steps))
        return tuple(code.format(k=k) for code, (_, k) in zip(chosen, self.steps, strict=True))

    @property
    def source(self) -> str:
        """Its code."""
        *first, last = self.expressions
        return "\n".join(["def f(x):", *(f"    x = {code}" for code in first), f"    return {last}"])

    def answer(self, value: Value) -> Value:
        """What it gives for a value."""
        for code in self.expressions:
            value = eval(_compiled(code), {"x": value})  # noqa: S307 - an expression of the catalogue
        return value


@lru_cache(maxsize=4096)
def _compiled(code: str) -> CodeType:
    return compile(code, "<step>", "eval")


def draw_program(rng: Random, length: int, starts: Sequence[Kind]) -> Program:
    """A program of `length` steps that takes one of some kinds; no step is repeated."""
    kind: Kind = rng.choice(list(starts))
    steps: list[tuple[Step, int]] = []
    while len(steps) < length:
        used = {step.says for step, _ in steps}
        fitting = [step for step in STEPS if step.takes == kind and step.says not in used]
        step = rng.choice(fitting)
        steps.append((step, rng.choice(step.ks)))
        kind = step.gives
    return Program(tuple(steps))


def draw_value(rng: Random, kind: Kind) -> Value:
    """An input of a kind."""
    if kind == "int":
        return rng.randrange(-30, 100)
    if kind == "ints":
        return [rng.randrange(-9, 20) for _ in range(rng.randrange(0, 8))]
    words = [rng.choice(NOUNS) for _ in range(rng.randrange(1, 5))]
    return words if kind == "strs" else " ".join(words)
