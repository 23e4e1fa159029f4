"""AdamW on float32 master weights, for a model whose arithmetic may be bfloat16.

Gradients leave the model as soon as they are complete and are summed in float32, so any number of
micro-batches adds no rounding of its own and no gradient exists twice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn

from burnish.errors import ModelError
from burnish.spans import timed

Schedule = Literal["constant", "cosine", "linear"]


@dataclass(frozen=True, slots=True)
class OptimiserPlan:
    """Settings of the optimiser for one stage."""

    steps: int
    lr: float
    warmup: int
    schedule: Schedule
    floor: float
    """Learning rate of the last step as a share of the peak (cosine and linear)."""
    betas: tuple[float, float]
    weight_decay: float
    max_grad_norm: float


def masters_of(parameters: Mapping[str, nn.Parameter]) -> dict[str, Tensor]:
    """Float32 copies of a model's present weights."""
    return {n: p.detach().float().clone() for n, p in parameters.items()}


def learning_rate(plan: OptimiserPlan, step: int) -> float:
    """Learning rate of a step counted from 0: linear warm-up, then the schedule down to the floor."""
    if step < plan.warmup:
        return plan.lr * (step + 1) / (plan.warmup + 1)
    done = min(1.0, (step - plan.warmup) / max(1, plan.steps - plan.warmup - 1))
    shape = {"constant": 1.0, "linear": 1 - done, "cosine": (1 + math.cos(math.pi * done)) / 2}[plan.schedule]
    floor = 1.0 if plan.schedule == "constant" else plan.floor
    return plan.lr * (floor + (1 - floor) * shape)


class MasterOptimiser:
    """Owns the float32 masters and the AdamW moments of a model's trainable parameters."""

    def __init__(
        self, parameters: Mapping[str, nn.Parameter], masters: Mapping[str, Tensor], plan: OptimiserPlan
    ):
        """Start with zero moments.

        Args:
            parameters: of the model, by name.
            masters: their float32 values; updated in place.
            plan: settings of the stage.
        """
        self.plan = plan
        self.parameters = dict(parameters)
        self.masters = dict(masters)
        self.gradients = {n: torch.zeros_like(m) for n, m in self.masters.items()}
        self._first = {n: torch.zeros_like(m) for n, m in self.masters.items()}
        self._second = {n: torch.zeros_like(m) for n, m in self.masters.items()}
        self.step_count = 0
        self._hooks = [
            p.register_post_accumulate_grad_hook(partial(_take_gradient, self.gradients[n]))
            for n, p in self.parameters.items()
        ]

    def close(self) -> None:
        """Detach from the model; gradients stay on its parameters again."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []

    def zero(self) -> None:
        """Forget the gradients gathered so far, also those of a backward pass that broke off."""
        for gradient in self.gradients.values():
            gradient.zero_()
        for parameter in self.parameters.values():
            parameter.grad = None

    def forget(self) -> None:
        """Start anew: no moments, no steps; weights and gathered gradients stay."""
        for moment in (*self._first.values(), *self._second.values()):
            moment.zero_()
        self.step_count = 0

    def gradient_norm(self) -> float:
        """Global L2 norm of the gathered gradients."""
        norms = [torch.linalg.vector_norm(g) for g in self.gradients.values()]
        return float(torch.stack(norms).norm())

    @timed("optimiser")
    def step(self, lr: float) -> float:
        """Clip, take one AdamW step, refresh the model's weights, forget the gradients.

        Returns:
            The gradient norm before clipping.
        """
        norm = self.gradient_norm()
        self.step_count += 1
        scale = min(1.0, self.plan.max_grad_norm / (norm + 1e-6))
        self._adamw(lr, scale)
        self._refresh_model()
        self.zero()
        return norm

    @torch.no_grad()
    def _refresh_model(self) -> None:
        for name, parameter in self.parameters.items():
            parameter.copy_(self.masters[name])

    @torch.no_grad()
    def _adamw(self, lr: float, scale: float) -> None:
        """Decoupled weight decay (Loshchilov & Hutter, 1711.05101), fused over all parameters."""
        gradients = list(self.gradients.values())
        for gradient in gradients:
            gradient.mul_(scale)
        masters = list(self.masters.values())
        torch._fused_adamw_(  # pyright: ignore[reportPrivateImportUsage]
            masters, gradients, list(self._first.values()), list(self._second.values()), [],
            [torch.tensor(float(self.step_count)) for _ in masters],
            lr=lr, beta1=self.plan.betas[0], beta2=self.plan.betas[1], weight_decay=self.plan.weight_decay,
            eps=1e-8, amsgrad=False, maximize=False,
        )  # fmt: skip

    def state(self) -> dict[str, Tensor]:
        """Moments, step count and masters by name, for a checkpoint; tensors are not copied."""
        tensors = {f"first/{n}": t for n, t in self._first.items()}
        tensors |= {f"second/{n}": t for n, t in self._second.items()}
        tensors |= {f"master/{n}": t for n, t in self.masters.items()}
        return tensors | {"step": torch.tensor([self.step_count])}

    @torch.no_grad()
    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Inverse of `state`; also refreshes the model's weights.

        Raises:
            ModelError: the tensors are those of another model.
        """
        own = self.state()
        if own.keys() != tensors.keys() or any(own[n].shape != t.shape for n, t in tensors.items()):
            odd = sorted(own.keys() ^ tensors.keys())[:3]
            raise ModelError(
                "the optimiser state belongs to another model",
                got=f"differing tensors, for example {odd}",
                expected=f"{len(own)} tensors of this model",
                next_step="resume with the recipe the run was started with",
            )
        for name, tensor in tensors.items():
            own[name].copy_(tensor)
        self.step_count = int(tensors["step"])
        self._refresh_model()


def _take_gradient(total: Tensor, parameter: Tensor) -> None:
    assert parameter.grad is not None  # noqa: S101
    total.add_(parameter.grad)
    parameter.grad = None
