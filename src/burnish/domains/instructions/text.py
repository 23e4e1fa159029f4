"""A response as what instructions speak of: words, sentences, lines, paragraphs, letters.

A word is a run of letters and digits, with single hyphens and apostrophes inside. A sentence ends with `.`,
`!` or `?` before white space or the end of the text, closing quotes and brackets aside. Lines that are
blank do not count; paragraphs are parted by them. All patterns take time linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property

WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”’)\]*]?\s+")
_BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")

SCRIPTS = {
    "Latin": ((0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F), (0x1E00, 0x1EFF)),
    "Cyrillic": ((0x400, 0x52F),),
    "Greek": ((0x370, 0x3FF), (0x1F00, 0x1FFF)),
}
"""Ranges of code points, ends included."""


class Text:
    """A response, taken apart when it is asked."""

    def __init__(self, text: str):
        self.raw = unicodedata.normalize("NFC", text).strip()

    @cached_property
    def words(self) -> list[str]:
        """The words as written."""
        return WORD.findall(self.raw)

    @cached_property
    def folded(self) -> list[str]:
        """The words without letter case."""
        return [word.casefold() for word in self.words]

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences that hold a word."""
        return [part for part in _SENTENCE_END.split(self.raw) if WORD.search(part)]

    @cached_property
    def lines(self) -> list[str]:
        """The lines that are not blank, without white space around."""
        return [line.strip() for line in self.raw.splitlines() if line.strip()]

    @cached_property
    def paragraphs(self) -> list[str]:
        """The paragraphs."""
        return [part.strip() for part in _BLANK_LINES.split(self.raw) if part.strip()]

    @cached_property
    def letters(self) -> list[str]:
        """The letters as written."""
        return [character for character in self.raw if character.isalpha()]

    def times(self, word: str) -> int:
        """How often a word occurs, letter case aside."""
        return self.folded.count(word.casefold())

    def has(self, phrase: str) -> bool:
        """Whether words follow each other, letter case aside."""
        return self.find(phrase) >= 0

    def find(self, phrase: str) -> int:
        """Number of the word where a phrase first begins; -1 when it does not occur."""
        wanted = [word.casefold() for word in WORD.findall(phrase)]
        last = len(self.folded) - len(wanted)
        starts = (at for at in range(last + 1) if self.folded[at : at + len(wanted)] == wanted)
        return next(starts, -1)


def words_of(text: str) -> list[str]:
    """The words of a text."""
    return WORD.findall(text)


def first_word(text: str) -> str:
    """The first word without letter case; empty when there is none."""
    found = WORD.search(text)
    return found.group().casefold() if found else ""


def in_script(letter: str, script: str) -> bool:
    """Whether a letter belongs to a script."""
    return any(low <= ord(letter) <= high for low, high in SCRIPTS[script])
