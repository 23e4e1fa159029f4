"""A small Llama-shaped model with a byte vocabulary, built from a seed: for tests and examples."""

from __future__ import annotations

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from burnish.models.settings import ModelSettings

_SPECIAL = ("<|pad|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>")
_TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """One token a byte, five special tokens, and a chat template of one token a turn."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate((*_SPECIAL, *alphabet))}
    core = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    core.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        pad_token="<|pad|>",  # noqa: S106
        eos_token="<|end|>",  # noqa: S106
        additional_special_tokens=list(_SPECIAL[2:]),
        chat_template=_TEMPLATE,
    )


def tiny_model(settings: ModelSettings, seed: int) -> LlamaForCausalLM:
    """A randomly initialised model; the same seed gives the same weights."""
    config = LlamaConfig(
        vocab_size=len(_SPECIAL) + 256,
        hidden_size=settings.tiny_hidden,
        intermediate_size=settings.tiny_intermediate,
        num_hidden_layers=settings.tiny_layers,
        num_attention_heads=settings.tiny_heads,
        num_key_value_heads=max(1, settings.tiny_heads // 2),
        max_position_embeddings=settings.tiny_context,
        tie_word_embeddings=True,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=1,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)
