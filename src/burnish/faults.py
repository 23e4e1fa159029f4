"""Named places where a test can make the process fail; they do nothing unless BURNISH_FAULT asks for it.

    BURNISH_FAULT="checkpoint.before_manifest:2:kill"     the second time that place is passed
    BURNISH_FAULT="checkpoint.file:1:enospc,rl.after_update:5:kill"

Actions: `kill` (SIGKILL to the own process, as if the power went), `stop` (SIGSTOP: it hangs), `enospc` (a
full disk), `error` (an error nobody foresaw). Counts start at 1 in every process; worker processes inherit
the variable and count for themselves.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Mapping

VARIABLE = "BURNISH_FAULT"

Plan = Mapping[tuple[str, int], str]
"""Action by (place, how many times it has been passed)."""


def _full_disk() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _unforeseen() -> None:
    raise RuntimeError(f"a fault asked for by {VARIABLE}")


_ACTIONS: dict[str, Callable[[], None]] = {
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "enospc": _full_disk,
    "error": _unforeseen,
}

_passed: Counter[str] = Counter()
_passed_lock = threading.Lock()


def parse(text: str) -> Plan:
    """A plan from `place:count:action` entries with commas between them.

    Raises:
        ValueError: an entry is malformed.
    """
    plan: dict[tuple[str, int], str] = {}
    for entry in filter(None, text.split(",")):
        place, count, action = [*entry.strip().split(":"), "", ""][:3]
        if not (place and count.isdigit() and action in _ACTIONS):
            expected = f"PLACE:COUNT:ACTION with an action of {', '.join(_ACTIONS)}"
            raise ValueError(f"{VARIABLE}: {entry!r} is not {expected}")
        plan[place, int(count)] = action
    return plan


_plan: Plan = parse(os.environ.get(VARIABLE, ""))


def fault_point(place: str) -> None:
    """Fail here if the plan says so; without a plan this is one comparison."""
    if _plan:
        _pass(place)


def _pass(place: str) -> None:
    with _passed_lock:
        _passed[place] += 1
        action = _plan.get((place, _passed[place]))
    if action is not None:
        _ACTIONS[action]()


def set_plan(text: str) -> None:
    """Replace the plan of this process and count from the beginning; an empty text ends all faults."""
    global _plan  # noqa: PLW0603 - one plan a process, read on the fast path
    _passed.clear()
    _plan = parse(text)
