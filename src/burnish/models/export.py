"""Write a policy as a folder that plain `transformers` loads."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor
from transformers import PreTrainedModel

from burnish.models.policy import Policy, copy_weights

STOCK_ATTENTION = "sdpa"


def save_pretrained(policy: Policy, masters: Mapping[str, Tensor], directory: Path) -> None:
    """Save float32 weights, configuration and tokenizer; an adapter is merged, and saved beside.

    Args:
        policy: model and tokenizer.
        masters: float32 value of every trainable parameter, by its name in `policy.model`.
        directory: new folder.
    """
    model = _plain_copy(policy, masters)
    model.config._attn_implementation = STOCK_ATTENTION
    model.save_pretrained(directory)
    policy.tokenizer.save_pretrained(directory)
    if policy.model is not policy.causal:
        _save_adapter(policy, masters, directory.parent / "adapter")


@torch.no_grad()
def _plain_copy(policy: Policy, masters: Mapping[str, Tensor]) -> PreTrainedModel:
    model = copy.deepcopy(policy.model).float()
    copy_weights(model, masters)
    merge = getattr(model, "merge_and_unload", None)
    return merge() if callable(merge) else model  # pyright: ignore[reportReturnType]


def _save_adapter(policy: Policy, masters: Mapping[str, Tensor], directory: Path) -> None:
    model = copy.deepcopy(policy.model).float()
    copy_weights(model, masters)
    model.save_pretrained(directory)  # pyright: ignore[reportCallIssue]
