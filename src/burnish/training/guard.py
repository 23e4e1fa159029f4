"""The collapse guard: rules of the recipe that act when a figure of the run goes wrong, and say so.

    entropy     below the limit, in nats a token
    kl          above the limit, in nats a token to the reference
    grad_norm   above the limit times the median of the last 20 steps
    reward      the mean of the last 10 steps lies more than the limit under the best such mean so far

A rule trips after `patience` such steps in a row. It warns, lowers the learning rate by `factor` for the rest
of the stage, or also takes weights and moments back from the newest checkpoint older than the first of those
steps; the data go on. Afterwards it rests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

from burnish.recipe import GuardRule
from burnish.training.retention import Saved

NORMS = 20
"""Steps over which the usual gradient norm is taken."""
WINDOW = 10
"""Steps over which the reward is averaged."""


@dataclass(frozen=True, slots=True)
class Trip:
    """A rule that acts."""

    rule: GuardRule
    first: int
    """First of the steps in a row."""
    sentence: str


@dataclass(frozen=True, slots=True)
class GuardState:
    """What the guard remembers; part of the state of a run."""

    rate: float = 1.0
    """Factor on the learning rate."""
    streaks: tuple[int, ...] = ()
    """Steps in a row that each rule has found fault with."""
    rests: tuple[int, ...] = ()
    """Step up to which each rule rests."""
    norms: tuple[float, ...] = ()
    rewards: tuple[float, ...] = ()
    best: float | None = None
    """Highest mean reward of 10 steps."""

    def to_json(self) -> dict[str, Any]:
        """Plain data for `json.dumps`."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GuardState:
        """Inverse of `to_json`."""
        plain: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
        return cls(**plain)

    def after(
        self, rules: Sequence[GuardRule], step: int, figures: Mapping[str, float]
    ) -> tuple[GuardState, list[Trip]]:
        """The state after a step, and the rules that trip at it.

        Args:
            rules: of the recipe.
            step: counted from 1.
            figures: `entropy`, `kl`, `grad_norm` and `reward` of the step, where known.
        """
        if not rules:
            return self, []
        seen = self._watch(figures)
        found = [_wrong(rule, self, seen, figures) for rule in rules]
        streaks = self.streaks or (0,) * len(rules)
        rests = self.rests or (0,) * len(rules)
        counted = [
            count + 1 if wrong and step > rest else 0
            for wrong, count, rest in zip(found, streaks, rests, strict=True)
        ]
        trips: list[Trip] = []
        for i, rule in enumerate(rules):
            if counted[i] >= rule.patience:
                trips.append(Trip(rule, step - counted[i] + 1, found[i]))
                counted[i] = 0
                rests = (*rests[:i], step + rule.rest, *rests[i + 1 :])
        return replace(seen, streaks=tuple(counted), rests=rests), trips

    def lowered(self, factor: float) -> GuardState:
        """With a lower learning rate."""
        return replace(self, rate=self.rate * factor)

    def restored(self) -> GuardState:
        """After other weights were put in place: what they did is forgotten."""
        return replace(self, streaks=(0,) * len(self.streaks), norms=(), rewards=())

    def _watch(self, figures: Mapping[str, float]) -> GuardState:
        norms = _appended(self.norms, figures.get("grad_norm"), NORMS)
        rewards = _appended(self.rewards, figures.get("reward"), WINDOW)
        best = self.best
        if len(rewards) == WINDOW:
            best = max(sum(rewards) / WINDOW, -math.inf if best is None else best)
        return replace(self, norms=norms, rewards=rewards, best=best)


def last_good(checkpoints: Sequence[Saved], before: int) -> Saved | None:
    """The newest checkpoint in the middle of reinforcement learning that is older than a step."""
    fit = [c for c in checkpoints if c.stage == "rl" and not c.finished and c.step < before]
    return max(fit, key=lambda c: c.version, default=None)


NOTHING_SEEN = GuardState()
"""Where the guard begins."""


def _appended(values: tuple[float, ...], value: float | None, most: int) -> tuple[float, ...]:
    if value is None or not math.isfinite(value):
        return values
    return (*values, value)[-most:]


def _wrong(rule: GuardRule, before: GuardState, seen: GuardState, figures: Mapping[str, float]) -> str:
    """What a rule finds fault with, in words; empty when nothing."""
    if rule.watch == "reward":
        if seen.best is None or len(seen.rewards) < WINDOW:
            return ""
        now = sum(seen.rewards) / WINDOW
        drop = seen.best - now
        return f"reward {now:.3g} is {drop:.3g} under its best {seen.best:.3g}" if drop > rule.limit else ""
    value = figures.get(rule.watch, math.nan)
    if not math.isfinite(value):
        return ""
    if rule.watch == "grad_norm":
        return _spike(rule, before, value)
    name, low = ("entropy", True) if rule.watch == "entropy" else ("KL to the reference", False)
    wrong = value < rule.limit if low else value > rule.limit
    return f"{name} {value:.3g} is {'below' if low else 'above'} {rule.limit:g} nats a token" if wrong else ""


def _spike(rule: GuardRule, before: GuardState, value: float) -> str:
    if len(before.norms) < NORMS // 2:
        return ""
    usual = median(before.norms)
    if value <= rule.limit * usual:
        return ""
    return f"gradient norm {value:.3g} is {value / max(usual, 1e-12):.3g} times its median {usual:.3g}"
