"""Write a policy as a folder that plain `transformers` loads."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from burnish.models.policy import Policy

STOCK_ATTENTION = "sdpa"


class Shadow:
    """A model of the same structure around other tensors: nothing is copied and the policy stays free.

    Trainable parameters are the tensors given, the others those of the policy, which nobody changes.
    """

    def __init__(self, policy: Policy, masters: Mapping[str, Tensor]) -> None:
        """Build it; costs no memory.

        Args:
            policy: model and tokenizer.
            masters: float32 value of every trainable parameter, by its name in `policy.model`.
        """
        memo: dict[int, object] = {}
        for name, parameter in policy.model.named_parameters():
            tensor = masters.get(name, parameter.detach())
            memo[id(parameter)] = nn.Parameter(tensor.detach(), requires_grad=False)
        self._model = copy.deepcopy(policy.model, memo)
        self._wrapped = policy.model is not policy.causal

    def write(self, directory: Path) -> None:
        """Save float32 weights and configuration; an adapter is merged, and saved beside.

        Args:
            directory: new folder.
        """
        model = self._plain()
        model.config._attn_implementation = STOCK_ATTENTION
        model.save_pretrained(directory)
        if self._wrapped:
            self._model.save_pretrained(directory.parent / "adapter")  # pyright: ignore

    @torch.no_grad()
    def _plain(self) -> PreTrainedModel:
        """In float32 and without adapter; a merge or a change of type happens in a copy."""
        narrow = any(p.dtype != torch.float32 for p in self._model.parameters())
        model = copy.deepcopy(self._model).float() if narrow or self._wrapped else self._model
        merge = getattr(model, "merge_and_unload", None)
        return merge() if callable(merge) else model  # pyright: ignore[reportReturnType]


def save_pretrained(policy: Policy, masters: Mapping[str, Tensor], directory: Path) -> None:
    """Save float32 weights, configuration and tokenizer; an adapter is merged, and saved beside.

    Args:
        policy: model and tokenizer.
        masters: float32 value of every trainable parameter, by its name in `policy.model`.
        directory: new folder.
    """
    Shadow(policy, masters).write(directory)
    policy.tokenizer.save_pretrained(directory)
