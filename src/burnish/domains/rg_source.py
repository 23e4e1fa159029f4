"""Items of a reasoning-gym family as a pure function of (family, level, seed).

The library itself is not quite pure; what stands in the way is undone here or in `rg_patches.py`:
- a dataset draws item `i` from `Random(seed + i)`, so items of different seeds coincide: a seed here is
  split into a dataset seed and an index below `WIDTH`, which families with per-index tables need;
- `isomorphic_strings`, `ransom_note`, `word_ladder`, `knight_swap` and `polynomial_multiplication` draw
  from sets of texts, whose order depends on the hash seed of the process: the sets are sorted;
- `pool_matrix`, `list_functions` and the snippets of `codeio` draw from the global generators of numpy and
  `random`: these are seeded for the one call and put back afterwards;
- `codeio` keeps its rows in a class attribute that the next dataset overwrites: the rows are put back;
- `acre` makes its questions in the constructor: a level has `WIDTH` of them;
- `arc_1d` and `jugs` loop for ever on rare seeds: they get a budget of function calls, which unlike a time
  limit falls on the same seeds on every machine.
Generation holds one lock per process.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from threading import RLock
from typing import Any

from burnish.domains.rg_families import FAMILIES, Family
from burnish.domains.rg_patches import PATCHES, adjust, silent

WIDTH = 4096
"""Items per dataset; a power of two."""
SEEDS = 2**31
"""Seeds are below this; numpy accepts 32 bits."""
CALLS = 2_000_000
"""Calls and returns an item may take in a family that can loop for ever; usual items take thousands."""

_USES_GLOBAL_RANDOM = frozenset({"pool_matrix", "list_functions", "codeio"})
_MAY_LOOP = frozenset({"arc_1d", "jugs"})
_COMPOSITE_OF = ("chain_sum", "letter_counting", "spell_backward", "leg_counting", "number_sorting", "gcd")
_lock = RLock()

Entry = dict[str, Any]


class GenerationLimitError(RuntimeError):
    """An item used up its budget of calls."""


@lru_cache(maxsize=256)
def dataset(name: str, level: int) -> Any:
    """The library's dataset object for one of our levels; made on first use, kept for the process."""
    from reasoning_gym.factory import DATASETS  # noqa: PLC0415  the import takes about 1.5 seconds

    with _lock:
        if name in PATCHES:
            PATCHES[name]()
        sys.modules[DATASETS[name][0].__module__].__dict__.setdefault("print", silent)
        made: Any = DATASETS[name][0](configuration(FAMILIES[name], level))
        adjust(name, made)
    return made


def configuration(family: Family, level: int) -> Any:
    """The library's configuration of one of our levels."""
    from reasoning_gym.composite import CompositeConfig, DatasetSpec  # noqa: PLC0415
    from reasoning_gym.factory import CURRICULA, DATASETS  # noqa: PLC0415

    size = {"seed": 0, "size": WIDTH}
    upstream = family.upstream_levels[level]
    if family.name == "composite":
        return CompositeConfig(**size, datasets=[DatasetSpec(name, 1.0, {}) for name in _COMPOSITE_OF])
    if upstream is None:
        return DATASETS[family.name][1](**size)
    curriculum: Any = CURRICULA[family.name]
    curriculum = curriculum()
    curriculum.set_global_level(upstream)
    return curriculum.generate_configuration(size)


def make_item(name: str, level: int, seed: int) -> Entry:
    """The item of a seed below `SEEDS`: question, answer, metadata. May raise whatever the library does."""
    with _lock:
        source = dataset(name, level)
        for part in getattr(source, "datasets", {}).values():
            _reseed(part, seed)
        _reseed(source, seed)
        isolated = _isolated_randomness(seed) if name in _USES_GLOBAL_RANDOM else nullcontext()
        limited = _call_budget(CALLS) if name in _MAY_LOOP else nullcontext()
        with isolated, limited:
            return source[seed % WIDTH]


def score(name: str, level: int, answer: str, entry: Mapping[str, Any]) -> float:
    """What the family's own scorer says. May raise whatever the library does."""
    return float(dataset(name, level).score_answer(answer, entry))


def _reseed(source: Any, seed: int) -> None:
    """Point a dataset at the block of `WIDTH` items that holds `seed`."""
    if hasattr(source, "burnish_rows"):
        type(source)._jsonl_data = source.burnish_rows
    source.seed = seed - seed % WIDTH
    if hasattr(source.config, "seed"):
        source.config.seed = source.seed


@contextmanager
def _isolated_randomness(seed: int) -> Iterator[None]:
    import numpy as np  # noqa: PLC0415

    state, numpy_state = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed)
    try:
        yield
    finally:
        random.setstate(state)
        np.random.set_state(numpy_state)


@contextmanager
def _call_budget(calls: int) -> Iterator[None]:
    """Raise `GenerationLimitError` in this thread after a number of call and return events."""
    left = calls
    before = sys.getprofile()

    def count(_frame: object, _event: str, _arg: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise GenerationLimitError(f"no item within {calls} calls")

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)
