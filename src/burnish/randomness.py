"""Counter-based randomness: every draw is a pure function of a seed and a key.

There is no generator state to save or to lose, and a draw does not depend on how many workers there
are or in which order they finish. Keys are hashed with BLAKE2b; streams of uniforms come from the
SplitMix64 finaliser (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", 2014)
applied to `key + position * gamma`.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)

Part = str | int


def stream_key(*parts: Part) -> int:
    """A 64-bit key for `parts`, for example `stream_key(seed, "rollout", step, group, sample)`."""
    text = "".join(f"{'s' if isinstance(p, str) else 'i'}{len(str(p))}:{p}" for p in parts)
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def uniforms(keys: NDArray[np.uint64], positions: NDArray[np.uint64]) -> NDArray[np.float64]:
    """One uniform in [0, 1) for each (key, position); shapes broadcast, dtype float64, 53 bits."""
    with np.errstate(over="ignore"):
        z = keys + (positions + np.uint64(1)) * _GAMMA
        z = (z ^ (z >> np.uint64(30))) * _MIX_1
        z = (z ^ (z >> np.uint64(27))) * _MIX_2
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53


def uniform(*parts: Part) -> float:
    """One uniform in [0, 1) for a key."""
    return (stream_key(*parts) >> 11) * 2.0**-53


def integer(bound: int, *parts: Part) -> int:
    """One integer in [0, bound) for a key."""
    return stream_key(*parts) % bound


def permutation(size: int, *parts: Part) -> list[int]:
    """A permutation of range(size) for a key; cost O(size log size)."""
    key = stream_key(*parts)
    draws = uniforms(np.full(size, key, np.uint64), np.arange(size, dtype=np.uint64))
    return np.argsort(draws, kind="stable").tolist()
