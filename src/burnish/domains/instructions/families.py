"""Families of instructions as domains.

A response is worth 1 when it does all that is asked and 0 otherwise. Five things are asked of every
response, and count before all others: it uses the word that names its subject, it has `LEAST` words or more
(unless a constraint says how long it is), it ends with `.`, `!` or `?` (unless its form says how it ends),
it has no word four times in a row, and it does not repeat `COPIED` words of the request. So a response that
is cut off, all but empty, copied or babbled earns nothing. With `graded` a response that passes these five
keeps the share of the constraints it meets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

from burnish.domains.instructions import case, format, keywords, language, length, punctuation, structure
from burnish.domains.instructions.base import Constraint, Params, conflict
from burnish.domains.instructions.plan import Plan, solve, topics
from burnish.domains.instructions.text import Text, words_of
from burnish.domains.instructions.vocabulary import GENRES
from burnish.domains.procedural import Procedural
from burnish.domains.prompts import CLOSE, OPEN, completion_for, extract_answer
from burnish.domains.settings import DomainSettings
from burnish.records import Scored, Verdict

LONGEST = 8000
"""Responses with more characters are wrong unread."""
COPIED = 10
"""Consecutive words of the request that no response may repeat."""
LEAST = 12
"""Words of a response whose length no constraint settles."""
LEVELS = 4

CONSTRAINTS: Mapping[str, Constraint] = {
    constraint.name: constraint
    for module in (length, format, keywords, case, language, structure, punctuation)
    for constraint in module.CONSTRAINTS
}

WRONG = Scored(0.0, passed=False)


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be written, and how."""

    genre: str
    topic: str
    demands: tuple[tuple[str, Params], ...]
    """Constraints by name, with their parameters."""
    reference: str
    """A response that does all of it."""

    @property
    def constraints(self) -> list[tuple[Constraint, Params]]:
        """The constraints with their parameters."""
        return [(CONSTRAINTS[name], params) for name, params in self.demands]

    @property
    def has_own_end(self) -> bool:
        """Whether a constraint settles how the response ends."""
        return any(CONSTRAINTS[name].ends for name, _ in self.demands)

    @property
    def least(self) -> int:
        """Fewest words of the response."""
        return 0 if any("length" in CONSTRAINTS[name].owns for name, _ in self.demands) else LEAST


@dataclass(frozen=True)
class Instructions(Procedural[Request]):
    """`instructions/<family>`: one constraint of a family, sized by the level."""

    family: str = "length"
    graded: bool = False

    @property
    def name(self) -> str:
        """Full name."""
        return f"instructions/{self.family}"

    @property
    def levels(self) -> int:
        """By the size of the numbers."""
        return LEVELS

    def draw(self, rng: Random, level: int) -> list[tuple[Constraint, Params]]:
        """The constraints of a request."""
        own = [constraint for constraint in CONSTRAINTS.values() if constraint.family == self.family]
        chosen = rng.choice(own)
        return [(chosen, chosen.sample(rng, level))]

    def make(self, rng: Random, level: int) -> Request | None:
        """A request that the reference meets."""
        return compose(rng, self.draw(rng, level))

    def question(self, exercise: Request) -> str:
        """The request."""
        return question_of(exercise)

    def gold(self, exercise: Request) -> str:
        """The reference."""
        return completion_for(exercise.reference, self.answer_format)

    def own_instruction(self) -> str:
        """What to write beside the response."""
        if self.answer_format == "tags":
            return (
                f"Follow the instructions exactly. Think first, then give the response as {OPEN}...{CLOSE}."
            )
        return "Follow the instructions exactly. Reply with the response only."

    def verdict(self, exercise: Request, text: str) -> Verdict:
        """All or nothing; with `graded` the share of constraints that are met."""
        response = extract_answer(text, self.answer_format) if len(text) <= 4 * LONGEST else None
        if response is None or len(response) > LONGEST:
            return WRONG
        read = Text(response)
        if not is_sound(exercise, read):
            return WRONG
        met = {constraint.name: constraint.check(read, p) for constraint, p in exercise.constraints}
        parts = {name: float(is_met) for name, is_met in met.items()}
        if all(met.values()):
            return Scored(1.0, passed=True, parts=parts)
        value = sum(parts.values()) / len(parts) if self.graded else 0.0
        return Scored(value, passed=False, parts=parts)


@dataclass(frozen=True)
class Combined(Instructions):
    """`instructions/combined`: two constraints at level 0, one more at each level."""

    family: str = "combined"

    def draw(self, rng: Random, level: int) -> list[tuple[Constraint, Params]]:
        """Constraints of which no two are in conflict."""
        chosen: list[Constraint] = []
        for constraint in rng.sample(list(CONSTRAINTS.values()), len(CONSTRAINTS)):
            if len(chosen) < level + 2 and not any(conflict(constraint, other) for other in chosen):
                chosen.append(constraint)
        return [(constraint, constraint.sample(rng, rng.randint(0, 1))) for constraint in chosen]


def compose(rng: Random, chosen: Sequence[tuple[Constraint, Params]]) -> Request | None:
    """A request with these constraints and its reference; None when the solver finds none."""
    plan = Plan()
    for constraint, params in chosen:
        plan = constraint.plan(plan, params)
    demands = tuple((constraint.name, params) for constraint, params in chosen)
    request = Request(rng.choice(GENRES), rng.choice(topics(plan)), demands, "")
    reference = refer(request, rng.getrandbits(32))
    return None if reference is None else Request(request.genre, request.topic, demands, reference)


def refer(request: Request, seed: int) -> str | None:
    """A response that does all that a request asks; None when the solver finds none."""
    plan = Plan(topic=request.topic, least=request.least)
    for constraint, params in request.constraints:
        plan = constraint.plan(plan, params)
    return solve(plan, seed, lambda text: meets(request, Text(text)))


def meets(request: Request, text: Text) -> bool:
    """Whether a response does all that is asked."""
    return is_sound(request, text) and all(constraint.check(text, p) for constraint, p in request.constraints)


def is_sound(request: Request, text: Text) -> bool:
    """Whether a response does what is asked of every response."""
    if not request.has_own_end and not text.raw.endswith((".", "!", "?")):
        return False
    is_long = len(text.words) >= request.least
    return is_long and text.times(request.topic) > 0 and not is_babble(text) and not is_copy(request, text)


def is_babble(text: Text) -> bool:
    """Whether a word stands four times in a row."""
    same = [one == other for one, other in pairwise(text.folded)]
    return any(a and b and c for a, b, c in zip(same, same[1:], same[2:], strict=False))


def is_copy(request: Request, text: Text) -> bool:
    """Whether `COPIED` words of the request stand in the response."""
    if len(text.folded) < COPIED:
        return False
    asked = [word.casefold() for word in words_of(question_of(request))]
    return bool(_runs(asked) & _runs(text.folded))


def question_of(request: Request) -> str:
    """The request in words."""
    size = f", with at least {request.least} words" if request.least else ""
    end = "" if request.has_own_end else ' End with ".", "!" or "?".'
    lead = f'Write {request.genre} that uses the word "{request.topic}"{size}.{end}'
    demands = [constraint.text(params) for constraint, params in request.constraints]
    if len(demands) == 1:
        return f"{lead} {demands[0]}"
    return "\n".join([f"{lead} Follow all of these instructions:", *(f"- {demand}" for demand in demands)])


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + COPIED]) for at in range(len(words) - COPIED + 1)}


def _made(family: str) -> Callable[[DomainSettings], Instructions]:
    kind: Any = Combined if family == "combined" else Instructions
    return lambda settings: kind(
        settings.answer_format, settings.instruction, family=family, graded=settings.graded
    )


FAMILIES: Mapping[str, Callable[[DomainSettings], Instructions]] = {
    f"instructions/{family}": _made(family)
    for family in (*dict.fromkeys(c.family for c in CONSTRAINTS.values()), "combined")
}
"""Domains by name."""
