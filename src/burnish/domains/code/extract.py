"""Where the code is in a completion."""

from __future__ import annotations

import re

from burnish.domains.prompts import CLOSE, OPEN
from burnish.domains.settings import AnswerFormat

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+.-]*)[^\n]*\n", re.MULTILINE)
_PYTHON = frozenset({"", "python", "python3", "py"})


def extract_code(completion: str, answer_format: AnswerFormat = "plain") -> str:
    """The program in a completion; empty when there is none.

    With `tags` only what is in the last <answer>...</answer> counts. There, the last fenced block of Python
    is taken, one that was cut off at the end included; without a fence, everything.
    """
    text = completion
    if answer_format == "tags":
        end = completion.rfind(CLOSE)
        start = completion.rfind(OPEN, 0, end) if end >= 0 else -1
        if start < 0:
            return ""
        text = completion[start + len(OPEN) : end]
    found = _last_block(text)
    return (text if found is None else found).strip("\n").rstrip()


def _last_block(text: str) -> str | None:
    """The last fenced block of Python, or of an unnamed language."""
    found, position = None, 0
    while opening := _FENCE.search(text, position):
        fence, language = opening[1], opening[2].lower()
        closing = re.compile(rf"^[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
        end = closing.search(text, opening.end())
        if language in _PYTHON:
            found = text[opening.end() : end.start() if end else len(text)]
        position = end.end() if end else len(text)
    return found


def defines(code: str, name: str) -> bool:
    """Whether code defines a function or class of a name at its outermost level."""
    return re.search(rf"^(?:async[ ]+)?(?:def|class)[ ]+{re.escape(name)}\b", code, re.MULTILINE) is not None


def completed(prompt: str, code: str, entry_point: str) -> str:
    """A program from the beginning of a function and its continuation, or the whole function written anew.

    What stands before the function in the prompt, its imports and helpers, is kept either way.
    """
    if not defines(code, entry_point):
        return prompt + _indented(code)
    before, _, _ = prompt.partition(f"def {entry_point}")
    return f"{before}{code}"


def _indented(body: str) -> str:
    """A function's body, indented where its first line is not."""
    first = next((line for line in body.split("\n") if line.strip()), "")
    if first.startswith((" ", "\t")):
        return f"{body}\n"
    return "".join(f"    {line}\n" for line in body.split("\n"))
