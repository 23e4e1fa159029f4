"""Small corrections to the modules of reasoning-gym, applied when one of their families is first used.

They make items repeatable: some families walk sets of texts, whose order differs from one process to the
next with its hash seed, some print, some never end. `codeio` loses the rows whose snippets cannot be
repeated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

_UNREPEATABLE = re.compile(
    r"\b(set|frozenset|hash|id|open|input|eval|exec|__import__)\(|\{[^{}:]*\bfor\b"
    r"|\b(os|sys|time|socket|subprocess|threading|multiprocessing|tempfile|uuid|secrets|pathlib|sqlite3)\b"
    r"|\b(urllib|ctypes|pickle|matplotlib)\b"
    r"|\.(now|today)\(|SystemRandom|logging"
)
"""Snippets that depend on the order of sets, the clock, addresses or the machine, or that reach outside."""

_LARGEST_TERM_BITS = 200


def is_reproducible(row: Mapping[str, Any]) -> bool:
    """Whether the snippets of a `codeio` row give the same result in every process."""
    return not _UNREPEATABLE.search(f"{row['code_sample']}\n{row['input_generator']}")


def silent(*_args: object, **_kwargs: object) -> None:
    """Stands in for `print` in the modules of the library."""


def _quiet_exec(code: str, variables: dict[str, Any], _locals: object) -> None:
    """Run one of the library's own snippets without letting it print."""
    variables.setdefault("print", silent)
    exec(code, variables, variables)  # noqa: S102  data shipped inside the library, never a completion


def _quieten_codeio() -> None:
    from reasoning_gym.code import codeio  # noqa: PLC0415

    codeio.__dict__.update(exec=_quiet_exec)


def _quieten_bf() -> None:
    from reasoning_gym.code.contrib.bfit.Compiler import Optimizer  # noqa: PLC0415

    Optimizer.__dict__.update(print=silent)


def _bound_number_sequence() -> None:
    """Give up on a sequence that squares itself for ever, as the library does for every term above 1000."""
    from reasoning_gym.cognition.number_sequences import PatternRule  # noqa: PLC0415

    unbounded = PatternRule.apply

    def apply(self: Any, sequence: list[int], position: int) -> int:
        if sequence[position].bit_length() > _LARGEST_TERM_BITS:
            raise OverflowError("term too large")
        return unbounded(self, sequence, position)

    if unbounded.__module__ != __name__:
        PatternRule.apply = apply


class SortedSet(set[Any]):
    """A set that is walked in sorted order, whatever the hash seed of the process."""

    def __iter__(self) -> Iterator[Any]:
        return iter(sorted(super().__iter__()))

    def __sub__(self, other: AbstractSet[Any]) -> SortedSet:
        return SortedSet(super().__sub__(other))


class SortedFrozenSet(frozenset[Any]):
    """A frozen set that is walked in sorted order."""

    def __iter__(self) -> Iterator[Any]:
        return iter(sorted(super().__iter__()))


def _sort_knights() -> None:
    from reasoning_gym.games import knight_swap  # noqa: PLC0415

    knight_swap.__dict__.update(frozenset=SortedFrozenSet)


def _sort_monomials() -> None:
    from reasoning_gym.algebra import polynomial_multiplication  # noqa: PLC0415
    from sympy.polys.monomials import itermonomials  # noqa: PLC0415

    def in_order(*arguments: Any) -> list[Any]:
        return sorted(itermonomials(*arguments), key=str)

    polynomial_multiplication.__dict__.update(itermonomials=in_order)


def _sort_neighbours() -> None:
    from reasoning_gym.algorithmic.word_ladder import WordLadderDataset  # noqa: PLC0415

    unsorted = WordLadderDataset._get_neighbors

    def neighbours(self: Any, word: str, word_set: set[str]) -> set[str]:
        return SortedSet(unsorted(self, word, word_set))

    if unsorted.__module__ != __name__:
        WordLadderDataset._get_neighbors = neighbours


PATCHES: dict[str, Callable[[], None]] = {
    "codeio": _quieten_codeio,
    "bf": _quieten_bf,
    "number_sequence": _bound_number_sequence,
    "knight_swap": _sort_knights,
    "polynomial_multiplication": _sort_monomials,
    "word_ladder": _sort_neighbours,
}
"""What to do before a family's first dataset is made; each may be done twice."""


def adjust(name: str, made: Any) -> None:
    """Correct a dataset object: letters in order, and of `codeio` its own rows."""
    if name in {"isomorphic_strings", "ransom_note"}:
        made.letters = SortedSet(made.letters)
    if name == "codeio":
        made.burnish_rows = [row for row in type(made)._jsonl_data if is_reproducible(row)]
