"""Everything about a run that is neither weights nor optimiser: a few numbers, saved with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from burnish.algorithms.controls import AT_REST, Controls
from burnish.algorithms.scales import DomainScales
from burnish.training.guard import NOTHING_SEEN, GuardState
from burnish.training.ledger import Ledger
from burnish.training.quarantine import NONE_OPEN, Breakers

_RECORDS = ("ordinal", "ledger", "scales", "controls", "guard", "breakers", "fault_streak")
"""Fields that are more than plain data, and two of older states."""


@dataclass(frozen=True)
class RunState:
    """Where a run stands. Immutable; a step makes a new one."""

    stage: str = "start"
    """Stage in progress, or the one that ended last."""
    step: int = 0
    """Optimiser steps of that stage so far."""
    finished: bool = True
    """Whether the stage has ended."""
    version: int = 0
    """Optimiser steps of the run, all stages together: the weight version."""
    ledger: Ledger = field(default_factory=Ledger)
    """Groups numbered so far and those under way."""
    curriculum: Mapping[str, Any] = field(default_factory=dict)
    """State of the curriculum policy in its JSON form; empty before the first draw."""
    scales: DomainScales = field(default_factory=DomainScales)
    """Running reward spread of each domain."""
    breakers: Breakers = NONE_OPEN
    """Domains whose graders fault."""
    seconds: float = 0.0
    """Time spent in the stage."""
    tokens_generated: int = 0
    """Completion tokens drawn in the stage."""
    tokens_trained: int = 0
    """Tokens of forward and backward passes in the stage, prompts included."""
    controls: Controls = AT_REST
    """Where the controllers of KL and entropy stand."""
    guard: GuardState = NOTHING_SEEN
    """What the collapse guard remembers."""

    @property
    def ordinal(self) -> int:
        """Groups numbered so far."""
        return self.ledger.frontier

    def to_json(self) -> dict[str, Any]:
        """Plain data for `json.dumps`."""
        return {
            **asdict(self),
            "curriculum": dict(self.curriculum),
            "scales": self.scales.to_json(),
            "controls": self.controls.to_json(),
            "guard": self.guard.to_json(),
            "breakers": self.breakers.to_json(),
            "ledger": self.ledger.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunState:
        """Inverse of `to_json`; also reads states from before there was a ledger."""
        rest = {name: value for name, value in data.items() if name not in _RECORDS}
        numbered = data.get("ordinal", 0)
        ledger = data.get("ledger", {"frontier": numbered, "first": numbered, "open": []})
        scales = DomainScales.from_json(data["scales"])
        controls = Controls.from_json(data.get("controls", {}))
        guard = GuardState.from_json(data.get("guard", {}))
        return cls(
            **rest, scales=scales, controls=controls, guard=guard, ledger=Ledger.from_json(ledger),
            breakers=Breakers.from_json(data.get("breakers", {})),
        )  # fmt: skip

    def begin(self, stage: str) -> RunState:
        """The state at the start of a stage; itself when that stage is already under way."""
        if self.stage == stage and not self.finished:
            return self
        return RunState(
            stage=stage,
            finished=False,
            version=self.version,
            ledger=self.ledger,
            curriculum=self.curriculum,
            scales=self.scales,
        )
