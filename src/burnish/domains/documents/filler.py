"""Prose that says nothing: varied sentences without names, numbers or codes, to hide facts in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

_WORDS: dict[str, tuple[str, ...]] = {
    "who": (
        "gardener", "baker", "postman", "teacher", "fisherman", "carpenter", "librarian", "watchmaker",
        "painter", "shepherd", "tailor", "miller", "ferryman", "cook", "musician", "neighbour", "visitor",
        "apprentice", "night guard", "bookseller", "beekeeper", "potter",
    ),
    "what": (
        "gate", "boat", "clock", "basket", "letter", "ladder", "window", "cart", "lamp", "map", "barrel",
        "kettle", "bench", "fence", "piano", "curtain", "chimney", "bridge", "cupboard", "umbrella",
        "suitcase", "mirror",
    ),
    "how": (
        "old", "quiet", "narrow", "bright", "heavy", "dusty", "patient", "cheerful", "tired", "crooked",
        "careful", "pale", "wooden", "curious", "small", "broad", "gentle", "stubborn", "faded", "clever",
    ),
    "did": (
        "repaired", "carried", "moved", "cleaned", "forgot", "borrowed", "painted", "opened", "admired",
        "covered", "described", "closed", "watched", "returned", "ignored", "measured", "hid", "found",
        "lifted", "dropped",
    ),
    "where": (
        "behind the mill", "near the market", "in the back yard", "by the river", "under the old oak",
        "along the harbour wall", "in front of the school", "beside the well", "at the edge of the forest",
        "on the square", "across the street", "inside the barn", "above the shop",
        "at the foot of the hill",
    ),
    "when": (
        "in the morning", "after the rain", "before supper", "late in the evening",
        "during the long winter", "on market day", "at the end of summer", "while the others slept",
        "without a word", "as usual", "for no clear reason", "long before sunrise", "in a great hurry",
        "with a smile",
    ),
    "weather": (
        "the wind had turned", "fog lay over the fields", "the rain had stopped", "the snow was melting",
        "the sun stood low", "clouds came in from the sea", "it was unusually warm",
        "frost covered the roofs",
    ),
    "felt": ("surprised", "pleased", "worried", "sure", "glad", "sorry", "certain", "afraid"),
}  # fmt: skip

_TEMPLATES = (
    "The {how} {who} {did} the {what} {where}.",
    "The {who} {did} the {how} {what} {when}.",
    "{When}, the {who} {did} a {how} {what}.",
    "{Where}, somebody {did} the {what} {when}.",
    "Because {weather}, the {who} {did} the {what} {where}.",
    "Nobody knew why the {who} {did} the {how} {what} {when}.",
    "The {who} was {felt} that the {what} {where} looked so {how}.",
    "{Weather}, and the {who} {did} the {what} {when}.",
    "The {what} {where} had always seemed {how} to the {who}.",
    "If the {who} was {felt}, the {how} {what} gave no sign of it.",
    "A {how} {who} and a {how} {who} {did} the {what} together {when}.",
    "There was talk {where} of a {how} {what} that the {who} {did} {when}.",
    "Whoever {did} the {what} must have met the {how} {who} {where}.",
    "By then {weather}, so the {what} was left {where}.",
)
_SLOT = re.compile(r"\{(\w+)\}")
_AN = re.compile(r"\b([Aa]) (?=[aeiou])")


def sentence(rng: Random) -> str:
    """One sentence of 7 to 20 words."""
    text = _SLOT.sub(lambda slot: _filled(rng, slot[1]), rng.choice(_TEMPLATES))
    return _AN.sub(r"\1n ", text)


def weave(rng: Random, facts: Sequence[str], words: int) -> str:
    """Facts in their order, hidden in filler: paragraphs of about `words` words in all."""
    left = words - sum(len(fact.split()) for fact in facts)
    sentences = []
    while left > 0:
        sentences.append(sentence(rng))
        left -= len(sentences[-1].split())
    places = sorted(rng.randint(0, len(sentences)) for _ in facts)
    for fact, place in reversed(list(zip(facts, places, strict=True))):
        sentences.insert(place, fact)
    return _paragraphs(rng, sentences)


def _filled(rng: Random, slot: str) -> str:
    chosen = rng.choice(_WORDS[slot.lower()])
    return chosen[0].upper() + chosen[1:] if slot[0].isupper() else chosen


def _paragraphs(rng: Random, sentences: Sequence[str]) -> str:
    paragraphs, start = [], 0
    while start < len(sentences):
        end = start + rng.randint(3, 7)
        paragraphs.append(" ".join(sentences[start:end]))
        start = end
    return "\n\n".join(paragraphs)
