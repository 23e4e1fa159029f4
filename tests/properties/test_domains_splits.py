"""Splits share nothing, tasks are functions of their position: for families, rows and functions."""

from __future__ import annotations

import json
from functools import cache
from itertools import combinations
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.domains.base import Domain
from burnish.domains.functions import domain
from burnish.domains.reasoning_gym import make_domain
from burnish.domains.rows import open_rows
from burnish.domains.settings import RowsSettings
from burnish.domains.splits import SHARE, canonical, content_split
from burnish.records import Split, Task

FAMILIES = [
    "chain_sum",
    "coin_flip",
    "tower_of_hanoi",
    "leg_counting",
    "ransom_note",
    "products",
    "composite",
]
INDEX = st.integers(0, 2**60)


def make(rng: Random, level: int) -> tuple[str, int]:
    number = rng.randrange(40 * (level + 1))
    return f"What is {number} + 1?", number + 1


@cache
def rows() -> Domain:
    path = Path(mkdtemp()) / "rows.jsonl"
    lines = [{"prompt": f"What is {i % 60} + 1?", "answer": i % 60 + 1, "hard": i % 2} for i in range(120)]
    path.write_text("\n".join(map(json.dumps, lines)))
    return open_rows(RowsSettings(name="mine/rows", path=str(path), level="hard"))


@cache
def known(name: str) -> Domain:
    own = {"function": domain("mine/next", make, levels=3)}
    return rows() if name == "rows" else own.get(name) or make_domain(name)


KNOWN = st.sampled_from([*FAMILIES, "rows", "function"])


def content(task: Task) -> str:
    return canonical("\n".join(message.content for message in task.messages))


def level_of(of: Domain, seed: int) -> int:
    return seed % of.levels


@settings(max_examples=150, deadline=None)
@given(name=KNOWN, split=st.sampled_from(Split), seed=st.integers(0, 99), index=INDEX)
def test_a_task_is_a_function_of_its_position(name: str, split: Split, seed: int, index: int) -> None:
    of = known(name)
    level = level_of(of, seed)
    one, other = of.task(split, level, index), of.task(split, level, index)
    assert (one.domain, one.split, one.level, one.index) == (of.name, split, level, index)
    assert one == other
    assert one.gold
    assert one.messages[-1].role == "user"


@settings(max_examples=150, deadline=None)
@given(name=KNOWN, split=st.sampled_from(Split), seed=st.integers(0, 99), index=INDEX)
def test_a_question_is_in_the_split_that_its_content_says(
    name: str, split: Split, seed: int, index: int
) -> None:
    of = known(name)
    assert content_split(of.task(split, level_of(of, seed), index).messages[-1].content) is split


@pytest.mark.parametrize("name", ["coin_flip", "tower_of_hanoi", "chain_sum", "rows", "function"])
def test_small_spaces_share_no_question_even_across_levels(name: str) -> None:
    of = known(name)
    seen = {
        split: {
            content(of.task(split, level, index)) for level in range(min(of.levels, 3)) for index in range(60)
        }
        for split in Split
    }
    for one, other in combinations(Split, 2):
        assert not seen[one] & seen[other]


@given(text=st.text(max_size=60), spaces=st.sampled_from([" ", "\n", "  \t"]))
def test_case_and_white_space_do_not_move_a_question(text: str, spaces: str) -> None:
    shown = f"{spaces}{text.replace(' ', spaces)}{spaces}"
    assert content_split(shown) is content_split(text)
    assert canonical(canonical(text)) == canonical(text) or text != text.casefold()


def test_splits_have_their_shares() -> None:
    found = [content_split(f"question {i}") for i in range(8000)]
    for split in Split:
        assert abs(found.count(split) / 8000 - SHARE[split]) < 0.02
