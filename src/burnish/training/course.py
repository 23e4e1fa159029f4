"""The course of one unit: a few groups from request to verdict, drawn in one or more parts.

A completion that is drawn in parts is continued by a request of its own: the prompt with what is there
already, whose keys and values are computed again under the newer weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from burnish.records import Group, Sample, StopReason, WeightVersion
from burnish.rollout.engine import Request, Unit
from burnish.training.collect import Collector


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the completions of a batch."""

    version: WeightVersion
    tokens: int
    """Most tokens of it."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Which weights draw what; a function of the step alone, so every run of a recipe is the same."""

    origin: WeightVersion
    """Version at the start of the stage."""
    bound: int
    """Staleness bound eta."""
    partial: bool
    max_tokens: int

    def segments(self, step: int) -> tuple[Segment, ...]:
        """Parts of the completions for a step: part j is drawn with version step - eta + j.

        Parts of equal version, which only the first steps have, are one.
        """
        parts = min(self.bound + 1, self.max_tokens) if self.partial else 1
        share, rest = divmod(self.max_tokens, parts)
        merged: list[Segment] = []
        for j in range(parts):
            version, tokens = self.origin + max(0, step - self.bound + j), share + (j < rest)
            if merged and merged[-1].version == version:
                tokens += merged.pop().tokens
            merged.append(Segment(version, tokens))
        return tuple(merged)


@dataclass(frozen=True, slots=True)
class Course:
    """Where a unit stands; a part drawn makes a new one."""

    step: int
    number: int
    groups: tuple[Group, ...]
    """With the samples so far; without verdicts."""
    segments: tuple[Segment, ...]
    done: int = 0
    """Parts drawn."""

    @property
    def complete(self) -> bool:
        """Whether nothing is left to draw."""
        return self.done == len(self.segments)

    def unit(self, collector: Collector, origin: WeightVersion) -> Unit:
        """What is to be drawn next; its requests are in the order that `absorb` expects."""
        segment = self.segments[self.done]
        draw = _first if self.done == 0 else _continued
        requests = tuple(r for g in self.groups for r in draw(g, segment, collector, origin + self.step))
        return Unit(self.step, self.number, self.done, segment.version, requests)

    def absorb(self, drawn: Sequence[tuple[Sample, ...]], collector: Collector) -> Course:
        """Take in the samples of the part that `unit` asked for."""
        last = self.done + 1 == len(self.segments)
        if self.done == 0:
            pairs = zip(self.groups, drawn, strict=True)
            groups = tuple(replace(g, samples=samples) for g, samples in pairs)
        else:
            more = iter([sample for (sample,) in drawn])
            groups = tuple(
                replace(g, samples=tuple(_longer(s, more, collector) for s in g.samples)) for g in self.groups
            )
        course = replace(self, groups=groups, done=self.done + 1)
        if not last and not any(is_open(s) for g in groups for s in g.samples):
            return replace(course, done=len(self.segments))
        return course


def is_open(sample: Sample) -> bool:
    """Whether a sample ended only because its part did."""
    return sample.stop is StopReason.LENGTH


def _first(group: Group, segment: Segment, collector: Collector, version: int) -> list[Request]:
    stream = (collector.seed, "rollout", version, group.ordinal)
    return [Request(group.prompt_ids, collector.temperatures, segment.tokens, stream)]


def _continued(group: Group, segment: Segment, collector: Collector, version: int) -> list[Request]:
    return [
        Request(
            group.prompt_ids + s.token_ids,
            (collector.temperatures[s.index],),
            segment.tokens,
            (collector.seed, "rollout", version, group.ordinal, "part", s.index, len(s.token_ids)),
        )
        for s in group.samples
        if is_open(s)
    ]


def _longer(sample: Sample, more: Iterator[Sample], collector: Collector) -> Sample:
    if not is_open(sample):
        return sample
    part = next(more)
    ids = sample.token_ids + part.token_ids
    return replace(
        sample,
        text=collector.policy.decode(ids),
        token_ids=ids,
        logprobs=sample.logprobs + part.logprobs,
        versions=sample.versions + part.versions,
        stop=part.stop,
    )
