"""The protocol of a domain: a deterministic, total function from three values to a task, and a grader.

The same (split, level, index) gives the same task on any machine and in any process, so a position in
the data is a few integers and evaluation is disjoint from training by construction.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from burnish.records import Sample, Split, Task, Verdict


@runtime_checkable
class Domain(Protocol):
    """What a model is trained on: tasks and the judgement of answers.

    Raises (any method): `DomainError` for a level out of range; anything else that `task` or `grade`
    raises is a fault of the domain and never a wrong answer.
    """

    @property
    def name(self) -> str:
        """Full name, `source/category/family`; unique within a run."""
        ...

    @property
    def levels(self) -> int:
        """Number of difficulty levels, at least 1; level 0 is the easiest."""
        ...

    def size(self, split: Split, level: int) -> int | None:
        """How many distinct tasks there are, or None when they are generated without end.

        `task` stays total past the end: indices wrap around.
        """
        ...

    def task(self, split: Split, level: int, index: int) -> Task:
        """The task at a position; pure and total for 0 <= level < levels and index >= 0."""
        ...

    def grade(self, task: Task, sample: Sample) -> Verdict:
        """Judge one completion."""
        ...
