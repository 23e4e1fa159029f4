"""A causal language model with its tokenizer, and the few operations training and rollout need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import Cache, PreTrainedModel, PreTrainedTokenizerBase

from burnish.errors import ModelError
from burnish.records import Message


@dataclass(frozen=True)
class Policy:
    """A model ready for training or rollout."""

    model: nn.Module
    """A `transformers` causal model, or the same wrapped by peft."""
    tokenizer: PreTrainedTokenizerBase
    name: str
    stop_ids: frozenset[int]
    """Tokens that end a completion."""

    @property
    def causal(self) -> PreTrainedModel:
        """The `transformers` model, adapters injected, without the peft wrapper."""
        unwrap = getattr(self.model, "get_base_model", None)
        return unwrap() if callable(unwrap) else self.model  # pyright: ignore[reportReturnType]

    @property
    def context(self) -> int:
        """Longest prompt plus completion, in tokens."""
        return int(getattr(self.causal.config, "max_position_embeddings", 1 << 20))

    @property
    def dtype(self) -> torch.dtype:
        """Arithmetic type of the model."""
        return self.causal.get_input_embeddings().weight.dtype  # pyright: ignore[reportReturnType]

    def encode(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Prompt tokens of a conversation, up to where the assistant begins to write."""
        rows = [{"role": m.role, "content": m.content} for m in messages]
        ids: Any = self.tokenizer.apply_chat_template(rows, add_generation_prompt=True, return_dict=False)
        return tuple(int(i) for i in ids)

    def encode_completion(self, text: str) -> tuple[int, ...]:
        """Tokens of a completion, the end-of-sequence token included."""
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return (*(int(i) for i in ids), int(self.tokenizer.eos_token_id))  # pyright: ignore

    def decode(self, ids: Sequence[int]) -> str:
        """Text of completion tokens, without special tokens."""
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=True))

    def trainable(self) -> dict[str, nn.Parameter]:
        """Parameters that training changes, by name; tied tensors appear once."""
        return {n: p for n, p in self.model.named_parameters() if p.requires_grad}


def hidden_states(
    causal: PreTrainedModel,
    input_ids: Tensor,
    mask: Tensor,
    positions: Tensor,
    cache: Cache | None = None,
) -> Tensor:
    """Last hidden states before the output head.

    Args:
        causal: the model.
        input_ids: [B, L] int64.
        mask: [B, 1, L, S] boolean, True attends; S counts cached positions too.
        positions: [B, L] int64 position ids.
        cache: keys and values of earlier positions, extended in place.

    Returns:
        [B, L, hidden] in the model's arithmetic type.
    """
    decoder = getattr(causal, causal.base_model_prefix)
    out = decoder(
        input_ids=input_ids,
        attention_mask=mask,
        position_ids=positions,
        cache=cache,
        use_cache=cache is not None,
    )
    return out.last_hidden_state


def output_weight(causal: PreTrainedModel) -> Tensor:
    """Weight of the output head, [vocabulary, hidden]."""
    return causal.get_output_embeddings().weight  # pyright: ignore


@torch.no_grad()
def check_head(policy: Policy) -> None:
    """Prove that logits are `hidden @ weight.T` for this architecture, as all log-probs here assume.

    Raises:
        ModelError: the model transforms its logits (soft-capping, scaling, a bias).
    """
    causal = policy.causal
    ids = torch.arange(8).remainder(causal.config.vocab_size)[None]
    mask = torch.ones(8, 8, dtype=torch.bool).tril()[None, None]
    ours = hidden_states(causal, ids, mask, torch.arange(8)[None]).float() @ output_weight(causal).float().T
    theirs = causal(input_ids=ids, attention_mask=torch.ones_like(ids)).logits.float()
    gap = (ours.log_softmax(-1) - theirs.log_softmax(-1)).abs().max().item()
    bound = 1e-3 if policy.dtype == torch.float32 else 0.5
    if not gap < bound:
        raise ModelError(
            f"the model {policy.name!r} does not compute its logits as hidden states times output weights",
            got=f"log-probs that differ by {gap:.3g} from the model's own",
            expected=f"less than {bound}",
            next_step="use an architecture without logit soft-capping or scaling (Llama, Qwen, Mistral, ...)",
        )


@torch.no_grad()
def copy_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy named tensors into a model's parameters, converting their type.

    Raises:
        ModelError: a name or a shape is unknown to the model; nothing is copied then.
    """
    own = dict(model.named_parameters())
    for name, tensor in weights.items():
        if name not in own or own[name].shape != tensor.shape:
            known = tuple(own[name].shape) if name in own else "no such parameter"
            raise ModelError(
                f"weight {name!r} does not fit the model", got=tuple(tensor.shape), expected=known
            )
    for name, tensor in weights.items():
        own[name].copy_(tensor)
