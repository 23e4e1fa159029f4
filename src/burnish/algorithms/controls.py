"""Coefficients that follow the run: the KL controller and the entropy controller.

    kl        beta <- beta (1 + clip(KL / target - 1, -0.2, 0.2) n / horizon)           1909.08593
    entropy   c <- c + step where H < target, max(0, c - step) elsewhere                2505.22312

H and KL are those of the step's tokens, n its completions. The entropy bonus counts only while H is below
its target, and c starts at 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from burnish.algorithms.settings import AlgorithmSettings

LARGEST_ERROR = 0.2


@dataclass(frozen=True, slots=True)
class Controls:
    """Where the controllers stand; part of the state of a run."""

    kl_scale: float = 1.0
    """Factor on every kl_coef."""
    entropy_raise: float = 0.0
    """What the entropy controller adds to every entropy_coef, while `entropy_on`."""
    entropy_on: bool = True
    """Whether the entropy was below its target."""

    @property
    def entropy_extra(self) -> float:
        """What is added to entropy_coef in the next update."""
        return self.entropy_raise if self.entropy_on else 0.0

    def to_json(self) -> dict[str, float | bool]:
        """Plain data for `json.dumps`."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, float | bool]) -> Controls:
        """Inverse of `to_json`."""
        return cls(**data)  # pyright: ignore[reportArgumentType]

    def after(self, settings: AlgorithmSettings, figures: Mapping[str, float], samples: int) -> Controls:
        """The controls of the next step, given the figures `kl` and `entropy` of this one; see the header."""
        scale, extra, on = self.kl_scale, self.entropy_raise, self.entropy_on
        if settings.kl_target > 0 and math.isfinite(figures.get("kl", math.nan)):
            error = figures["kl"] / settings.kl_target - 1
            bounded = max(-LARGEST_ERROR, min(LARGEST_ERROR, error))
            scale *= max(0.0, 1 + bounded * samples / settings.kl_horizon)
        entropy = figures.get("entropy", math.nan)
        if settings.entropy_target > 0 and math.isfinite(entropy):
            on = entropy <= settings.entropy_target
            step = settings.entropy_step
            extra = extra + step if entropy < settings.entropy_target else max(0.0, extra - step)
        return Controls(scale, extra, on)


AT_REST = Controls()
"""Where controllers begin."""
