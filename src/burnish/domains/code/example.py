"""A row of code once its columns are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnish.sandbox.judging.checks import Suite


@dataclass(frozen=True, slots=True)
class CodeExample:
    """A problem whose answer is a program."""

    prompt: str
    """What the policy is asked, without the tests that are shown."""
    suite: Suite
    shown: tuple[str, ...] = ()
    """Tests that the prompt may show, as text; the first checks of the suite are public accordingly."""
    gold: str | None = None
    """A program that passes, if one is known."""
    level: float = 0
    stub: str = ""
    """Beginning of a function that an answer may continue instead of writing it whole."""
    entry_point: str = ""
    """Function that the stub begins."""
    row: Mapping[str, Any] | None = None

    @property
    def question(self) -> str:
        """The prompt with what is shown of the tests."""
        if not self.shown:
            return self.prompt
        some = "this test" if len(self.shown) == 1 else "these tests"
        return f"{self.prompt.rstrip()}\n\nYour code should pass {some}:\n\n" + "\n".join(self.shown)
