"""Facts hidden in prose: one of them, a chain of keys, and relations that lead from one to the next."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from random import Random

from burnish.domains.documents.base import WORDS, Documents, Reading
from burnish.domains.documents.filler import weave
from burnish.domains.documents.names import THINGS, codes, keys, names

PLACES = (
    "north gate", "boiler room", "archive", "harbour office", "wine cellar", "observatory", "staff kitchen",
    "bicycle shed", "east tower", "laundry", "map room", "greenhouse", "loading dock", "music hall",
    "pump house", "roof terrace", "server room", "tool store", "west wing", "workshop",
)  # fmt: skip


@dataclass(frozen=True)
class Needle(Documents):
    """`documents/needle`: one fact in a document; from level 1 others like it, from level 3 outdated ones."""

    @property
    def name(self) -> str:
        """Full name."""
        return "documents/needle"

    def make(self, rng: Random, level: int) -> Reading:
        """The code of a place, and codes of other places and of former times."""
        others, former = (0, 2, 4, 7, 11)[level], (0, 0, 0, 2, 4)[level]
        places = rng.sample(PLACES, others + 1)
        valid, old = codes(rng, others + 1), codes(rng, former)
        facts = [f"The access code of the {p} is {c}." for p, c in zip(places, valid, strict=True)]
        outdated = places[: former // 2] + places[-(former - former // 2) :] if former else []
        facts += [f"The access code of the {p} used to be {c}." for p, c in zip(outdated, old, strict=True)]
        rng.shuffle(facts)
        document = weave(rng, facts, WORDS[level])
        return Reading(document, f"What is the access code of the {places[0]}?", valid[0])


@dataclass(frozen=True)
class KeyChain(Documents):
    """`documents/key_chain`: follow keys from one to the next to a word; other chains lead to other words."""

    @property
    def name(self) -> str:
        """Full name."""
        return "documents/key_chain"

    def make(self, rng: Random, level: int) -> Reading:
        """Chains of the same length, their links in any order."""
        hops, chains = (1, 2, 3, 4, 6)[level], (2, 2, 3, 4, 6)[level]
        known, words = keys(rng, hops * chains), rng.sample(THINGS, chains)
        facts = []
        for chain, word in enumerate(words):
            own = known[chain * hops : (chain + 1) * hops]
            facts += [f"Key {one} leads to key {other}." for one, other in pairwise(own)]
            facts.append(f"Key {own[-1]} opens the box with the word {word}.")
        rng.shuffle(facts)
        asked = f"Start with key {known[0]} and follow the keys. Which word is in the box?"
        return Reading(weave(rng, facts, WORDS[level]), asked, words[0])


_RELATIONS = (
    ("{0} works for the company {1}.", "which company does {0} work for", "the company that {0} works for"),
    (
        "The company {0} has its seat in {1}.",
        "in which town is the seat of {0}",
        "the town with the seat of {0}",
    ),
    ("The town of {0} lies on the river {1}.", "on which river lies {0}", "the river of {0}"),
    ("The river {0} rises on Mount {1}.", "on which mountain rises {0}", "the mountain of {0}"),
)
"""What a document says, how the end of a relation is asked for, and how it is spoken of."""


@dataclass(frozen=True)
class MultiHop(Documents):
    """`documents/multi_hop`: relations that lead from a person to a company, a town, a river, a mountain."""

    @property
    def name(self) -> str:
        """Full name."""
        return "documents/multi_hop"

    def make(self, rng: Random, level: int) -> Reading:
        """Several people with relations of their own, all as long as the question needs."""
        hops, people = (1, 1, 2, 3, 4)[level], (2, 4, 4, 6, 9)[level]
        known = names(rng, people * (hops + 1))
        ranks = [known[n * people : (n + 1) * people] for n in range(hops + 1)]
        for rank in ranks:
            rng.shuffle(rank)
        facts = [
            _RELATIONS[hop][0].format(one, other)
            for hop in range(hops)
            for one, other in zip(ranks[hop], ranks[hop + 1], strict=True)
        ]
        rng.shuffle(facts)
        spoken = ranks[0][0]
        for hop in range(hops - 1):
            spoken = _RELATIONS[hop][2].format(spoken)
        asked = _RELATIONS[hops - 1][1].format(spoken)
        document = weave(rng, facts, WORDS[level])
        return Reading(document, f"{asked[0].upper()}{asked[1:]}? Reply with its name.", ranks[-1][0])
