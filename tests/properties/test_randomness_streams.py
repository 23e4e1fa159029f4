import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.randomness import integer, permutation, stream_key, uniform, uniforms

part = st.one_of(st.integers(-(2**63), 2**63), st.text(max_size=8))
parts = st.lists(part, min_size=1, max_size=4)


def chi_square(counts) -> float:
    """Distance of counts from equal shares, in standard deviations of the chi-square law."""
    counts = np.asarray(counts, float)
    expected = counts.sum() / counts.size
    dof = counts.size - 1
    return (((counts - expected) ** 2 / expected).sum() - dof) / np.sqrt(2 * dof)


def stream(count: int, *key) -> np.ndarray:
    return uniforms(np.full(1, stream_key(*key), np.uint64), np.arange(count, dtype=np.uint64))


@pytest.mark.parametrize("key", [(0,), (1, "rollout", 3), ("x",)])
def test_positions_of_a_stream_are_uniform(key):
    counts, _ = np.histogram(stream(200_000, *key), bins=256, range=(0, 1))
    assert abs(chi_square(counts)) < 4


def test_low_bits_are_uniform_too():
    low = (stream(200_000, 5) * 2**53).astype(np.uint64) & np.uint64(255)
    assert abs(chi_square(np.bincount(low.astype(int), minlength=256))) < 4


def test_keys_that_follow_each_other_give_unrelated_draws():
    first = np.array([uniform(9, "group", i) for i in range(20_000)])
    counts, _ = np.histogram(first, bins=64, range=(0, 1))
    assert abs(chi_square(counts)) < 4
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 4 / np.sqrt(len(first))


def test_neighbours_in_a_stream_are_unrelated():
    draws = stream(200_000, 7)
    for lag in (1, 2, 8):
        assert abs(np.corrcoef(draws[:-lag], draws[lag:])[0, 1]) < 4 / np.sqrt(len(draws))
    pairs, _, _ = np.histogram2d(draws[::2], draws[1::2], bins=16, range=[[0, 1], [0, 1]])
    assert abs(chi_square(pairs.ravel())) < 4


def test_streams_of_two_samples_are_unrelated():
    a, b = stream(100_000, 3, "rollout", 0, 0, 0), stream(100_000, 3, "rollout", 0, 0, 1)
    assert abs(np.corrcoef(a, b)[0, 1]) < 4 / np.sqrt(len(a))


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**63))
def test_a_uniform_lies_in_the_unit_interval(key, position):
    draw = uniforms(np.array([key], np.uint64), np.array([position], np.uint64))[0]
    assert 0 <= draw < 1


@given(parts)
def test_a_scalar_uniform_lies_in_the_unit_interval(key):
    assert 0 <= uniform(*key) <= 1


@given(st.integers(0, 2**64 - 1), st.lists(st.integers(0, 10**6), min_size=1, max_size=20))
def test_a_draw_does_not_depend_on_the_order_or_the_company(key, positions):
    keys, at = np.full(len(positions), key, np.uint64), np.array(positions, np.uint64)
    together = uniforms(keys, at)
    assert uniforms(keys, at[::-1])[::-1].tolist() == together.tolist()
    assert [uniforms(keys[:1], at[i : i + 1])[0] for i in range(len(positions))] == together.tolist()


@given(parts, parts)
def test_keys_differ_when_their_parts_do(a, b):
    if a != b and not any("\x1f" in p for p in (*a, *b) if isinstance(p, str)):
        assert stream_key(*a) != stream_key(*b)


def test_a_number_and_its_text_are_different_parts():
    assert stream_key(1) != stream_key("1")
    assert stream_key("a", "b") != stream_key("ab")


@given(st.integers(0, 300), st.integers(0, 2**32))
def test_a_permutation_is_a_bijection(size, seed):
    assert sorted(permutation(size, seed, "rows")) == list(range(size))


def test_permutations_of_three_are_equally_frequent():
    orders = [tuple(permutation(3, seed)) for seed in range(6000)]
    assert abs(chi_square([orders.count(order) for order in set(orders)])) < 4
    assert len(set(orders)) == 6


@settings(max_examples=50)
@given(st.integers(1, 10**6), parts)
def test_an_integer_is_below_its_bound(bound, key):
    assert 0 <= integer(bound, *key) < bound


SCRIPT = """
import numpy as np
from burnish.randomness import integer, permutation, stream_key, uniform, uniforms
print(stream_key(3, "rollout", 1, 2), repr(uniform("a", 1)), integer(1000, 5), permutation(9, "p", 2))
print(uniforms(np.array([1, 2**63], np.uint64), np.array([0, 7], np.uint64)).tolist())
"""


def test_another_process_with_another_hash_seed_draws_the_same():
    draws = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    ]
    assert draws[0] == draws[1]
    here = stream_key(3, "rollout", 1, 2), repr(uniform("a", 1)), integer(1000, 5), permutation(9, "p", 2)
    assert draws[0].splitlines()[0] == " ".join(map(str, here))


def test_draws_are_those_of_every_earlier_release():
    # SplitMix64 from state 0 gives 0xE220A8397B1DCDAF first (Steele, Lea & Flood; Vigna's reference code).
    first = uniforms(np.zeros(1, np.uint64), np.zeros(1, np.uint64))[0]
    assert first == (0xE220A8397B1DCDAF >> 11) * 2.0**-53
    second = uniforms(np.zeros(1, np.uint64), np.ones(1, np.uint64))[0]
    assert second == (0x6E789E6AA1B965F4 >> 11) * 2.0**-53
