"""What an engine holds, told in a form that can be compared with what the trainer sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.records import WeightVersion
from burnish.rollout.engine import Engine


@dataclass(frozen=True, slots=True)
class Probe:
    """A fixed prompt with a fixed completion to be scored."""

    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """What a policy holds after a sync: of an engine, or of the trainer, which must agree."""

    version: WeightVersion
    checksums: Mapping[str, str]
    """Of each parameter by name; see `burnish.models.checksums`."""
    logprobs: tuple[float, ...]
    """Natural-log probability of every completion token of the probes, in order."""


def held_by(engine: Engine, probes: Sequence[Probe]) -> Held:
    """Ask an engine."""
    scores = [p for probe in probes for p in engine.score(probe.prompt_ids, probe.completion_ids)]
    return Held(engine.version, engine.checksums(), tuple(scores))
