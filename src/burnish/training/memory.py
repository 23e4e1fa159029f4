"""Memory that stays flat although every step has other shapes."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any


@cache
def _libc() -> Any:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "malloc_trim") else None


def release_unused() -> None:
    """Give freed pages back to the system.

    glibc keeps freed blocks for reuse; with shapes that vary from step to step they seldom fit again, and
    the process grows by what it once needed for each shape. Elsewhere than on glibc this does nothing.
    """
    library = _libc()
    if library is not None:
        library.malloc_trim(0)
