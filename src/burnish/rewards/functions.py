"""Reward functions written for other frameworks, as graders.

A grader here is a function `(task, sample) -> Verdict`; `burnish.domains.function.regrade` puts one in the
place of a domain's own. Rewards of other frameworks may have any range: `low` and `high` say which values
become 0 and 1, and what falls outside is refused rather than cut off.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from burnish.records import Abstained, Sample, Scored, Task, Verdict

TaskGrader = Callable[[Task, Sample], Verdict]


class TrlFunction(Protocol):
    """A reward function of TRL, plain or async."""

    def __call__(self, *, prompts: list[Any], completions: list[Any], **columns: Any) -> Any:
        """One reward per completion; None means that the function does not apply."""
        ...


@dataclass(frozen=True)
class TrlReward:
    """A TRL reward function `f(prompts, completions, **columns) -> list[float | None]` as a grader."""

    function: TrlFunction
    low: float = 0.0
    high: float = 1.0
    conversational: bool = False
    """Hand over lists of messages instead of text, as TRL does for conversational data."""

    def __call__(self, task: Task, sample: Sample) -> Verdict:
        """One call with a batch of one.

        Raises:
            ValueError: not exactly one reward, or one outside [low, high].
        """
        arguments = {"prompts": [self._prompt(task)], "completions": [self._completion(sample)]}
        columns = {name: [value] for name, value in columns_of(task).items() if name not in arguments}
        rewards = _finished(self.function(**arguments, **_accepted(self.function, columns)))
        if not isinstance(rewards, Sequence) or len(rewards) != 1:
            raise ValueError(
                f"{_name(self.function)} returned {rewards!r} for one completion, expected [reward]"
            )
        if rewards[0] is None:
            return Abstained(f"{_name(self.function)} does not apply")
        return scaled(float(rewards[0]), self.low, self.high)

    def _prompt(self, task: Task) -> Any:
        if self.conversational:
            return [{"role": message.role, "content": message.content} for message in task.messages]
        return task.messages[-1].content

    def _completion(self, sample: Sample) -> Any:
        return [{"role": "assistant", "content": sample.text}] if self.conversational else sample.text


@dataclass(frozen=True)
class VerlReward:
    """A verl `compute_score(data_source, solution_str, ground_truth, extra_info=None)` as a grader."""

    function: Callable[..., Any]
    low: float = 0.0
    high: float = 1.0

    def __call__(self, task: Task, sample: Sample) -> Verdict:
        """One call; of a dict, `score` is the reward and the other numbers are its parts.

        Raises:
            ValueError: a reward outside [low, high].
        """
        row = columns_of(task)
        reward_model = row.get("reward_model")
        truth = reward_model.get("ground_truth") if isinstance(reward_model, Mapping) else row.get("answer")
        result = _finished(
            self.function(
                data_source=row.get("data_source", task.domain),
                solution_str=sample.text,
                ground_truth=truth,
                extra_info=row.get("extra_info"),
            )
        )
        if not isinstance(result, Mapping):
            return scaled(float(result), self.low, self.high)
        parts = {key: float(value) for key, value in result.items() if isinstance(value, bool | int | float)}
        return scaled(float(result["score"]), self.low, self.high, parts)


def columns_of(task: Task) -> dict[str, Any]:
    """What a reward function may ask for by name: the columns of the row, and `answer`."""
    row = task.data.get("row")
    columns = dict(row) if isinstance(row, Mapping) else {}
    columns.setdefault("answer", task.data.get("answer", task.gold))
    return columns


def scaled(reward: float, low: float, high: float, parts: Mapping[str, float] | None = None) -> Scored:
    """A reward in [low, high] as one in [0, 1]; the top is a success.

    Raises:
        ValueError: outside the range, or not a number.
    """
    if not low <= reward <= high:
        raise ValueError(
            f"reward {reward} is outside [{low}, {high}]; say what its range is with low and high"
        )
    value = (reward - low) / (high - low)
    return Scored(value, passed=value >= 1.0, parts=parts or {})


def _accepted(function: Callable[..., Any], columns: dict[str, Any]) -> dict[str, Any]:
    """The columns that a function has parameters for; all of them when it takes keywords."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return columns
    names = {parameter.name for parameter in parameters}
    return {name: value for name, value in columns.items() if name in names}


def _finished(result: Any) -> Any:
    """The result of a call, awaited when the function is async."""

    async def wait() -> Any:
        return await result

    return asyncio.run(wait()) if inspect.isawaitable(result) else result


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)
