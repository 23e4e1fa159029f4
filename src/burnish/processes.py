"""Starting helper processes without running the user's script again."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_hiding = threading.RLock()


@contextmanager
def script_hidden() -> Iterator[None]:
    """Keep `multiprocessing` from having new workers import the script that runs in this process.

    So a script that trains needs no `__main__` guard. One thread at a time.
    """
    with _hiding:
        main: Any = sys.modules["__main__"]
        hidden = {key: main.__dict__[key] for key in ("__file__", "__spec__") if key in main.__dict__}
        main.__dict__.pop("__file__", None)
        main.__spec__ = None
        try:
            yield
        finally:
            main.__dict__.update(hidden)
