"""Where a step's graded groups come from: batches under way, at most staleness + 1 of them.

The loop submits the batch of a step, hands over new weights, and takes batches in the order of their steps.
In between, units are drawn by whoever draws (`Rollouts`), completions are graded as they arrive, and parts
follow parts as soon as their weights are there. Nothing that comes out depends on when or by whom it was
done: a batch is a function of its tasks, the seed, and the weight versions that its schedule names.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, Self

import torch
from torch import Tensor

from burnish.faults import fault_point
from burnish.records import Group, WeightVersion
from burnish.rollout.engine import Drawn
from burnish.rollout.inline import InlineRollouts, Rollouts
from burnish.spans import timed
from burnish.training.canary import Canary
from burnish.training.collect import Collector
from burnish.training.course import Course, Schedule
from burnish.training.pending import group_to_json


@dataclass(frozen=True, slots=True)
class Taken:
    """The batch of a step."""

    groups: tuple[Group, ...]
    """Graded, in the order in which they were submitted."""
    repeats: Mapping[int, int]
    """By ordinal, how often a group was given to another worker because the first one was lost."""


@dataclass
class _Run:
    """A unit on its course; changes only under the lock of the source."""

    course: Course
    busy: bool = False
    graded: list[Group | None] = field(default_factory=list)
    history: dict[int, Course] = field(default_factory=dict)
    """The course after each number of parts, for a checkpoint that asks about an earlier moment."""
    repeats: int = 0
    error: BaseException | None = None

    @property
    def finished(self) -> bool:
        return bool(self.graded) and all(g is not None for g in self.graded)


class Source:
    """Draws and grades ahead of the loop; a context manager that ends its workers."""

    def __init__(
        self,
        rollouts: Rollouts,
        collector: Collector,
        canary: Canary,
        schedule: Schedule,
        unit_prompts: int = 0,
    ):
        """Start with nothing under way.

        Args:
            rollouts: who draws.
            collector: what is the same for every group.
            canary: told of every version, so that it can check who draws.
            schedule: which weights draw what.
            unit_prompts: prompts in a unit; 0 = all of a step.
        """
        self._rollouts = rollouts
        self._collector = collector
        self._canary = canary
        self._schedule = schedule
        self._unit_prompts = unit_prompts
        self._version: WeightVersion = schedule.origin
        self._batches: dict[int, list[_Run]] = {}
        self._changed = threading.Condition(threading.RLock())
        self.exact = collector.policy.dtype == torch.float32 and collector.temperature == 1.0
        """Whether the sampler's log-probs are those of the trainer but for float32 rounding."""
        self.told: dict[str, str] = {}
        """Warnings of the step before."""
        self._graders = _graders(collector.grading_workers, at_once=isinstance(rollouts, InlineRollouts))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._rollouts.close()
        self._graders.shutdown(wait=False, cancel_futures=True)

    @property
    def bound(self) -> int:
        """Staleness bound."""
        return self._schedule.bound

    def first_version(self, step: int) -> WeightVersion:
        """Weights that begin the batch of a step."""
        return self._schedule.segments(step)[0].version

    @property
    def under_way(self) -> int:
        """Batches submitted and not taken."""
        return len(self._batches)

    @timed("sync")
    def sync(self, weights: Mapping[str, Tensor], version: WeightVersion) -> None:
        """Hand over new weights; parts that were waiting for them are begun.

        Raises:
            BurnishError: whoever draws does not hold what it was given, now or after an earlier sync.
        """
        self._canary.expect(version)
        self._rollouts.sync(weights, version)
        with self._changed:
            self._version = version
            for step in sorted(self._batches):
                for run in self._batches[step]:
                    self._advance(run)

    def submit(self, step: int, groups: Sequence[Group]) -> None:
        """Begin the batch of a step.

        Args:
            step: of the stage, counted from 0.
            groups: tasks with their prompts and ordinals; samples and verdicts that a checkpoint held.
        """
        size = self._unit_prompts or max(1, len(groups))
        units = [tuple(groups[i : i + size]) for i in range(0, len(groups), size)]
        with self._changed:
            courses = [self._course(step, number, unit) for number, unit in enumerate(units)]
            self._batches[step] = [_Run(c, history={c.done: c}) for c in courses]
            for run in self._batches[step]:
                self._advance(run)

    def _course(self, step: int, number: int, groups: tuple[Group, ...]) -> Course:
        segments = self._schedule.segments(step)
        done = sum(s.version <= self._version for s in segments) if groups[0].samples else 0
        if groups[0].verdicts:
            done = len(segments)
        return Course(step, number, groups, segments, done)

    @timed("wait")
    def take(self, step: int) -> Taken:
        """The graded batch of a step; waits for it.

        Raises:
            BurnishError: it will never be there.
        """
        runs = self._batches[step]
        with self._changed:
            for run in runs:
                self._changed.wait_for(lambda run=run: run.finished or run.error is not None)
                _raise(run)
            del self._batches[step]
        repeats = {g.ordinal: run.repeats for run in runs for g in run.course.groups if run.repeats}
        return Taken(tuple(g for run in runs for g in run.graded if g is not None), repeats)

    def pending(self) -> Callable[[], list[Any]]:
        """Promise of the batches under way as they stand at this moment's weights, as JSON data.

        Calling it waits until all that these weights can draw is drawn, and what is complete is graded; it
        needs no help of the training loop.
        """
        with self._changed:
            version = self._version
            held = {step: list(runs) for step, runs in sorted(self._batches.items())}
        return lambda: [
            {"step": step, "groups": [row for run in runs for row in self._settled(run, version)]}
            for step, runs in held.items()
        ]

    def _settled(self, run: _Run, version: WeightVersion) -> list[dict[str, Any]]:
        """The groups of a run as the weights up to `version` left them."""
        parts = sum(s.version <= version for s in run.course.segments)
        midway = parts < len(run.course.segments)
        with self._changed:
            self._changed.wait_for(
                lambda: run.error is not None or run.finished or (midway and parts in run.history)
            )
            _raise(run)
            if midway and parts in run.history:
                groups: Sequence[Group | None] = run.history[parts].groups
            else:
                groups = run.graded
        return [group_to_json(group) for group in groups if group is not None]

    # Under the lock, in whatever thread something arrives.

    def _advance(self, run: _Run) -> None:
        course = run.course
        if run.busy or run.graded or run.error is not None:
            return
        if course.complete:
            self._grade(run)
        elif course.segments[course.done].version <= self._version:
            run.busy = True
            unit = course.unit(self._collector, self._schedule.origin)
            self._rollouts.submit(unit).add_done_callback(partial(self._arrived, run))

    def _arrived(self, run: _Run, answer: Future[Drawn]) -> None:
        fault_point("rollout.unit")
        with self._changed:
            try:
                drawn = answer.result()
                run.repeats += drawn.attempt - 1
                run.course = run.course.absorb(drawn.samples, self._collector)
                run.history[run.course.done] = run.course
                run.busy = False
                self._advance(run)
            except BaseException as error:
                run.error = error
            self._changed.notify_all()

    def _grade(self, run: _Run) -> None:
        run.graded = [g if g.verdicts else None for g in run.course.groups]
        for i, group in enumerate(run.course.groups):
            if not group.verdicts:
                future = self._graders.submit(self._collector.grade, group)
                future.add_done_callback(partial(self._graded, run, i))

    def _graded(self, run: _Run, place: int, answer: Future[Group]) -> None:
        with self._changed:
            try:
                run.graded[place] = answer.result()
            except BaseException as error:
                run.error = error
            self._changed.notify_all()


def _raise(run: _Run) -> None:
    if run.error is not None:
        raise run.error


class _AtOnce(Executor):
    """Runs what is submitted in the thread that submits it."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


def _graders(workers: int, *, at_once: bool) -> Executor:
    """Threads that grade; one worker beside drawing in this process grades when a group has been drawn."""
    return _AtOnce() if workers == 1 and at_once else ThreadPoolExecutor(workers, "burnish-grading")
