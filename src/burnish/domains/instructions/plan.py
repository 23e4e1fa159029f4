"""Reference responses: a plan that constraints fill in, and the text that follows it.

References prove that a request can be met. They have the right form and no meaning.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, cycle, takewhile
from random import Random
from typing import Literal

from burnish.domains.instructions.text import WORD, words_of
from burnish.domains.instructions.vocabulary import ADJECTIVES, FOREIGN, JOINTS, NOUNS, TOPICS, VERBS

Case = Literal["", "lower", "upper", "title", "alternate", "first"]
Form = Literal["", "object", "list", "table"]

USUAL_SENTENCE = 9
"""Words of a sentence where nothing else is asked for."""
ROUNDS, LARGEST_FILL, ROOM = 5, 260, 80
"""Corrections of the number of words, most words added, most characters above the least."""
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Plan:
    """What a reference response has to do."""

    topic: str = ""
    script: str = "Latin"
    avoid: str = ""
    """A letter that no word has."""
    banned: frozenset[str] = frozenset()
    longest: int = 99
    """Letters of the longest word."""
    distinct: bool = False
    """No word twice."""
    words: int | None = None
    """Words in all."""
    least: int = 0
    """Fewest words in all, unless `words` says how many."""
    characters: int | None = None
    """At least so many characters."""
    sentence_words: int = USUAL_SENTENCE
    """Most words of a sentence."""
    sentences: int | None = None
    blocks: int = 1
    """Paragraphs, lines or items."""
    between: str = "\n\n"
    """What stands between blocks."""
    prefixes: tuple[str, ...] = ()
    """What stands before each block."""
    starts: tuple[str, ...] = ()
    """First word of each block, empty for any."""
    initials: str = ""
    """First letter of each block."""
    each: str = ""
    """First word of every sentence."""
    first: str = ""
    last: str = ""
    items: tuple[str, ...] = ()
    """Words or pieces that occur in this order."""
    tails: tuple[str, ...] = ()
    """Marks behind words within sentences."""
    marks: tuple[str, ...] = ()
    """Ends of the first sentences."""
    mark: str = "."
    """End of the other sentences."""
    opening: str = ""
    closing: str = ""
    case: Case = ""
    form: Form = ""
    keys: tuple[str, ...] = ()
    """Names of the fields of an object, or of the columns of a table."""

    def allows(self, word: str) -> bool:
        """Whether a word may be used."""
        return (
            not (self.avoid and self.avoid in word) and word not in self.banned and len(word) <= self.longest
        )


def topics(plan: Plan) -> list[str]:
    """The subjects that a plan leaves."""
    return [word for word in FOREIGN.get(plan.script, TOPICS) if plan.allows(word)]


def solve(plan: Plan, seed: int, accept: Callable[[str], bool]) -> str | None:
    """A response by the plan that is accepted; None when there is none among those tried."""
    if plan.words is not None and plan.sentences is None:
        enough = -(-plan.words // max(plan.sentence_words - 1, 3))
        plan = replace(plan, sentences=max(plan.blocks, len(plan.marks) + 1, enough))
    fill = 0
    for _ in range(ROUNDS):
        text = write(plan, seed, fill)
        count = len(words_of(text))
        missing = max(plan.least - count, 0) if plan.words is None else plan.words - count
        if accept(text):
            return text
        if missing == 0 or not 0 <= fill + missing <= LARGEST_FILL:
            break
        fill += missing
    if plan.characters is None:
        return None
    least, longest = plan.characters, plan.characters + ROOM
    longer = (write(plan, seed, more) for more in range(1, LARGEST_FILL))
    near = takewhile(lambda text: len(text) < longest, longer)
    return next((text for text in near if len(text) >= least and accept(text)), None)


def write(plan: Plan, seed: int, fill: int) -> str:
    """The response with `fill` words more than it needs."""
    filler = _fillers(plan, Random(seed))
    blocks = [[_sentence(tokens, mark) for tokens, mark in block] for block in _sentences(plan, fill, filler)]
    texts = [" ".join(block) for block in blocks]
    return _cased(_formed(plan, texts, filler), plan.case)


def _fillers(plan: Plan, rng: Random) -> Iterator[str]:
    """Words that the plan allows, in an order that resembles sentences."""
    if plan.script in FOREIGN:
        kinds = [FOREIGN[plan.script]]
    else:
        kinds = [ADJECTIVES, NOUNS, VERBS, ADJECTIVES, NOUNS, JOINTS]
    given = " ".join((plan.topic, plan.first, plan.last, *plan.items, *plan.starts))
    used = {word.casefold() for word in words_of(given)}
    for kind in cycle(kinds):
        left = [word for word in kind if plan.allows(word) and word not in used]
        if not left and plan.distinct:
            left = [word for word in (*ADJECTIVES, *NOUNS, *VERBS) if plan.allows(word) and word not in used]
        word = rng.choice(left or [plan.topic])
        if plan.distinct:
            used.add(word)
        yield word


def _sentences(plan: Plan, fill: int, filler: Iterator[str]) -> list[list[tuple[list[str], str]]]:
    """Blocks of sentences, each its words and its end."""
    items = [item for item in (plan.topic, *plan.items) if item]
    load = 2 * len(items) + len(plan.tails) + fill
    least = max(plan.blocks, len(plan.marks) + 1, -(-load // max(plan.sentence_words - 2, 2)))
    total = least if plan.sentences is None else max(plan.sentences, plan.blocks)
    sentences: list[list[str]] = [[] for _ in range(total)]
    for at, item in enumerate(items):
        sentences[at * total // len(items)] += [item, next(filler)]
    firsts = [block * total // plan.blocks for block in range(plan.blocks)]
    for at, tokens in enumerate(sentences):
        block = firsts.index(at) if at in firsts else None
        start = _start(plan, at, block)
        tokens[:0] = [start] if start else []
        while len(tokens) < 2:
            tokens.append(next(filler))
    for _ in range(fill):
        min(sentences, key=len).append(next(filler))
    _add_tails(sentences, plan.tails, filler)
    if plan.last:
        sentences[-1].append(plan.last)
    marks = [*plan.marks, *[plan.mark] * total]
    done = list(zip(sentences, marks, strict=False))
    ends = [*firsts[1:], total]
    return [done[start:end] for start, end in zip(firsts, ends, strict=True)]


def _start(plan: Plan, sentence: int, block: int | None) -> str:
    """The word that a sentence has to begin with; empty for any."""
    if sentence == 0 and plan.first:
        return plan.first
    if block is not None and block < len(plan.starts) and plan.starts[block]:
        return plan.starts[block]
    if block is not None and plan.initials:
        return next(word for word in (*ADJECTIVES, *NOUNS, *VERBS) if word[0] == plan.initials[block])
    return plan.each


def _add_tails(sentences: Sequence[list[str]], tails: tuple[str, ...], filler: Iterator[str]) -> None:
    """Put marks behind words that are not the last of their sentence."""
    while sum(len(tokens) - 1 for tokens in sentences) < len(tails):
        min(sentences, key=len).append(next(filler))
    places = ((tokens, at) for at in count(0) for tokens in sentences if at < len(tokens) - 1)
    for tail, (tokens, at) in zip(tails, places, strict=False):
        tokens[at] += tail


def _sentence(tokens: Sequence[str], mark: str) -> str:
    text = " ".join(tokens)
    return text[:1].upper() + text[1:] + mark


def _formed(plan: Plan, texts: list[str], filler: Iterator[str]) -> str:
    """Blocks put together."""
    if plan.form == "object":
        return json.dumps(dict(zip(plan.keys, texts, strict=True)), ensure_ascii=False)
    if plan.form == "list":
        return json.dumps(texts, ensure_ascii=False)
    if plan.form == "table":
        others = len(plan.keys) - 1
        rows = [plan.keys, ("---",) * len(plan.keys)]
        rows += [(text, *(next(filler) for _ in range(others))) for text in texts]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)
    prefixes = plan.prefixes or ("",) * len(texts)
    body = plan.between.join(prefix + text for prefix, text in zip(prefixes, texts, strict=True))
    return plan.opening + body + plan.closing


def _cased(text: str, case: Case) -> str:
    if case == "upper":
        return text.upper()
    if case == "lower":
        return text.lower()
    if case == "title":
        return WORD.sub(lambda found: found.group()[:1].upper() + found.group()[1:], text)
    if case == "first":
        return _LETTER.sub(lambda found: found.group().upper(), text.lower(), count=1)
    if case == "alternate":
        numbers = count()
        return WORD.sub(
            lambda found: found.group().upper() if next(numbers) % 2 else found.group().lower(), text
        )
    return text


def with_items(plan: Plan, *items: str) -> Plan:
    """The plan with more pieces to place."""
    return replace(plan, items=(*plan.items, *items))
