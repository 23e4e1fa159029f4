"""Regular expressions judged in time linear in the text: a parsed expression becomes an automaton.

Python's own matcher tries alternatives one after the other, so `(a+)+$` can take for ever. Here all
alternatives are followed at once (Thompson, "Regular expression search algorithm", 1968): the work for a
character is at most the number of states and silent moves, which is limited. Understood: literals, `.`,
classes, `\\d \\w \\s` and their opposites, groups, `|`, greedy and lazy repetition, `^ $ \\A \\Z \\b \\B`.
Refused: back-references, look-around, atomic groups, possessive repetition, conditions and flags. What is
matched is the whole text, as with `re.fullmatch`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from re import _constants as code  # pyright: ignore[reportAttributeAccessIssue]
from re import _parser  # pyright: ignore[reportAttributeAccessIssue]
from typing import Any

LONGEST_PATTERN = 400
STATES = 1200

Test = Callable[[str], bool]
"""Whether a character is accepted."""
Position = tuple[bool, bool, bool]
"""At the start, at the end, at the boundary of a word."""
_ANYWHERE: Position = (False, False, False)


class PatternError(ValueError):
    """An expression that is malformed, too large, or uses what is refused."""


@dataclass(slots=True)
class Automaton:
    """States with silent moves, which may depend on the position, and moves that read a character."""

    silent: list[list[tuple[int, Callable[[Position], bool] | None]]] = field(default_factory=list)
    reads: list[tuple[Test, int] | None] = field(default_factory=list)
    start: int = 0
    end: int = 0
    known: dict[tuple[frozenset[int], str, Position], frozenset[int]] = field(default_factory=dict)
    """Moves already worked out; they recur from text to text."""
    looks_around: bool = False
    """Whether a silent move depends on the position."""

    def state(self) -> int:
        """A new state.

        Raises:
            PatternError: there are too many.
        """
        if len(self.reads) >= STATES:
            raise PatternError(f"more than {STATES} states")
        self.silent.append([])
        self.reads.append(None)
        return len(self.reads) - 1

    def matches(self, text: str) -> bool:
        """Whether the whole text is in the language."""
        states = self._closure({self.start}, self._position(text, 0))
        for at, character in enumerate(text):
            key = states, character, self._position(text, at + 1)
            if key not in self.known:
                moves = filter(None, (self.reads[state] for state in states))
                after = {target for test, target in moves if test(character)}
                self.known[key] = self._closure(after, key[2])
            states = self.known[key]
        return self.end in states

    def _position(self, text: str, at: int) -> Position:
        return _position(text, at) if self.looks_around else _ANYWHERE

    def _closure(self, states: Iterable[int], position: Position) -> frozenset[int]:
        found, left = set(states), list(states)
        while left:
            for target, condition in self.silent[left.pop()]:
                if target not in found and (condition is None or condition(position)):
                    found.add(target)
                    left.append(target)
        return frozenset(found)


def compiled(pattern: str) -> Automaton:
    """The automaton of an expression in the syntax of Python's `re`.

    Raises:
        PatternError: malformed, too large, or beyond what is understood.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(f"more than {LONGEST_PATTERN} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = _parser.parse(pattern)
    except (re.error, RecursionError, OverflowError, ValueError) as error:
        raise PatternError(str(error)) from error
    if tree.state.flags & ~re.UNICODE:
        raise PatternError("flags")
    automaton = Automaton()
    automaton.start = automaton.state()
    try:
        automaton.end = _sequence(automaton, tree, automaton.start)
    except RecursionError as error:
        raise PatternError("nested too deeply") from error
    return automaton


def _sequence(made: Automaton, items: Iterable[Any], start: int) -> int:
    """Add the items one after the other; the state where they end."""
    for kind, value in items:
        build = _BUILDERS.get(kind)
        if build is None:
            raise PatternError(f"{kind} is not understood")
        start = build(made, value, start)
    return start


def _reader(test_of: Callable[[Any], Test]) -> Callable[[Automaton, Any, int], int]:
    def build(made: Automaton, value: Any, start: int) -> int:
        end = made.state()
        middle = made.state()
        made.silent[start].append((middle, None))
        made.reads[middle] = test_of(value), end
        return end

    return build


def _branch(made: Automaton, value: Any, start: int) -> int:
    end = made.state()
    for choice in value[1]:
        first = made.state()
        made.silent[start].append((first, None))
        made.silent[_sequence(made, choice, first)].append((end, None))
    return end


def _group(made: Automaton, value: Any, start: int) -> int:
    _, added, removed, inner = value
    if added or removed:
        raise PatternError("flags")
    return _sequence(made, inner, start)


def _repeat(made: Automaton, value: Any, start: int) -> int:
    least, most, inner = value
    for _ in range(least):
        start = _sequence(made, inner, _next(made, start))
    if most is code.MAXREPEAT:
        loop = _next(made, start)
        made.silent[_sequence(made, inner, loop)].append((loop, None))
        return _next(made, loop)
    end = made.state()
    for _ in range(most - least):
        made.silent[start].append((end, None))
        start = _sequence(made, inner, _next(made, start))
    made.silent[start].append((end, None))
    return end


def _next(made: Automaton, start: int) -> int:
    """A new state that is reached silently."""
    state = made.state()
    made.silent[start].append((state, None))
    return state


def _at(made: Automaton, value: Any, start: int) -> int:
    if value not in _CONDITIONS:
        raise PatternError(f"{value} is not understood")
    end = made.state()
    made.looks_around = True
    made.silent[start].append((end, _CONDITIONS[value]))
    return end


def _class(items: Sequence[tuple[Any, Any]]) -> Test:
    negated = bool(items) and items[0][0] is code.NEGATE
    tests = [_member(kind, value) for kind, value in items[negated:]]
    return lambda character: any(test(character) for test in tests) != negated


def _member(kind: Any, value: Any) -> Test:
    if kind is code.LITERAL:
        return lambda character: ord(character) == value
    if kind is code.RANGE:
        return lambda character: value[0] <= ord(character) <= value[1]
    if kind is code.CATEGORY and value in _CATEGORIES:
        return _CATEGORIES[value]
    raise PatternError(f"{kind} is not understood")


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _position(text: str, at: int) -> Position:
    before = at > 0 and _is_word(text[at - 1])
    after = at < len(text) and _is_word(text[at])
    return at == 0, at == len(text), before != after


_CATEGORIES: dict[Any, Test] = {
    code.CATEGORY_DIGIT: str.isdecimal,
    code.CATEGORY_NOT_DIGIT: lambda character: not character.isdecimal(),
    code.CATEGORY_WORD: _is_word,
    code.CATEGORY_NOT_WORD: lambda character: not _is_word(character),
    code.CATEGORY_SPACE: str.isspace,
    code.CATEGORY_NOT_SPACE: lambda character: not character.isspace(),
}
_CONDITIONS: dict[Any, Callable[[Position], bool]] = {
    code.AT_BEGINNING: lambda position: position[0],
    code.AT_BEGINNING_STRING: lambda position: position[0],
    code.AT_END: lambda position: position[1],
    code.AT_END_STRING: lambda position: position[1],
    code.AT_BOUNDARY: lambda position: position[2],
    code.AT_NON_BOUNDARY: lambda position: not position[2],
}
_BUILDERS: dict[Any, Callable[[Automaton, Any, int], int]] = {
    code.LITERAL: _reader(lambda value: lambda character: ord(character) == value),
    code.NOT_LITERAL: _reader(lambda value: lambda character: ord(character) != value),
    code.ANY: _reader(lambda _value: lambda character: character != "\n"),
    code.IN: _reader(_class),
    code.BRANCH: _branch,
    code.SUBPATTERN: _group,
    code.MAX_REPEAT: _repeat,
    code.MIN_REPEAT: _repeat,
    code.AT: _at,
}
