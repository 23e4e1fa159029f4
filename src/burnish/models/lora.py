"""Low-rank adapters through peft (Hu et al., 2106.09685)."""

from __future__ import annotations

from dataclasses import replace

import torch
from peft import LoraConfig, get_peft_model

from burnish.errors import ModelError
from burnish.models.policy import Policy
from burnish.models.settings import ModelSettings


def add_adapter(policy: Policy, settings: ModelSettings, seed: int) -> Policy:
    """Wrap a policy so that only a new adapter is trained; its initial update is zero.

    Raises:
        ModelError: the target modules do not exist in this architecture.
    """
    target = settings.lora_target if isinstance(settings.lora_target, str) else list(settings.lora_target)
    config = LoraConfig(
        r=settings.lora_rank,
        lora_alpha=int(settings.lora_alpha),
        target_modules=target,
        task_type="CAUSAL_LM",
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        try:
            model = get_peft_model(policy.causal, config, autocast_adapter_dtype=False)
        except ValueError as error:
            raise ModelError(
                "the LoRA adapter cannot be placed",
                got=f"lora_target = {target!r}",
                expected="names of linear layers of this model, or 'all-linear'",
                next_step="change model.lora_target",
            ) from error
    model.eval()
    return replace(policy, model=model)
