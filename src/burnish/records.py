"""Frozen records that rooms hand each other; nothing here computes or imports a framework.

A task is drawn from a domain, a group is one task with the samples the policy wrote for it, and a
verdict says what a grader concluded about one sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

WeightVersion = int
"""Number of optimiser steps taken since the run began; 0 is the starting model."""


class Split(StrEnum):
    """Which part of a domain a task belongs to; the three never share a task."""

    TRAIN = "train"
    EVAL = "eval"
    HOLDOUT = "holdout"


class StopReason(StrEnum):
    """Why a sample ended."""

    EOS = "eos"
    LENGTH = "length"


class Boundary(StrEnum):
    """Who is to blame for a fault."""

    DOMAIN = "domain"
    SANDBOX = "sandbox"
    JUDGE = "judge"
    ENGINE = "engine"
    NETWORK = "network"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str


@dataclass(frozen=True, slots=True)
class Task:
    """One exercise: what the policy sees, and what its grader needs."""

    domain: str
    """Full name of the domain, for example `reasoning-gym/arithmetic/chain_sum`."""
    split: Split
    level: int
    """Difficulty, 0 is the easiest."""
    index: int
    """Position within (domain, split, level)."""
    messages: tuple[Message, ...]
    """The prompt, as a conversation that ends with a user turn."""
    gold: str | None = None
    """A completion that earns full marks, if one is known; used for supervised fine-tuning."""
    data: Mapping[str, object] = field(default_factory=dict, hash=False)
    """What only the grader may see."""

    @property
    def key(self) -> str:
        """Unique name of the task within a run."""
        return f"{self.domain}:{self.split}:{self.level}:{self.index}"


@dataclass(frozen=True, slots=True)
class Sample:
    """One completion written by a policy."""

    text: str
    """Decoded completion, without special tokens."""
    index: int = 0
    """Position within its group."""
    token_ids: tuple[int, ...] = ()
    """Completion tokens as sampled, the end-of-sequence token included when it was drawn."""
    logprobs: tuple[float, ...] = ()
    """Natural-log probability of each token under the distribution it was drawn from."""
    versions: tuple[WeightVersion, ...] = ()
    """Weight version that drew each token."""
    stop: StopReason = StopReason.EOS


@dataclass(frozen=True, slots=True)
class Scored:
    """A grader reached a conclusion. Only this verdict ever reaches an advantage."""

    value: float
    """Reward in [0, 1]."""
    passed: bool
    """Whether the sample counts as a success in accuracy figures."""
    parts: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Named components of the value, for logging."""
    steps: tuple[float, ...] = ()
    """Reward of each step, when the grader is a process grader."""


@dataclass(frozen=True, slots=True)
class Abstained:
    """The grader cannot tell; the sample is neither right nor wrong."""

    reason: str


@dataclass(frozen=True, slots=True)
class Faulted:
    """Something of ours or of the infrastructure broke; never counted as a wrong answer."""

    boundary: Boundary
    error: str


Verdict = Scored | Abstained | Faulted


@dataclass(frozen=True, slots=True)
class Group:
    """One task with every sample drawn for it, and their verdicts."""

    ordinal: int
    """Number of the group within the run; never reused."""
    task: Task
    prompt_ids: tuple[int, ...]
    """The prompt exactly as the policy saw it."""
    samples: tuple[Sample, ...]
    verdicts: tuple[Verdict, ...]
