"""The measurements that run in a process of their own, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from burnish.bench.step_task import measure_steps
from burnish.bench.update_task import compare_gradients, measure_update

TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "gradients": compare_gradients,
    "steps": measure_steps,
    "update": measure_update,
}
