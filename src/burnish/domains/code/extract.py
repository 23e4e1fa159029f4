"""Where the code is in a completion."""

from __future__ import annotations

from burnish.domains.prompts import CLOSE, OPEN
from burnish.domains.settings import AnswerFormat
from burnish.sandbox.judging.extract import last_block


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
    found = last_block(text)
    return (text if found is None else found).strip("\n").rstrip()
