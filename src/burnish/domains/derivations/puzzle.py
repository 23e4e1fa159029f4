"""Solve a small puzzle move by move.

A move is a step worth 1 when it comes closer to the goal than any move before, and half when it is allowed,
leads to a state not seen before and comes no closer; as many such detours count as the shortest solution has
moves. A move that is not allowed, changes nothing, repeats an earlier state or comes after the goal is worth
nothing. The answer is right when every line is an allowed move and the last one reaches the goal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from burnish.domains.derivations.base import Derivation, answer_span, untagged
from burnish.domains.derivations.worlds import (
    Label,
    State,
    World,
    distances,
    draw_world,
    explore,
    shortest,
)
from burnish.domains.prompts import completion_for
from burnish.records import Scored, Verdict
from burnish.rewards.steps import step_spans, step_texts

DETOUR = 0.5
"""Worth of a move that is fine but leads no closer."""
MOVES = ((1, 1), (2, 2), (3, 4), (5, 7))
"""Fewest moves to the goal, by level: from, to."""

_RULES = {
    "discs": "Discs stand on pegs A, B and C, 1 is the smallest; a disc may only lie on larger ones. "
    "A move is `move A C`: the top disc of A to C.",
    "tiles": "Tiles in a tray slide into the gap _ next to them. A move is `slide 4`.",
    "jugs": "A move is `fill A`, `empty A` or `pour A B`, which ends when A is empty or B is full.",
}


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A world with a start and a goal."""

    world: World
    start: State
    goal: Label


@dataclass(frozen=True)
class Moves(Derivation[Puzzle]):
    """`derivations/puzzle`."""

    @property
    def name(self) -> str:
        """Full name."""
        return "derivations/puzzle"

    @property
    def levels(self) -> int:
        """By the length of the shortest solution."""
        return len(MOVES)

    def make(self, rng: Random, level: int) -> Puzzle | None:
        """A puzzle whose shortest solution has the length of the level."""
        world, start = draw_world(rng)
        nearest: dict[Label, int] = {}
        for state, moves in explore(world, start).items():
            for label in world.labels(state):
                nearest.setdefault(label, moves)
        fewest, most = MOVES[level]
        goals = sorted(label for label, moves in nearest.items() if fewest <= moves <= most)
        return Puzzle(world, start, rng.choice(goals)) if goals else None

    def question(self, exercise: Puzzle) -> str:
        """The rules, the start and the goal."""
        world, goal = exercise.world, exercise.goal
        wanted = f"one jug holds {goal}" if isinstance(goal, int) else world.show(goal)
        return f"{_RULES[world.kind]}\nStart: {world.show(exercise.start)}\nGoal: {wanted}"

    def own_instruction(self) -> str:
        """How moves are written."""
        tags = " Put the moves between <answer> and </answer>." if self.answer_format == "tags" else ""
        return f"Solve the puzzle: write one move a line, and nothing else.{tags}"

    def lines(self, exercise: Puzzle) -> tuple[str, ...]:
        """A shortest solution."""
        return shortest(exercise.world, exercise.start, exercise.goal)

    def gold(self, exercise: Puzzle) -> str:
        """A shortest solution."""
        return completion_for("\n".join(self.lines(exercise)), self.answer_format)

    def marks(self, exercise: Puzzle, lines: Sequence[str]) -> list[float]:
        """The worth of each move."""
        left = distances(exercise.world, exercise.start, exercise.goal)
        state, closest, detours = exercise.start, left[exercise.start], left[exercise.start]
        seen, marks = {state}, []
        for line in lines:
            after = exercise.world.moves(state).get(read_move(line), state)
            away = left.get(after)
            is_closer = away is not None and away < closest
            is_detour = not is_closer and closest > 0 and after not in seen and detours > 0
            marks.append(1.0 if is_closer else DETOUR if is_detour else 0.0)
            closest = away if is_closer and away is not None else closest
            detours -= is_detour
            state = after
            seen.add(state)
        return marks

    def is_right(self, exercise: Puzzle, answer: str) -> bool:
        """Whether every line is an allowed move and the last reaches the goal."""
        state: State | None = exercise.start
        for line in step_texts(answer):
            state = exercise.world.moves(state).get(read_move(line))
            if state is None:
                return False
        return exercise.goal in exercise.world.labels(state)

    def verdict(self, exercise: Puzzle, text: str) -> Verdict:
        """Outcome and moves; in the format `tags` what stands outside the answer is worth nothing."""
        spans = step_spans(text)
        answer = (0, len(text)) if self.answer_format == "plain" else answer_span(text)
        if answer is None or not spans:
            return Scored(0.0, passed=False, steps=(0.0,) * len(spans))
        inside = [(max(start, answer[0]), min(end, answer[1])) for start, end in spans]
        lines = [untagged(text[start:end]) if start < end else "" for start, end in inside]
        right = self.is_right(exercise, untagged(text[slice(*answer)]))
        return Scored(float(right), passed=right, steps=tuple(self.marks(exercise, lines)))


def read_move(line: str) -> str:
    """A move as a world names it; letter case, white space and a full stop do not matter."""
    verb, *rest = " ".join(line.split()).removesuffix(".").split(" ", 1) or [""]
    return " ".join([verb.lower(), *(word.upper() for word in rest)])
