"""Small corrections to the modules of reasoning-gym, applied when one of their families is first used.

None of them changes an item, except that `codeio` loses the rows whose snippets could not be repeated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
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


PATCHES: dict[str, Callable[[], None]] = {
    "codeio": _quieten_codeio,
    "bf": _quieten_bf,
    "number_sequence": _bound_number_sequence,
}
"""What to do before a family's first dataset is made; each may be done twice."""
