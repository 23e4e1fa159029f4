"""The numbers of TRL: the losses of GRPOTrainer with gradients, and the overlong penalty."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from cases import case, inputs, write
from trl.rewards import get_soft_overlong_punishment
from trl.trainer.grpo_trainer import GRPOTrainer

MODULE = "trl/trainer/grpo_trainer.py"
LONGEST = 8


class _OneProcess:
    """Stands for `accelerate` where there is one process."""

    num_processes = 1
    sync_gradients = True

    def gather(self, x: torch.Tensor) -> torch.Tensor:
        return x

    gather_for_metrics = gather

    def reduce(self, x: torch.Tensor, reduction: str = "sum") -> torch.Tensor:
        return x


def trainer(new: torch.Tensor, loss_type: str, level: str, **settings: Any) -> SimpleNamespace:
    """What `_compute_loss` reads of a trainer, with log-probs given instead of computed."""
    arguments = {
        "delta": None, "use_bias_correction_kl": False, "sapo_temperature_pos": 1.0,
        "sapo_temperature_neg": 1.05, "steps_per_generation": 1,
    }  # fmt: skip
    fields = {
        "aux_loss_enabled": False, "top_entropy_quantile": 1.0, "off_policy_mask_threshold": None,
        "epsilon_low": 0.2, "epsilon_high": 0.28, "use_vllm": False, "beta": 0.0,
        "_entropy_bonus_enabled": False, "max_completion_length": LONGEST, "loss_type": loss_type,
        "importance_sampling_level": level, "current_gradient_accumulation_steps": 1,
        "accelerator": _OneProcess(), "model": SimpleNamespace(training=True),
        "_metrics": {"train": defaultdict(list), "eval": defaultdict(list)},
    }  # fmt: skip
    for key, value in settings.items():
        (arguments if key in arguments else fields)[key] = value
    entropy = torch.zeros_like(new)
    fields["_get_per_token_logps_and_entropies"] = lambda *args, **kw: (new, entropy, None)
    return SimpleNamespace(args=SimpleNamespace(**arguments), **fields)


PLANS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "grpo": ("grpo", "token", {}),
    "grpo_k3": ("grpo", "token", {"beta": 0.3}),
    "dr_grpo": ("dr_grpo", "token", {"epsilon_high": 0.2}),
    "dapo": ("dapo", "token", {}),
    "gspo": ("grpo", "sequence", {"epsilon_low": 3e-2, "epsilon_high": 4e-2}),
    "cispo": ("cispo", "token", {"epsilon_high": 1.2}),
    "sapo": ("sapo", "token", {}),
}


def losses(x: dict[str, torch.Tensor]) -> dict[str, Any]:
    """Loss and gradient of each loss type."""
    found: dict[str, Any] = {}
    for name, (loss_type, level, settings) in PLANS.items():
        new = x["new"].clone().requires_grad_()
        batch = {
            "prompt_ids": torch.zeros(12, 1, dtype=torch.int64), "prompt_mask": torch.ones(12, 1),
            "completion_ids": torch.zeros(12, 6, dtype=torch.int64), "completion_mask": x["mask"],
            "advantages": x["advantages"][:, 0], "old_per_token_logps": x["old"],
            "ref_per_token_logps": x["ref"], "num_items_in_batch": x["mask"].sum(),
        }  # fmt: skip
        loss = GRPOTrainer._compute_loss(trainer(new, loss_type, level, **settings), None, batch)
        (gradient,) = torch.autograd.grad(loss, new)
        found[f"loss/{name}"] = case(
            f"GRPOTrainer._compute_loss ({loss_type}, {level})",
            {"loss": loss, "gradient": gradient},
            settings,
        )
    return found


def overlong() -> dict[str, Any]:
    """The soft punishment at every length up to the longest."""
    lengths = list(range(1, 21))
    rewards = get_soft_overlong_punishment(20, 5)([[0] * n for n in lengths])
    settings = {"longest": 20, "share": 0.25, "lengths": lengths}
    return {"overlong": case("get_soft_overlong_punishment", {"rewards": rewards}, settings)}


if __name__ == "__main__":
    data = inputs()
    write(Path(sys.argv[1]), "trl", "trl", {**losses(data), **overlong()}, data, MODULE)
