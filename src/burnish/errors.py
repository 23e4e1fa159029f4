"""Every error a user can meet, as one tree.

    BurnishError
    +-- RecipeError      a recipe or flag is wrong                       (also ValueError)
    +-- DomainError      a domain or its rows are wrong                  (also ValueError)
    +-- ModelError       a model cannot be found, read or used           (also ValueError)
    +-- RunError         a run directory cannot be created, read, resumed
    +-- StoreError       the run's database cannot be written            (also OSError)
    +-- TrainingError    training cannot go on (NaN loss, no domain left)
    +-- Interrupted      the user asked to stop; state is saved

A message always says what was wrong, what was found, what was expected, and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class BurnishError(Exception):
    """Base of all errors raised on purpose; the command line prints it without a traceback."""

    exit_code = 2

    def __init__(self, what: str, *, got: object = None, expected: object = None, next_step: str = ""):
        self.what = what
        self.got = got
        self.expected = expected
        self.next_step = next_step
        super().__init__(self.render())

    def render(self) -> str:
        """The message as lines: what, got, expected, next step; empty parts are left out."""
        lines = [self.what]
        if self.got is not None:
            lines.append(f"  got:      {self.got}")
        if self.expected is not None:
            lines.append(f"  expected: {self.expected}")
        if self.next_step:
            lines.append(f"  next:     {self.next_step}")
        return "\n".join(lines)


class RecipeError(BurnishError, ValueError):
    """A recipe file or an override is wrong."""


class DomainError(BurnishError, ValueError):
    """A domain, pattern, level or row file is wrong."""


class ModelError(BurnishError, ValueError):
    """A model or tokenizer cannot be found, read or used."""


class RunError(BurnishError):
    """A run directory cannot be created, read or resumed."""


class StoreError(BurnishError, OSError):
    """The run's database cannot be written or read."""


class TrainingError(BurnishError):
    """Training cannot go on."""

    exit_code = 3


class Interrupted(BurnishError):
    """The user asked to stop; everything is saved."""

    exit_code = 130


def suggestion(wrong: str, known: Iterable[str]) -> str:
    """A `did you mean ...?` sentence for `wrong`, or an empty string when nothing is near."""
    near = get_close_matches(wrong, list(known), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
