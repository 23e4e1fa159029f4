"""One JSON object a line between a benchmark and the program it measures.

The child keeps standard output for these lines alone; whatever else prints goes to standard error. This file
imports nothing outside the standard library: it runs in every environment.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


class Pipe:
    """The child's end."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def send(self, **message: Any) -> None:
        """Hand one message to the benchmark."""
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()

    def receive(self) -> dict[str, Any]:
        """Wait for the next message; the program ends when there will be none."""
        line = sys.stdin.readline()
        if not line:
            os._exit(0)
        return json.loads(line)
