"""Control groups for runs, where this process may make them: memory, number of tasks and CPU of all a run
starts."""

from __future__ import annotations

from typing import Any


class Groups:
    """A fixed set of slots, each a group of the hierarchy at hand; `usable` is False where there is none."""

    def __init__(self, roots: dict[str, str], slots: int):
        self.usable = False

    def take(self, pid: int, limits: dict[str, Any]) -> int:
        """Put a process into a free slot with these limits; -1 when there is none."""
        return -1

    def cpu(self, slot: int) -> float | None:
        """CPU seconds used in a slot since it was made, None when unknown."""
        return None

    def give_back(self, slot: int) -> bool:
        """Free a slot; whether memory ran out in it."""
        return False

    def close(self) -> None:
        """Remove all groups."""
