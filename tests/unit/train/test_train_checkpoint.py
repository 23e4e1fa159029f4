import json
import os

import pytest
import torch

from burnish.algorithms.scales import DomainScales
from burnish.errors import RunError
from burnish.models.load import load_policy
from burnish.models.settings import ModelSettings
from burnish.training.checkpoint import (
    is_complete,
    newest_checkpoint,
    prune,
    read_masters,
    read_optimiser,
    read_state,
    save_checkpoint,
)
from burnish.training.optimiser import MasterOptimiser, OptimiserPlan, masters_of
from burnish.training.state import RunState

PLAN = OptimiserPlan(10, 1e-3, 0, "constant", 0.0, (0.9, 0.95), 0.0, 1.0)


def state(version, **changes):
    scales = DomainScales().update({"d": [[0.0, 1.0]]}, 0.9)
    return RunState(
        "rl", version, False, version, 4 * version, {"step": version}, scales, {"d": 1}, **changes
    )


def save(tmp_path, policy, version=1):
    masters = masters_of(policy.trainable())
    optimiser = MasterOptimiser(policy.trainable(), masters, PLAN)
    path = save_checkpoint(tmp_path, policy, masters, state(version), optimiser.state())
    optimiser.close()
    return path, masters


def test_state_weights_and_optimiser_come_back(tmp_path, fresh_policy):
    path, masters = save(tmp_path, fresh_policy)
    assert read_state(path) == state(1)
    saved = read_masters(path)
    assert all(torch.equal(saved[n], m) for n, m in masters.items())
    assert read_optimiser(path)["step"].item() == 0
    assert newest_checkpoint(tmp_path) == path


def test_plain_transformers_loads_it(tmp_path, fresh_policy):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    path, _ = save(tmp_path, fresh_policy)
    model = AutoModelForCausalLM.from_pretrained(path / "hf")
    tokenizer = AutoTokenizer.from_pretrained(path / "hf")
    ids = torch.tensor([tokenizer("hello")["input_ids"]])
    assert torch.allclose(model(ids).logits, fresh_policy.causal(ids).logits, atol=1e-4)
    again = load_policy(ModelSettings(name=str(path / "hf"), dtype="float32"))
    assert again.stop_ids == fresh_policy.stop_ids


def test_a_lora_checkpoint_is_merged_and_keeps_its_adapter(tmp_path):
    settings = ModelSettings(name="tiny", dtype="float32", tiny_layers=1, tiny_hidden=32, lora_rank=2)
    policy = load_policy(settings, seed=3)
    with torch.no_grad():
        for parameter in policy.trainable().values():
            parameter.add_(0.1)
    path, masters = save(tmp_path, policy)
    assert set(read_masters(path)) == set(masters)
    assert (path / "adapter" / "adapter_model.safetensors").is_file()
    merged = load_policy(ModelSettings(name=str(path / "hf"), dtype="float32"))
    ids = torch.tensor([[7, 8, 9]])
    assert torch.allclose(merged.causal(ids).logits, policy.causal(ids).logits, atol=1e-4)
    with policy.model.disable_adapter():
        assert not torch.allclose(merged.causal(ids).logits, policy.causal(ids).logits, atol=1e-3)


@pytest.mark.parametrize("damage", ["truncate", "flip", "manifest", "missing"])
def test_a_damaged_checkpoint_is_passed_over(tmp_path, fresh_policy, damage):
    good, _ = save(tmp_path, fresh_policy, 1)
    bad, _ = save(tmp_path, fresh_policy, 2)
    weights = bad / "hf" / "model.safetensors"
    if damage == "truncate":
        os.truncate(weights, 100)
    elif damage == "flip":
        data = bytearray(weights.read_bytes())
        data[-1] ^= 1
        weights.write_bytes(data)
    elif damage == "manifest":
        (bad / "manifest.json").unlink()
    else:
        weights.unlink()
    assert newest_checkpoint(tmp_path) == good
    assert not is_complete(bad, hashes=True)


def test_a_half_written_directory_is_no_checkpoint(tmp_path, fresh_policy):
    path, _ = save(tmp_path, fresh_policy)
    path.rename(tmp_path / ".writing_step_000009_1")
    assert newest_checkpoint(tmp_path) is None


def test_newer_format_is_refused(tmp_path, fresh_policy):
    path, _ = save(tmp_path, fresh_policy)
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps({**manifest, "format": 99}))
    with pytest.raises(RunError, match="newer version"):
        read_state(path)


def test_prune_keeps_the_newest_and_stage_ends(tmp_path, fresh_policy):
    for version in (1, 2, 3, 4):
        save(tmp_path, fresh_policy, version)
    prune(tmp_path, 1, {"step_000002"})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["step_000002", "step_000004"]


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path, fresh_policy):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        save(blocked, fresh_policy)
