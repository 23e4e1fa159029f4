"""The numbers of verl: advantages, policy losses with gradients, aggregation, KL, corrections, values."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from cases import at_last_token, case, inputs, write
from verl.trainer.ppo import core_algos as algos
from verl.trainer.ppo import rollout_corr_helper as corrections
from verl.workers.config import ActorConfig

CORE = "verl/trainer/ppo/core_algos.py"


def advantages(x: dict[str, torch.Tensor]) -> dict[str, Any]:
    """What each estimator gives, token by token."""
    earned, mask, index = at_last_token(x), x["mask"], x["index"].numpy()
    baseline = x["rewards"].reshape(-1, 4)[:, 0].repeat_interleave(4)
    plain = SimpleNamespace(gamma=1.0)
    calls = {
        "grpo": ("compute_grpo_outcome_advantage", (earned, mask, index), {}),
        "dr_grpo": (
            "compute_grpo_outcome_advantage", (earned, mask, index), {"norm_adv_by_std_in_grpo": False},
        ),
        "rloo": ("compute_rloo_outcome_advantage", (earned, mask, index), {}),
        "reinforce_pp": (
            "compute_reinforce_plus_plus_outcome_advantage", (earned, mask), {"config": plain},
        ),
        "reinforce_pp_baseline": (
            "compute_reinforce_plus_plus_baseline_outcome_advantage", (earned, mask, index), {},
        ),
        "remax": ("compute_remax_outcome_advantage", (earned, baseline, mask), {}),
    }  # fmt: skip
    return {
        f"advantage/{name}": case(function, {"advantages": getattr(algos, function)(*args, **kw)[0] * mask})
        for name, (function, args, kw) in calls.items()
    }


def critic(x: dict[str, torch.Tensor]) -> dict[str, Any]:
    """GAE, also across masked tokens, and the clipped value loss with its gradient."""
    found: dict[str, Any] = {}
    holes = x["mask"].clone()
    holes[0, 2:4] = 0
    holes[6, 1] = 0
    for name, mask in (("plain", x["mask"]), ("masked", holes)):
        got, returns = algos.compute_gae_advantage_return(at_last_token(x), x["values"], mask, 0.97, 0.9)
        outputs = {"advantages": got * mask, "returns": returns * mask, "mask": mask}
        found[f"gae/{name}"] = case("compute_gae_advantage_return", outputs, {"discount": 0.97, "decay": 0.9})
    values = x["values"].clone().requires_grad_()
    loss, clipped = algos.compute_value_loss(values, x["returns"], x["old_values"], x["mask"], 0.2)
    (gradient,) = torch.autograd.grad(loss, values)
    outputs = {"loss": loss, "clipped": clipped, "gradient": gradient}
    found["value_loss"] = case("compute_value_loss", outputs, {"value_clip": 0.2})
    return found


def losses(x: dict[str, torch.Tensor]) -> dict[str, Any]:
    """Policy losses with gradients, each in the aggregation of its paper."""
    far = inputs(spread=0.8)
    narrow = {"clip_ratio_low": 0.05, "clip_ratio_high": 0.05, "clip_ratio_c": 1.5}
    plans: dict[str, tuple[str, str, dict[str, Any], dict[str, torch.Tensor]]] = {
        "grpo": ("vanilla", "seq-mean-token-mean", {"clip_ratio_high": 0.28, "clip_ratio_c": 3.0}, x),
        "dapo": ("vanilla", "token-mean", {"clip_ratio_high": 0.28, "clip_ratio_c": 1.3}, far),
        "dr_grpo": ("vanilla", "seq-mean-token-sum-norm", {"clip_ratio_c": 3.0}, x),
        "gspo": ("gspo", "seq-mean-token-mean", {"clip_ratio_low": 3e-2, "clip_ratio_high": 4e-2}, x),
        "cispo": ("cispo", "token-mean", {"clip_ratio_low": 0.1, "clip_ratio_high": 0.2}, x),
        "sapo": ("sapo", "seq-mean-token-mean", {"tau_pos": 1.0, "tau_neg": 1.05}, far),
        "dppo": ("dppo_tv", "token-mean", narrow, far),
    }  # fmt: skip
    found: dict[str, Any] = {}
    for name, (loss_name, mode, settings, data) in plans.items():
        config = ActorConfig(strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1, **settings)
        new = data["new"].clone().requires_grad_()
        function = algos.get_policy_loss_fn(loss_name)
        loss, _ = function(
            old_log_prob=data["old"], log_prob=new, advantages=data["advantages"],
            response_mask=data["mask"], loss_agg_mode=mode, config=config,
        )  # fmt: skip
        (gradient,) = torch.autograd.grad(loss, new)
        outputs = {"loss": loss, "gradient": gradient, "new": data["new"]}
        found[f"loss/{name}"] = case(function.__name__, outputs, {**settings, "aggregation": mode})
    return found


def aggregation(x: dict[str, torch.Tensor]) -> dict[str, Any]:
    """Each mode applied to the values as token losses."""
    modes = ("token-mean", "seq-mean-token-mean", "seq-mean-token-sum", "seq-mean-token-sum-norm")
    return {
        f"aggregation/{mode}": case("agg_loss", {"loss": algos.agg_loss(x["values"], x["mask"], mode)})
        for mode in modes
    }


def kl(x: dict[str, torch.Tensor]) -> dict[str, Any]:
    """Values and gradients of the estimators, and the adaptive controller."""
    found: dict[str, Any] = {}
    for name in ("k1", "k2", "k3"):
        new = x["new"].clone().requires_grad_()
        value = algos.kl_penalty(new, x["ref"], name)
        (gradient,) = torch.autograd.grad(value.sum(), new)
        found[f"kl/{name}"] = case("kl_penalty", {"value": value, "gradient": gradient})
    controller = algos.AdaptiveKLController(0.1, 0.05, 1000)
    path: list[float] = []
    for measured in (0.01, 0.2, 0.051, 0.049, 0.05):
        controller.update(measured, 64)
        path.append(float(controller.value))
    measured = [0.01, 0.2, 0.051, 0.049, 0.05]
    settings = {"start": 0.1, "target": 0.05, "horizon": 1000, "samples": 64, "kl": measured}
    found["kl/controller"] = case("AdaptiveKLController.update", {"path": path}, settings)
    return found


def weights(x: dict[str, torch.Tensor]) -> dict[str, Any]:
    """Importance weights and rejection of the mismatch between sampler and trainer."""
    log_ratio = (x["new"] - x["old"]) * x["mask"]
    plans = {
        "truncate": ("token", 1.2),
        "mask": ("token", "0.8_1.2"),
        "sequence_truncate": ("sequence", 1.5),
        "sequence_mask": ("sequence", "0.6_1.6"),
    }
    found: dict[str, Any] = {}
    for name, (level, threshold) in plans.items():
        got, _ = corrections.compute_rollout_correction_weights(log_ratio, x["mask"], level, threshold)
        found[f"correction/{name}"] = case(
            "compute_rollout_correction_weights", {"weights": got * x["mask"]}, {"threshold": threshold}
        )
    kept, _ = corrections.compute_rollout_rejection_mask(log_ratio, x["mask"], "seq_mean_k1", "0.9_1.1")
    found["correction/geometric_mask"] = case(
        "compute_rollout_rejection_mask", {"weights": kept}, {"threshold": "0.9_1.1"}
    )
    return found


if __name__ == "__main__":
    data = inputs()
    parts = (advantages, critic, losses, aggregation, kl, weights)
    write(
        Path(sys.argv[1]), "verl", "verl", {k: v for part in parts for k, v in part(data).items()}, data, CORE
    )
