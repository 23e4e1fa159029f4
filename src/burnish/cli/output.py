"""How commands print: a console for people, JSON documents for scripts."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burnish.observe.console import Console


def make_console(*, json: bool = False, quiet: bool = False) -> Console:
    """A console for people; it speaks on standard error when standard output carries one JSON document."""
    from burnish.observe.console import Console  # noqa: PLC0415 - `burnish --help` needs none

    return Console(quiet=quiet, stdout=sys.stderr if json else None)


def print_json(value: object) -> None:
    """One JSON document on standard output; NaN and infinities become null."""
    print(json.dumps(_plain(value), indent=2, ensure_ascii=False, default=str))


def size(count: float) -> str:
    """Bytes in words: `3.2 GB`."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
