"""Helper processes: started without running the user's script again, and gone when their parent is."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_hiding = threading.RLock()
_WATCH_SECONDS = 0.5


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


def end_with(parent: int) -> None:
    """In a helper: end this process once its parent has ended, however that came about.

    A parent that is killed cannot tell its helpers, and a helper that waits on a queue would wait for ever.

    Args:
        parent: process id of the parent.
    """
    threading.Thread(target=_watch, args=(parent,), daemon=True, name="burnish-parent").start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)
