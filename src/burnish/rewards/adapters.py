"""Reward functions as graders: plain ones, and those written for TRL or verl, used unchanged.

A reward is a callable `reward(task, text)`. What it returns becomes a verdict in one place, `as_verdict`:
a number is a score, None abstains, and anything that is not a score is a fault that names the function.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from numbers import Real
from typing import Any

from burnish.errors import DomainError
from burnish.records import Abstained, Boundary, Faulted, Scored, Task, Verdict

Scale = tuple[float, float]
"""Lowest and highest value that a reward function returns; mapped to [0, 1]."""
Reward = Callable[[Task, str], bool | float | Verdict | None]
"""What a completion is worth: a number in [0, 1], a bool, None for "cannot tell", or a verdict."""

_MISSING = object()
_GROUND_TRUTHS = ("ground_truth", "reward_model.ground_truth", "answer", "gold")


def trl_reward(
    function: Callable[..., Any],
    *,
    messages: bool = False,
    scale: Scale | None = None,
    threshold: float = 1.0,
    **columns_from_task: str,
) -> TrlReward:
    """A TRL reward function, `f(prompts, completions, **columns) -> list[float | None]`, as a reward.

    Args:
        function: the function, plain or async; it is called with batches of one.
        messages: give prompts and completions as lists of `{"role", "content"}` instead of strings.
        scale: what the function calls worst and best; None when that is 0 and 1.
        threshold: value in [0, 1], after scaling, from which a sample counts as a success.
        columns_from_task: column -> where it is in `task.data` or its `row` (dots reach inside, `gold` is
            the gold answer); without any, all of the data that the function takes.

    Raises:
        DomainError: not a function, or an impossible scale.
    """
    _check(function, scale)
    return TrlReward(function, columns_from_task, messages, scale, threshold)


def verl_reward(
    compute_score: Callable[..., Any],
    *,
    ground_truth: str | None = None,
    scale: Scale | None = None,
    threshold: float = 1.0,
) -> VerlReward:
    """A verl `compute_score(data_source, solution_str, ground_truth, extra_info=None)` as a reward.

    It may return a number or a dict with `score`; the other numbers of a dict are kept as parts, and its
    `acc` decides about success when there is one. `data_source` is the row's, else the name of the domain.

    Args:
        compute_score: the function, plain or async.
        ground_truth: where the reference is in `task.data` or its `row`; None looks for `ground_truth`,
            `reward_model.ground_truth`, `answer`, then takes the gold answer.
        scale: what the function calls worst and best; None when that is 0 and 1.
        threshold: value in [0, 1], after scaling, from which a sample counts as a success.

    Raises:
        DomainError: not a function, or an impossible scale.
    """
    _check(compute_score, scale)
    return VerlReward(compute_score, ground_truth, scale, threshold)


@dataclass(frozen=True)
class TrlReward:
    """See `trl_reward`."""

    function: Callable[..., Any]
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    messages: bool = False
    scale: Scale | None = None
    threshold: float = 1.0

    def __call__(self, task: Task, text: str) -> Verdict:
        """Judge one completion."""
        name = name_of(self.function)
        columns = self._columns(task)
        missing = [column for column, value in columns.items() if value is _MISSING]
        if missing:
            wanted, known = self.columns[missing[0]], sorted(_data(task))
            return _fault(name, f"column {missing[0]!r} wants {wanted!r}, the task has {known}")
        prompt, completion = _as_messages(task, text) if self.messages else (_question(task), text)
        lists = {column: [value] for column, value in columns.items()}
        values = _listed(_finished(self.function(prompts=[prompt], completions=[completion], **lists)))
        if values is None or len(values) != 1:
            got = "no list" if values is None else f"{len(values)} values"
            return _fault(name, f"returned {got}, expected a list of 1 value, one a completion")
        return as_verdict(values[0], name, self.threshold, self.scale)

    def _columns(self, task: Task) -> dict[str, Any]:
        if self.columns:
            return {column: _reach(task, path) for column, path in self.columns.items()}
        data = _data(task)
        return {key: data[key] for key in _accepted(self.function, data)}


@dataclass(frozen=True)
class VerlReward:
    """See `verl_reward`."""

    function: Callable[..., Any]
    ground_truth: str | None = None
    scale: Scale | None = None
    threshold: float = 1.0

    def __call__(self, task: Task, text: str) -> Verdict:
        """Judge one completion."""
        name = name_of(self.function)
        places = _GROUND_TRUTHS if self.ground_truth is None else (self.ground_truth,)
        truths = [truth for truth in (_reach(task, place) for place in places) if truth is not _MISSING]
        if not truths:
            return _fault(name, f"no reference at {' or '.join(places)}, the task has {sorted(_data(task))}")
        data = _data(task)
        returned = _finished(
            self.function(
                data_source=data.get("data_source", task.domain),
                solution_str=text,
                ground_truth=truths[0],
                extra_info=data.get("extra_info"),
            )
        )
        if not isinstance(returned, Mapping):
            return as_verdict(returned, name, self.threshold, self.scale)
        return self._of_table(returned, name)

    def _of_table(self, table: Mapping[str, Any], name: str) -> Verdict:
        """The verdict of a dict with `score` and, perhaps, `acc` and other numbers."""
        if "score" not in table:
            return _fault(name, f"returned a dict with {sorted(map(str, table))}, expected 'score' in it")
        verdict = as_verdict(table["score"], name, self.threshold, self.scale)
        if not isinstance(verdict, Scored):
            return verdict
        numbers = {str(key): _number(value) for key, value in table.items() if key != "score"}
        parts = {key: number for key, number in numbers.items() if number is not None}
        passed = parts["acc"] >= 1 if "acc" in parts else verdict.passed
        return Scored(verdict.value, passed, parts)


def as_verdict(value: object, source: str, threshold: float = 1.0, scale: Scale | None = None) -> Verdict:
    """What a reward function returned, as a verdict.

    Args:
        value: a verdict, which stays as it is; a bool; None, which abstains; or a number.
        source: name of the function, for messages.
        threshold: value from which a sample counts as a success.
        scale: lowest and highest number; None means 0 and 1. A number outside becomes a score outside
            [0, 1], which `judge` calls a fault.
    """
    if isinstance(value, Scored | Abstained | Faulted):
        return value
    if value is None:
        return Abstained(f"{source} cannot tell")
    value = _unboxed(value)
    if isinstance(value, bool):
        return Scored(float(value), passed=value)
    number = _number(value)
    if number is None:
        return _fault(source, f"returned {value!r:.80}, expected a finite number, a bool, None or a verdict")
    low, high = (0.0, 1.0) if scale is None else scale
    scaled = (number - low) / (high - low)
    return Scored(scaled, passed=scaled >= threshold)


def name_of(function: Callable[..., Any]) -> str:
    """What a function is called in its source."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__qualname__", type(function).__qualname__)


def _check(function: object, scale: Scale | None) -> None:
    if not callable(function):
        raise DomainError("a reward must be a function", got=f"{function!r:.80}", expected="a callable")
    if scale is None:
        return
    ends = [_number(end) for end in scale] if isinstance(scale, tuple | list) else []
    if len(ends) != 2 or None in ends or not scale[0] < scale[1]:
        raise DomainError(
            f"the scale of reward function {name_of(function)} is impossible",
            got=f"scale = {scale!r}",
            expected="(low, high), two finite numbers with low < high",
            next_step="give the lowest and the highest value that the function returns",
        )


def _fault(source: str, error: str) -> Faulted:
    return Faulted(Boundary.DOMAIN, f"{source}: {error}")


def _unboxed(value: object) -> object:
    """A Python number for an array or tensor that holds a single value."""
    if not hasattr(value, "item"):
        return value
    try:
        return value.item()  # pyright: ignore[reportAttributeAccessIssue]
    except (TypeError, ValueError, RuntimeError):
        return value


def _number(value: object) -> float | None:
    """A finite float, or None."""
    value = _unboxed(value)
    try:
        number = float(value) if isinstance(value, Real) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _listed(returned: object) -> list[object] | None:
    """The members of a list, tuple or array; None for anything else."""
    if isinstance(returned, str | bytes | Mapping) or not isinstance(returned, Iterable):
        return None
    try:
        return list(returned)
    except TypeError:
        return None


def _data(task: Task) -> dict[str, Any]:
    """What a task knows by name: its data, and the columns of the row that it was made from."""
    row = task.data.get("row")
    columns = {str(key): value for key, value in row.items()} if isinstance(row, Mapping) else {}
    return {**columns, **task.data}


def _reach(task: Task, path: str) -> Any:
    """What is at a dotted path of the data; `gold` is the gold answer unless the data has its own."""
    found: Any = _data(task)
    if path in found:
        return found[path]
    for part in path.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return task.gold if path == "gold" and task.gold is not None else _MISSING
        found = found[part]
    return found


def _accepted(function: Callable[..., Any], names: Iterable[str]) -> list[str]:
    """Those of `names` that a function takes as keywords, `prompts` and `completions` aside."""
    names = [name for name in names if name not in ("prompts", "completions")]
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return names
    takes_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    return [name for name in names if takes_all or name in parameters]


def _question(task: Task) -> str:
    """The prompt as one string, without the system message, as a row of plain text has it."""
    return "\n\n".join(message.content for message in task.messages if message.role != "system")


def _as_messages(task: Task, text: str) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    prompt = [{"role": message.role, "content": message.content} for message in task.messages]
    return prompt, [{"role": "assistant", "content": text}]


def _finished(returned: Any) -> Any:
    """The result, awaited when it has to be; also where an event loop is running, as in a notebook."""
    if not inspect.isawaitable(returned):
        return returned
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_awaited(returned))
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, _awaited(returned)).result()


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    return await awaitable
