"""Languages a program may be written in, and where their tools are."""

from __future__ import annotations

import shutil
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """How programs of a language are run inside the jail."""

    file: str
    """Name of the source file."""
    tools: tuple[str, ...]
    """Programs that it needs, looked for in the jail's PATH."""
    compile: tuple[str, ...] = ()
    """Command that makes `program` of the source; empty for interpreters."""
    run: tuple[str, ...] = ()


LANGUAGES = {
    "python": Language("solution.py", ()),
}
_PATH = "/usr/local/bin:/usr/bin:/bin"


def missing(language: str) -> list[str]:
    """Tools of a language that this machine lacks."""
    return [tool for tool in LANGUAGES[language].tools if shutil.which(tool, path=_PATH) is None]
