"""What follows the policy besides its weights: the coefficients of the pulls, and the reference itself.

The reference is frozen unless the recipe moves it: it becomes the present policy every so many steps, and the
optimiser starts anew (ProRL, 2505.24864), or it follows by a moving average (TR-DPO, 2404.09656).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from burnish.algorithms.controls import Controls
from burnish.algorithms.settings import AlgorithmSettings
from burnish.models.policy import copy_weights
from burnish.records import Group
from burnish.training.optimiser import MasterOptimiser
from burnish.training.stage import Workbench
from burnish.training.state import RunState
from burnish.training.update import Reference

HELD = "reference"
"""Name of the moving reference's weights in a checkpoint."""


class MovingReference:
    """Float32 weights of a reference that moves; they are part of every checkpoint."""

    def __init__(self, reference: Reference, masters: Mapping[str, Tensor]) -> None:
        """Begin where the policy stands.

        Args:
            reference: its model is overwritten as the weights move.
            masters: float32 weights of the policy, by name.
        """
        self._model = reference.policy.model
        self._weights = {name: tensor.detach().clone() for name, tensor in masters.items()}

    @torch.no_grad()
    def follow(self, masters: Mapping[str, Tensor], decay: float) -> None:
        """Keep `decay` of the weights and take the rest from the policy; 0 makes it the policy."""
        for name, weight in self._weights.items():
            weight.lerp_(masters[name], 1 - decay)
        copy_weights(self._model, self._weights)

    def tensors(self) -> dict[str, Tensor]:
        """For a checkpoint."""
        return self._weights

    @torch.no_grad()
    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Inverse of `tensors`."""
        for name, weight in self._weights.items():
            weight.copy_(tensors[name])
        copy_weights(self._model, self._weights)


@dataclass(frozen=True, slots=True)
class Steering:
    """Acts after each step by the `[algorithm]` table."""

    settings: AlgorithmSettings
    reference: MovingReference | None = None

    @classmethod
    def begin(cls, settings: AlgorithmSettings, reference: Reference | None, bench: Workbench) -> Steering:
        """At the start of a stage, before its optimiser is restored."""
        if reference is None or not settings.moves_reference:
            return cls(settings)
        moving = MovingReference(reference, bench.masters)
        bench.held[HELD] = moving
        return cls(settings, moving)

    def after_step(
        self,
        bench: Workbench,
        optimiser: MasterOptimiser,
        state: RunState,
        figures: dict[str, float],
        groups: Sequence[Group],
    ) -> Controls:
        """Move the reference and the coefficients.

        Args:
            bench: hears of a reset.
            optimiser: has just taken its step; starts anew at a reset.
            state: before the step is counted.
            figures: of the step; those of the controllers are added.
            groups: of the step, with the completions of the policy.
        """
        self._move(bench, optimiser, state.step + 1)
        controls = state.controls.after(
            self.settings, _measured(figures), sum(len(g.samples) for g in groups)
        )
        if self.settings.kl_target:
            figures["kl_scale"] = controls.kl_scale
        if self.settings.entropy_target:
            figures["entropy_bonus"] = self.settings.entropy_coef + controls.entropy_extra
        return controls

    def _move(self, bench: Workbench, optimiser: MasterOptimiser, step: int) -> None:
        s = self.settings
        if self.reference is None:
            return
        if s.reference_every and step % s.reference_every == 0:
            self.reference.follow(optimiser.masters, 0.0)
            optimiser.forget()
            sentence = f"step {step}: the reference is now the present policy, and the optimiser starts anew"
            bench.console.say(sentence)
            bench.store.add_event("rl", step, "info", "reference", sentence)
        elif s.reference_decay:
            self.reference.follow(optimiser.masters, s.reference_decay)


def _measured(figures: Mapping[str, float]) -> dict[str, float]:
    """Figures with the exact entropy in the place of the estimate, where it was computed."""
    entropy = figures.get("exact_entropy", figures.get("entropy"))
    return {**figures, "entropy": entropy} if entropy is not None else dict(figures)
