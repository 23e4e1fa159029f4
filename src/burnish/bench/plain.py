"""The baseline everybody has: `transformers.generate` on the same model and prompts."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from burnish.models.policy import Policy


class PlainModel:
    """A copy of a policy's model as `transformers` runs it by itself."""

    def __init__(self, policy: Policy):
        """Copy the model; its attention becomes the stock one, and nothing ends a sequence early."""
        self.model: Any = copy.deepcopy(policy.causal).requires_grad_(False).eval()
        self.model.set_attn_implementation("sdpa")
        self.model.generation_config.eos_token_id = None
        self.pad = policy.tokenizer.pad_token_id or 0

    @torch.no_grad()
    def generate(self, prompts: Sequence[tuple[int, ...]], tokens: int) -> Tensor:
        """Draw exactly `tokens` tokens after every prompt, at temperature 1: [prompts, tokens]."""
        width = max(map(len, prompts))
        ids = torch.tensor([(self.pad,) * (width - len(p)) + p for p in prompts])
        mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts])
        out = self.model.generate(
            input_ids=ids, attention_mask=mask, max_new_tokens=tokens, min_new_tokens=tokens,
            do_sample=True, temperature=1.0, top_k=0, top_p=1.0, pad_token_id=self.pad,
        )  # fmt: skip
        drawn = out[:, width:]
        if drawn.shape[1] != tokens:
            raise AssertionError(f"transformers drew {drawn.shape[1]} tokens instead of {tokens}")
        return drawn

    @torch.no_grad()
    def logprobs(self, prompt: Sequence[int], completion: Sequence[int]) -> Tensor:
        """Log-prob of each completion token by one forward pass over the whole sequence, float32 logits."""
        ids = torch.tensor([[*prompt, *completion]])
        body = getattr(self.model, self.model.base_model_prefix)
        hidden = body(input_ids=ids).last_hidden_state[0, len(prompt) - 1 : -1]
        logits = hidden.float() @ self.model.get_output_embeddings().weight.float().T
        return logits.log_softmax(-1).gather(-1, ids[0, len(prompt) :, None])[:, 0]
