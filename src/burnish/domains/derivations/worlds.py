"""Three small worlds of moves: discs on pegs, tiles in a tray, water in jugs.

A world says which moves a state allows and where each leads, and when its goal is reached. Moves that change
nothing, such as filling a full jug, are allowed and lead back to the same state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from random import Random

State = tuple[int, ...]
Label = int | State
"""What a goal asks for: a state, or an amount of water in any jug."""

PEGS = "ABC"
WIDTH, HEIGHT = 3, 2
"""Of the tray; 0 is the gap."""


@dataclass(frozen=True, slots=True)
class World:
    """A puzzle without its start and goal."""

    kind: str
    """`discs`, `tiles` or `jugs`."""
    sizes: State
    """Capacities of the jugs; empty for the others."""

    def moves(self, state: State) -> Mapping[str, State]:
        """Each move that a state allows, and where it leads."""
        return _MOVES[self.kind](self.sizes, state)

    def labels(self, state: State) -> tuple[Label, ...]:
        """The goals that a state reaches."""
        return tuple(set(state)) if self.kind == "jugs" else (state,)

    def show(self, state: State) -> str:
        """A state in words."""
        return _SHOW[self.kind](self.sizes, state)


@lru_cache(maxsize=256)
def distances(world: World, start: State, goal: Label) -> Mapping[State, int]:
    """Fewest moves to the goal, from each state that can be reached from `start` and can reach it."""
    reached = explore(world, start)
    before: dict[State, list[State]] = {state: [] for state in reached}
    for state in reached:
        for after in world.moves(state).values():
            before[after].append(state)
    found = {state: 0 for state in reached if goal in world.labels(state)}
    waiting = deque(found)
    while waiting:
        state = waiting.popleft()
        for earlier in before[state]:
            if earlier not in found:
                found[earlier] = found[state] + 1
                waiting.append(earlier)
    return found


def explore(world: World, start: State) -> dict[State, int]:
    """Every state that can be reached, with the fewest moves to it, nearest first."""
    found = {start: 0}
    waiting = deque([start])
    while waiting:
        state = waiting.popleft()
        for after in world.moves(state).values():
            if after not in found:
                found[after] = found[state] + 1
                waiting.append(after)
    return found


def shortest(world: World, start: State, goal: Label) -> tuple[str, ...]:
    """A shortest sequence of moves; among equals the first by name."""
    left, state, moves = distances(world, start, goal), start, []
    while left[state]:
        move, state = min((m, s) for m, s in world.moves(state).items() if left.get(s, -1) == left[state] - 1)
        moves.append(move)
    return tuple(moves)


def draw_world(rng: Random) -> tuple[World, State]:
    """A world and a state of it."""
    kind = rng.choice(("discs", "tiles", "jugs"))
    if kind == "discs":
        return World(kind, ()), tuple(rng.randrange(len(PEGS)) for _ in range(rng.randint(2, 4)))
    if kind == "tiles":
        tiles = list(range(WIDTH * HEIGHT))
        rng.shuffle(tiles)
        return World(kind, ()), tuple(tiles)
    sizes = tuple(sorted(rng.sample(range(2, 12), 2)))
    return World(kind, sizes), tuple(rng.choice((0, 0, size, rng.randint(0, size))) for size in sizes)


def _disc_moves(_sizes: State, pegs: State) -> Mapping[str, State]:
    """`pegs[d]` is where disc d stands, 0 the smallest; the smallest of a peg moves, onto larger ones."""
    tops = {peg: disc for disc, peg in reversed(list(enumerate(pegs)))}
    found = {}
    for one, other in permutations(range(len(PEGS)), 2):
        if one in tops and tops[one] < tops.get(other, len(pegs)):
            disc = tops[one]
            found[f"move {PEGS[one]} {PEGS[other]}"] = (*pegs[:disc], other, *pegs[disc + 1 :])
    return found


def _tile_moves(_sizes: State, tray: State) -> Mapping[str, State]:
    gap = tray.index(0)
    row, column = divmod(gap, WIDTH)
    around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    found = {}
    for r, c in around:
        if 0 <= r < HEIGHT and 0 <= c < WIDTH:
            moved = list(tray)
            moved[gap], moved[r * WIDTH + c] = tray[r * WIDTH + c], 0
            found[f"slide {tray[r * WIDTH + c]}"] = tuple(moved)
    return found


def _jug_moves(sizes: State, amounts: State) -> Mapping[str, State]:
    found = {}
    for jug, size in enumerate(sizes):
        for move, amount in (("fill", size), ("empty", 0)):
            found[f"{move} {_jug(jug)}"] = (*amounts[:jug], amount, *amounts[jug + 1 :])
    for one, other in permutations(range(len(sizes)), 2):
        poured = min(amounts[one], sizes[other] - amounts[other])
        moved = list(amounts)
        moved[one] -= poured
        moved[other] += poured
        found[f"pour {_jug(one)} {_jug(other)}"] = tuple(moved)
    return found


def _jug(number: int) -> str:
    return "ABC"[number]


def _show_discs(_sizes: State, pegs: State) -> str:
    stacks = (
        "".join(str(d + 1) for d, peg in enumerate(pegs) if peg == at) or "-" for at in range(len(PEGS))
    )
    return ", ".join(f"{name}: {stack}" for name, stack in zip(PEGS, stacks, strict=True))


def _show_tiles(_sizes: State, tray: State) -> str:
    cells = ["_" if tile == 0 else str(tile) for tile in tray]
    return " / ".join(" ".join(cells[row * WIDTH : (row + 1) * WIDTH]) for row in range(HEIGHT))


def _show_jugs(sizes: State, amounts: State) -> str:
    jugs = enumerate(zip(amounts, sizes, strict=True))
    return ", ".join(f"{_jug(at)} holds {amount} of {size}" for at, (amount, size) in jugs)


_MOVES: Mapping[str, Callable[[State, State], Mapping[str, State]]] = {
    "discs": _disc_moves,
    "tiles": _tile_moves,
    "jugs": _jug_moves,
}
_SHOW: Mapping[str, Callable[[State, State], str]] = {
    "discs": _show_discs,
    "tiles": _show_tiles,
    "jugs": _show_jugs,
}
