"""The fenced block that holds the program of a completion."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+.-]*)[^\n]*\n", re.MULTILINE)
PYTHON = frozenset({"", "python", "python3", "py"})


def last_block(text: str, languages: frozenset[str] = PYTHON) -> str | None:
    """The last fenced block in one of some languages, one cut off at the end included; None without any."""
    found, position = None, 0
    while opening := _FENCE.search(text, position):
        fence, language = opening[1], opening[2].lower()
        closing = re.compile(rf"^[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
        end = closing.search(text, opening.end())
        if language in languages:
            found = text[opening.end() : end.start() if end else len(text)]
        position = end.end() if end else len(text)
    return found


def continued(stub: str, code: str, entry_point: str) -> str:
    """A program from the beginning of a function and its continuation, or the whole function written anew.

    What stands before the function in the stub, its imports and helpers, is kept either way.
    """
    if not defines(code, entry_point):
        return stub + _indented(code)
    before, _, _ = stub.partition(f"def {entry_point}")
    return f"{before}{code}"


def defines(code: str, name: str) -> bool:
    """Whether code defines a function or class of a name at its outermost level."""
    return re.search(rf"^(?:async[ ]+)?(?:def|class)[ ]+{re.escape(name)}\b", code, re.MULTILINE) is not None


def _indented(body: str) -> str:
    """A function's body, indented where its first line is not."""
    first = next((line for line in body.split("\n") if line.strip()), "")
    if first.startswith((" ", "\t")):
        return f"{body}\n"
    return "".join(f"    {line}\n" for line in body.split("\n"))
