"""Items follow from (family, level, seed) alone, in every process; the table of families is true."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from burnish.domains.reasoning_gym import make_domain
from burnish.domains.rg_families import FAMILIES, UNUSABLE_LEVELS, VERSION
from burnish.domains.rg_source import GenerationLimitError, configuration, make_item
from burnish.errors import DomainError
from burnish.records import Split

SEEDS = (7, 2**20 + 3, 2**31 - 1)
SLOW = {"sokoban", "zebra_puzzles"}


def digest(name: str, level: int) -> str:
    """A hash of a few items, or of the errors they end in."""
    parts: list[str] = []
    for seed in SEEDS[: 1 if name in SLOW else None]:
        try:
            item = make_item(name, level, seed)
            parts += [item["question"], str(item["answer"])]
        except (RuntimeError, ValueError) as error:
            parts.append(repr(error))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def digests(names: list[str]) -> dict[str, str]:
    levels = {name: {0, len(FAMILIES[name].upstream_levels) // 2} for name in names}
    return {f"{name}, level {level}": digest(name, level) for name in names for level in levels[name]}


def test_items_are_the_same_in_another_process_in_another_order() -> None:
    """Other hash seed, other order of families, other global random state."""
    script = (
        "import json, random, sys\n"
        "import numpy\n"
        "random.seed(99), numpy.random.seed(99)\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_domains_rg_source import digests\n"
        "from burnish.domains.rg_families import FAMILIES\n"
        "print(json.dumps(digests(list(reversed(FAMILIES)))))\n"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "12345", "PYTHONPATH": os.pathsep.join(sys.path)}
    there = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.count("\n") == 1, "a family prints"
    here = digests(list(FAMILIES))
    other = json.loads(there.stdout)
    assert {name for name in here if here[name] != other[name]} == set()


@pytest.mark.parametrize("name", ["pool_matrix", "list_functions", "codeio"])
def test_global_generators_are_left_alone(name: str) -> None:
    random.seed(1)
    np.random.seed(1)
    before = random.getstate()
    make_item(name, 0, 5)
    assert random.getstate() == before
    drawn = np.random.random()
    np.random.seed(1)
    assert drawn == np.random.random()


def test_levels_of_codeio_do_not_disturb_each_other() -> None:
    first = make_item("codeio", 0, 11)["question"]
    make_item("codeio", 1, 11)
    assert make_item("codeio", 0, 11)["question"] == first


@pytest.mark.parametrize("name", ["bf", "codeio", "tower_of_hanoi"])
def test_families_do_not_print(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    domain = make_domain(name)
    for index in range(5):
        task = domain.task(Split.TRAIN, 0, index)
    from burnish.records import Sample

    domain.grade(task, Sample("Move disk 1 from Peg 1 to Peg 99"))
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_a_seed_that_loops_for_ever_is_given_up() -> None:
    with pytest.raises(GenerationLimitError):
        make_item("arc_1d", 3, 1356321087)


def test_number_sequence_ends_at_its_highest_level() -> None:
    domain = make_domain("number_sequence")
    assert all(domain.task(Split.TRAIN, 3, index).gold for index in range(30))


def test_the_table_names_every_family_of_the_library() -> None:
    from importlib.metadata import version

    from reasoning_gym.factory import CURRICULA, DATASETS

    assert version("reasoning-gym") == VERSION
    categories = {name: made[0].__module__.split(".")[1] for name, made in DATASETS.items()}
    assert {name: family.category for name, family in FAMILIES.items()} == categories
    for name, family in FAMILIES.items():
        if name in CURRICULA and family.upstream_levels != (None,):
            attributes = CURRICULA[name]().attributes.values()
            upstream = set(range(max(len(attribute.levels) for attribute in attributes)))
            assert set(family.upstream_levels) <= upstream
            assert set(family.upstream_levels) == upstream or name in UNUSABLE_LEVELS


@pytest.mark.parametrize("name", list(FAMILIES))
def test_every_level_has_a_valid_configuration(name: str) -> None:
    family = FAMILIES[name]
    for level in range(len(family.upstream_levels)):
        made = configuration(family, level)
        getattr(made, "validate", lambda: None)()


def test_listing_imports_no_library() -> None:
    script = (
        "import sys\n"
        "from burnish.domains.registry import default_registry\n"
        "assert len(default_registry().names()) >= 106\n"
        "assert not {'reasoning_gym', 'sympy', 'torch', 'transformers'} & set(sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", script], env=environment, check=True)


def test_a_level_out_of_range_says_which_there_are() -> None:
    with pytest.raises(DomainError, match="0 to 3"):
        make_domain("gcd").task(Split.TRAIN, 4, 0)
    with pytest.raises(DomainError, match="its only level"):
        make_domain("acre").task(Split.TRAIN, 1, 0)


def test_an_unknown_family_is_suggested() -> None:
    with pytest.raises(DomainError, match="chain_sum"):
        make_domain("reasoning-gym/arithmetic/chainsum")


def test_prompts_carry_our_system_message() -> None:
    task = make_domain("gcd").task(Split.TRAIN, 0, 0)
    assert [message.role for message in task.messages] == ["system", "user"]
    assert task.messages[0].content == "Reply with the answer only."
