"""Continues rows of tokens over a slot cache: fused layers where possible, else `transformers`."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from burnish.models.fused import FusedDecoder, supports
from burnish.models.policy import Policy, hidden_states
from burnish.rollout.cache import SlotCache


class Decoder(Protocol):
    """Runs the layers of a model on new tokens."""

    def refresh(self) -> None:
        """Take the model's present weights."""
        ...

    def hidden(self, ids: Tensor, positions: Tensor, cache: Tensor, columns: int) -> Tensor:
        """Last hidden states [b, L, H] of new tokens; see `FusedDecoder.hidden`."""
        ...


class TransformersDecoder:
    """Any causal model with a cache, adapters included, through its own modules."""

    def __init__(self, policy: Policy):
        """Use the model of `policy` as it is at each call."""
        self.policy = policy

    def refresh(self) -> None:
        """Nothing is copied, so nothing is stale."""

    @torch.no_grad()
    def hidden(self, ids: Tensor, positions: Tensor, cache: Tensor, columns: int) -> Tensor:
        """Last hidden states of new tokens; see `FusedDecoder.hidden`."""
        mask = (torch.arange(columns) <= positions[:, :, None])[:, None]
        slots = SlotCache(cache, positions, columns)
        return hidden_states(self.policy.causal, ids, mask, positions, slots)


def decoder_for(policy: Policy) -> Decoder:
    """The fastest decoder that computes what the policy computes."""
    if policy.model is policy.causal and supports(policy.causal):
        return FusedDecoder(policy.causal)
    return TransformersDecoder(policy)
