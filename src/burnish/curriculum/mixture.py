"""Stratified mixture: every domain in turn, in proportion to its weight, without drift.

Domain d with share s_d of the weight has had n_d of N draws. Its next draw is released once n_d < (N+1) s_d
and due before (n_d+1)/s_d; of the released, the one due first is drawn. This is the quota method (Still 1979;
Balinski & Young 1979): n_d is N s_d rounded up or down at every moment. With equal weights it is round-robin,
so a domain appears at least every ceil(D/P) steps of P prompts. Equal due times are ordered by a permutation
keyed by the seed and fixed for the run; a new one each round would let a domain wait almost two rounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from burnish.curriculum.base import Draw, Outcome
from burnish.curriculum.weights import resolve_weights
from burnish.errors import DomainError, RecipeError, TrainingError, suggestion
from burnish.randomness import permutation


@dataclass(frozen=True, slots=True)
class MixtureState:
    """Where the mixture stands; `MixtureState()` is the start of a run."""

    step: int = 0
    """Number of calls of `draw` so far."""
    next_index: Mapping[str, int] = field(default_factory=dict, hash=False)
    """First index of each domain that was not drawn yet."""
    taken: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Draws credited to each domain when shares are balanced."""
    quarantined: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Domains that are drawn no more, and why."""

    def to_json(self) -> dict[str, object]:
        """Plain data for `json.dumps`."""
        return {
            "step": self.step,
            "next_index": dict(self.next_index),
            "taken": dict(self.taken),
            "quarantined": dict(self.quarantined),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> MixtureState:
        """Inverse of `to_json`."""
        return cls(data["step"], data["next_index"], data["taken"], data["quarantined"])


class Mixture:
    """The policy `stratified`. Holds only what never changes in a run."""

    def __init__(self, levels: Mapping[str, int], weights: Mapping[str, float] | None = None, seed: int = 0):
        """Check the weights.

        Args:
            levels: training level of each domain.
            weights: weight by name or pattern, see `resolve_weights`.
            seed: seed of the run.

        Raises:
            RecipeError: there is no domain, or a weight is wrong.
        """
        if not levels:
            raise RecipeError(
                "there is no domain to train on", got="domains.train selects nothing",
                expected="at least one domain", next_step="list one in domains.train",
            )  # fmt: skip
        self.levels = dict(sorted(levels.items()))
        self.weights = resolve_weights(self.levels, weights or {})
        self.seed = seed
        ranks = permutation(len(self.levels), seed, "mixture", "turn")
        self._by_rank = [name for _, name in sorted(zip(ranks, self.levels, strict=True))]

    def start(self) -> MixtureState:
        """State at the start of a run."""
        return MixtureState()

    def restore(self, data: Mapping[str, object]) -> MixtureState:
        """State from its JSON form."""
        return MixtureState.from_json(data)

    def active(self, state: MixtureState) -> list[str]:
        """Domains that can be drawn: weight above 0 and not quarantined."""
        return [name for name, weight in self.weights.items() if weight > 0 and name not in state.quarantined]

    def shares(self, state: MixtureState) -> dict[str, float]:
        """Long-run share of each active domain; they sum to 1."""
        names = self.active(state)
        total = sum(self.weights[name] for name in names)
        return {name: self.weights[name] / total for name in names}

    def deficits(self, state: MixtureState) -> dict[str, float]:
        """Draws each active domain is owed (above 0) or ahead (below 0)."""
        taken = self._taken(state)
        drawn = sum(taken.values())
        return {name: share * drawn - taken[name] for name, share in self.shares(state).items()}

    def draw(self, state: MixtureState, count: int) -> tuple[list[Draw], MixtureState]:
        """The next `count` tasks, in an order keyed by (seed, step).

        Raises:
            TrainingError: no domain is left to draw from.
        """
        if count < 0:
            raise ValueError(f"count must be 0 or more, got {count}")
        self._expect_active(state)
        taken = self._taken(state)
        next_index = dict(state.next_index)
        draws = [self._draw_one(name, next_index) for name in self._turns(taken, count)]
        order = permutation(count, self.seed, "mixture", "step", state.step)
        new = replace(state, step=state.step + 1, next_index=next_index, taken={**state.taken, **taken})
        return [draws[i] for i in order], new

    def observe(self, state: MixtureState, outcomes: Sequence[Outcome]) -> MixtureState:
        """Nothing is learnt: shares are fixed."""
        return state

    def quarantine(self, state: MixtureState, domain: str, reason: str) -> MixtureState:
        """Draw no more from a domain; the others share its part. The first reason is kept.

        Raises:
            DomainError: the domain is not part of the mixture.
        """
        if domain not in self.levels:
            raise DomainError(
                "cannot quarantine a domain that is not in the mixture", got=domain,
                expected="one of the training domains", next_step=suggestion(domain, self.levels),
            )  # fmt: skip
        return replace(state, quarantined={domain: reason, **state.quarantined})

    def release(self, state: MixtureState, domain: str) -> MixtureState:
        """Draw again from a domain, which starts level with the others."""
        taken = {name: count for name, count in state.taken.items() if name != domain}
        kept = {name: why for name, why in state.quarantined.items() if name != domain}
        return replace(state, quarantined=kept, taken=taken)

    def _draw_one(self, name: str, next_index: dict[str, int]) -> Draw:
        index = next_index.get(name, 0)
        next_index[name] = index + 1
        return Draw(name, self.levels[name], index)

    def _taken(self, state: MixtureState) -> dict[str, int]:
        """Draws credited to the active domains; one that joins late starts level with the others."""
        names = self.active(state)
        known = [name for name in names if name in state.taken]
        if len(known) == len(names):
            return {name: state.taken[name] for name in names}
        weight = sum(self.weights[name] for name in known)
        pace = sum(state.taken[name] for name in known) / weight if known else 0.0
        return {name: state.taken.get(name, int(pace * self.weights[name])) for name in names}

    def _turns(self, taken: dict[str, int], count: int) -> list[str]:
        """Names of the next `count` draws; `taken` is brought up to date.

        Over D domains in the order of their ranks, so that the first of equal due times is the one wanted.
        """
        names = [name for name in self._by_rank if name in taken]
        weights = np.array([self.weights[name] for name in names])
        counts = np.array([taken[name] for name in names], np.float64)
        total, drawn = sum(self.weights[name] for name in taken), sum(taken.values())
        credit, due = counts * total, (counts + 1) / weights
        turns = []
        for number in range(drawn + 1, drawn + count + 1):
            released = credit < number * weights
            # Shares that changed under quarantine, or rounding, can leave nothing released for a moment.
            first = int(np.where(released, due, np.inf).argmin() if released.any() else due.argmin())
            name = names[first]
            taken[name] += 1
            credit[first], due[first] = taken[name] * total, (taken[name] + 1) / weights[first]
            turns.append(name)
        return turns

    def _expect_active(self, state: MixtureState) -> None:
        if self.active(state):
            return
        reasons = "; ".join(f"{name}: {why}" for name, why in state.quarantined.items())
        raise TrainingError(
            "no domain is left to train on", got=f"all are quarantined ({reasons})",
            expected="at least one working domain", next_step="mend these domains and resume",
        )  # fmt: skip
