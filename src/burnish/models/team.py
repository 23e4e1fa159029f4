"""Row loops shared by the threads that torch computes with.

A second pool of threads would fight torch's for the cores: OpenMP threads wait by spinning. So the compiled
loops are handed to the OpenMP library that torch has loaded, through its entry point `GOMP_parallel`
(part of the binary interface of GCC since 4.9). Threads take rows from a common counter until none is left.
Where torch uses another library, the calling thread does all rows.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

_SERIAL = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
HEAD = 2
"""Words of a job before its own: the next row, and the number of rows."""


@cache
def openmp() -> Any:
    """Torch's OpenMP library, or None where it is not GNU's."""
    for path in _candidates():
        try:
            library = ctypes.CDLL(str(path), mode=os.RTLD_NOW | getattr(os, "RTLD_NOLOAD", 0))
            parallel = library.GOMP_parallel
        except (OSError, AttributeError):
            continue
        parallel.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)
        parallel.restype = None
        return parallel
    return None


def _candidates() -> Iterator[Path]:
    package = Path(torch.__file__).parent
    for folder in (package / "lib", package.parent / "torch.libs"):
        yield from sorted(folder.glob("libgomp*"))


def run(job: Any, rows: int, words: list[int]) -> None:
    """Do `rows` rows of a compiled job on as many threads as torch computes with; returns when all are done.

    Args:
        job: a numba `cfunc` of a pointer to int64, which takes rows with `jobs.take`.
        rows: rows.
        words: addresses, sizes and bits of numbers that the job reads, from word `HEAD` on.
    """
    memory = np.array([0, rows, *words], np.int64)
    address = memory.ctypes.data
    threads = min(torch.get_num_threads(), rows)
    parallel = openmp() if threads > 1 else None
    if parallel is None:
        _SERIAL(job.address)(address)
    else:
        parallel(job.address, address, threads, 0)
