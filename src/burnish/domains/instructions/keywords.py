"""Which words a response has: present, absent, counted, in order."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

from burnish.domains.instructions.base import (
    PHRASES,
    REPEATS,
    WORDS,
    Constraint,
    Params,
    listed,
    names,
    things,
)
from burnish.domains.instructions.plan import with_items
from burnish.domains.instructions.text import Text
from burnish.domains.instructions.vocabulary import ADJECTIVES, COMMON, KEYWORDS


def _some(*spans: tuple[int, int]):
    def sample(rng: Random, level: int) -> Params:
        return {"words": tuple(rng.sample(KEYWORDS, rng.randint(*spans[min(level, len(spans) - 1)])))}

    return sample


def _forbidden(rng: Random, level: int) -> Params:
    return {"words": tuple(rng.sample(COMMON, (1, 2, 3, 5)[min(level, 3)]))}


def _counted(*spans: tuple[int, int]):
    def sample(rng: Random, level: int) -> Params:
        return {"word": rng.choice(KEYWORDS), "n": rng.randint(*spans[min(level, len(spans) - 1)])}

    return sample


def _phrase(rng: Random, level: int) -> Params:
    words = [
        rng.choice(ADJECTIVES),
        rng.choice(KEYWORDS),
        "and",
        rng.choice(ADJECTIVES),
        rng.choice(KEYWORDS),
    ]
    return {"phrase": " ".join(words[: (2, 2, 4, 5)[min(level, 3)]])}


def _two_counts(rng: Random, level: int) -> Params:
    words = tuple(rng.sample(KEYWORDS, 2))
    more = rng.randint(*((2, 2), (2, 3), (3, 4), (4, 5))[min(level, 3)])
    return {"words": words, "n": more}


def _in_order(text: Text, p: Params) -> bool:
    places = [text.find(word) for word in p["words"]]
    return places[0] >= 0 and all(a < b for a, b in pairwise(places))


def _together(text: Text, p: Params) -> bool:
    sentences = (Text(sentence) for sentence in text.sentences)
    return any(all(sentence.times(word) for word in p["words"]) for sentence in sentences)


def _any_of(rng: Random, level: int) -> Params:
    return {"words": tuple(rng.sample(KEYWORDS, (2, 3, 4, 6)[min(level, 3)]))}


CONSTRAINTS = (
    Constraint(
        "keywords/include",
        _some((1, 1), (2, 2), (3, 4), (5, 7)),
        lambda p: f"Use {'the word' if len(p['words']) == 1 else 'all the words'} {listed(p['words'])}.",
        lambda t, p: all(t.times(word) for word in p["words"]),
        lambda plan, p: with_items(plan, *p["words"]),
        owns=names("include"),
        brings=names(WORDS),
    ),
    Constraint(
        "keywords/exclude",
        _forbidden,
        lambda p: f"Never use {'the word' if len(p['words']) == 1 else 'the words'} {listed(p['words'])}.",
        lambda t, p: not any(t.times(word) for word in p["words"]),
        lambda plan, p: replace(plan, banned=plan.banned | set(p["words"])),
        owns=names("exclude"),
        bars=names(PHRASES),
    ),
    Constraint(
        "keywords/exactly",
        _counted((1, 2), (2, 3), (3, 5), (5, 7)),
        lambda p: f'Use the word "{p["word"]}" exactly {things(p["n"], "time")}.',
        lambda t, p: t.times(p["word"]) == p["n"],
        lambda plan, p: with_items(plan, *[p["word"]] * p["n"]),
        owns=names("count"),
        brings=names(WORDS, REPEATS),
    ),
    Constraint(
        "keywords/at_least",
        _counted((1, 2), (2, 3), (3, 5), (5, 7)),
        lambda p: f'Use the word "{p["word"]}" at least {things(p["n"], "time")}.',
        lambda t, p: t.times(p["word"]) >= p["n"],
        lambda plan, p: with_items(plan, *[p["word"]] * p["n"]),
        owns=names("count"),
        brings=names(WORDS, REPEATS),
    ),
    Constraint(
        "keywords/more_often",
        _two_counts,
        lambda p: (
            f'Use the word "{p["words"][0]}" exactly {things(p["n"], "time")} and the word '
            f'"{p["words"][1]}" exactly once.'
        ),
        lambda t, p: t.times(p["words"][0]) == p["n"] and t.times(p["words"][1]) == 1,
        lambda plan, p: with_items(plan, *[p["words"][0]] * p["n"], p["words"][1]),
        owns=names("count"),
        brings=names(WORDS, REPEATS),
    ),
    Constraint(
        "keywords/ordered",
        _some((2, 2), (2, 3), (3, 4), (5, 6)),
        lambda p: f"Use the words {listed(p['words'])}, for the first time in this order.",
        _in_order,
        lambda plan, p: with_items(plan, *p["words"]),
        owns=names("order"),
        brings=names(WORDS),
    ),
    Constraint(
        "keywords/phrase",
        _phrase,
        lambda p: f'Use the phrase "{p["phrase"]}" word for word.',
        lambda t, p: t.has(p["phrase"]),
        lambda plan, p: with_items(plan, p["phrase"]),
        owns=names("phrase"),
        brings=names(WORDS, REPEATS),
    ),
    Constraint(
        "keywords/one_of",
        _any_of,
        lambda p: f"Use exactly one of the words {listed(p['words'])}, and none of the others.",
        lambda t, p: sum(bool(t.times(word)) for word in p["words"]) == 1,
        lambda plan, p: with_items(plan, p["words"][0]),
        owns=names("choice"),
        brings=names(WORDS),
    ),
    Constraint(
        "keywords/together",
        _some((2, 2), (2, 2), (3, 3), (4, 4)),
        lambda p: f"One sentence must have all of the words {listed(p['words'])}.",
        _together,
        lambda plan, p: with_items(plan, " ".join(p["words"])),
        owns=names("together"),
        brings=names(WORDS),
    ),
)
