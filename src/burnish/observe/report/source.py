"""What the report asks of a run's database; `burnish.store.RunStore` answers it."""

# ruff: noqa: D102 - the properties carry the names of the stored records' fields, documented there

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from burnish.records import Verdict


class SampleLike(Protocol):
    """A completion as it was recorded."""

    @property
    def id(self) -> int: ...
    @property
    def stage(self) -> str: ...
    @property
    def step(self) -> int: ...
    @property
    def task_key(self) -> str: ...
    @property
    def domain(self) -> str: ...
    @property
    def prompt_text(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def stop(self) -> str: ...
    @property
    def tokens(self) -> int: ...
    @property
    def mean_logprob(self) -> float | None: ...
    @property
    def advantage(self) -> float | None: ...
    @property
    def gold(self) -> str | None: ...
    @property
    def verdict(self) -> Verdict | None: ...


class EventLike(Protocol):
    """Something that happened."""

    @property
    def time(self) -> float: ...
    @property
    def stage(self) -> str: ...
    @property
    def step(self) -> int: ...
    @property
    def level(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def domain(self) -> str | None: ...
    @property
    def message(self) -> str: ...


class StageLike(Protocol):
    """What a stage cost."""

    @property
    def name(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def tokens_generated(self) -> int: ...
    @property
    def tokens_trained(self) -> int: ...
    @property
    def tasks(self) -> int: ...


Curves = Mapping[str, Mapping[str | None, Sequence[tuple[int, float]]]]
"""{metric: {domain, or None for the whole run: [(step, value)]}}."""

Pick = Literal["best", "worst", "random"]
PICKS: tuple[Pick, ...] = ("best", "worst", "random")


class ReportSource(Protocol):
    """Queries that the report makes."""

    def metric_stages(self) -> Sequence[str]:
        """Stages with metrics."""
        ...

    def sample_stages(self) -> Sequence[str]:
        """Stages with samples."""
        ...

    def curves(self, stage: str) -> Curves:
        """Every metric of a stage."""
        ...

    def domains(self, stage: str | None = None) -> Sequence[str]:
        """Domains with samples in a stage."""
        ...

    def samples(
        self, *, stage: str | None = None, domain: str | None = None, order: Pick, limit: int
    ) -> Sequence[SampleLike]:
        """The best, worst or a random choice of the samples of a domain in a stage."""
        ...

    def groups_drawn(self, stage: str) -> Mapping[str, int]:
        """Groups drawn by domain."""
        ...

    def verdict_counts(self, stage: str) -> Mapping[str, Mapping[str, int]]:
        """Samples by domain and kind of verdict."""
        ...

    def events(self) -> Sequence[EventLike]:
        """Everything that happened."""
        ...

    def stages(self) -> Sequence[StageLike]:
        """What each stage cost."""
        ...
