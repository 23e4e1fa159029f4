"""Checkpoints on disk: they come back bit for bit, and nothing half written or damaged is taken for one."""

import json
import os

import pytest
import torch
from checkpoint_helpers import save, state

from burnish import faults
from burnish.errors import RunError
from burnish.models.load import load_policy
from burnish.models.settings import ModelSettings
from burnish.training.checkpoint import (
    clear_leftovers,
    damage,
    is_complete,
    newest_checkpoint,
    read_masters,
    read_optimiser,
    read_pending,
    read_state,
    saved_checkpoints,
    set_aside,
)
from burnish.training.optimiser import masters_of


@pytest.fixture(autouse=True)
def no_faults_left():
    yield
    faults.set_plan("")


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def test_state_weights_and_optimiser_come_back(tmp_path, fresh_policy):
    path = save(tmp_path, fresh_policy)
    assert read_state(path) == state(1)
    saved = read_masters(path)
    masters = masters_of(fresh_policy.trainable())
    assert saved.keys() == masters.keys()
    assert all(torch.equal(saved[n], m) for n, m in masters.items())
    optimiser = read_optimiser(path)
    assert optimiser is not None
    assert optimiser["step"].item() == 0
    assert all(torch.equal(optimiser[f"master/{n}"], m) for n, m in masters.items())
    assert newest_checkpoint(tmp_path) == path


def test_the_end_of_a_stage_has_no_optimiser(tmp_path, fresh_policy):
    path = save(tmp_path, fresh_policy, finished=True)
    assert read_optimiser(path) is None
    assert [(s.stage, s.finished, s.score) for s in saved_checkpoints(tmp_path)] == [("rl", True, None)]


def test_plain_transformers_loads_it(tmp_path, fresh_policy):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    path = save(tmp_path, fresh_policy)
    model = AutoModelForCausalLM.from_pretrained(path / "hf")
    tokenizer = AutoTokenizer.from_pretrained(path / "hf")
    ids = torch.tensor([tokenizer("hello")["input_ids"]])
    assert torch.allclose(model(ids).logits, fresh_policy.causal(ids).logits, atol=1e-4)
    again = load_policy(ModelSettings(name=str(path / "hf"), dtype="float32"))
    assert again.stop_ids == fresh_policy.stop_ids


def test_a_bfloat16_model_is_saved_in_the_float32_of_its_masters(tmp_path):
    settings = ModelSettings(name="tiny", dtype="bfloat16", tiny_layers=1, tiny_hidden=32)
    policy = load_policy(settings, seed=3)
    masters = {n: m + 1e-5 for n, m in masters_of(policy.trainable()).items()}
    saved = read_masters(save(tmp_path, policy, masters=masters))
    assert all(torch.equal(saved[n], m) for n, m in masters.items())


def test_a_lora_checkpoint_is_merged_and_keeps_its_adapter(tmp_path):
    settings = ModelSettings(name="tiny", dtype="float32", tiny_layers=1, tiny_hidden=32, lora_rank=2)
    policy = load_policy(settings, seed=3)
    with torch.no_grad():
        for parameter in policy.trainable().values():
            parameter.add_(0.1)
    path = save(tmp_path, policy)
    assert set(read_masters(path)) == set(policy.trainable())
    assert (path / "adapter" / "adapter_model.safetensors").is_file()
    merged = load_policy(ModelSettings(name=str(path / "hf"), dtype="float32"))
    ids = torch.tensor([[7, 8, 9]])
    assert torch.allclose(merged.causal(ids).logits, policy.causal(ids).logits, atol=1e-4)
    with policy.model.disable_adapter():
        assert not torch.allclose(merged.causal(ids).logits, policy.causal(ids).logits, atol=1e-3)


def test_batches_under_way_come_back(tmp_path, fresh_policy):
    batches = [{"step": 4, "groups": [{"ordinal": 7}]}]
    assert read_pending(save(tmp_path, fresh_policy, pending=lambda: batches)) == batches
    assert read_pending(save(tmp_path, fresh_policy, 2)) == []


DAMAGE = {
    "truncated": (lambda path: os.truncate(path / "hf" / "model.safetensors", 100), "100 bytes instead of"),
    "a flipped bit": (lambda path: flip(path / "hf" / "model.safetensors"), "is not what was written"),
    "no manifest": (lambda path: (path / "manifest.json").unlink(), "manifest.json is missing"),
    "half a manifest": (lambda path: os.truncate(path / "manifest.json", 40), "cannot be read"),
    "an empty manifest": (lambda path: (path / "manifest.json").write_text("[]"), "cannot be read"),
    "a missing file": (lambda path: (path / "state.json").unlink(), "state.json is missing"),
}


def flip(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_checkpoint_is_passed_over_and_told(tmp_path, fresh_policy, kind):
    good, bad = save(tmp_path, fresh_policy, 1), save(tmp_path, fresh_policy, 2)
    spoil, words = DAMAGE[kind]
    spoil(bad)
    told = []
    assert newest_checkpoint(tmp_path, on_damaged=lambda *found: told.append(found)) == good
    assert [path for path, _ in told] == [bad]
    assert words in told[0][1]
    assert not is_complete(bad, hashes=True)


def test_a_damaged_checkpoint_is_kept_under_another_name(tmp_path, fresh_policy):
    for expected in ("damaged_step_000001", "damaged_step_000001-2"):
        path = save(tmp_path, fresh_policy)
        assert set_aside(path).name == expected
    assert newest_checkpoint(tmp_path) is None
    assert names(tmp_path) == ["damaged_step_000001", "damaged_step_000001-2"]


def test_a_newer_format_is_refused_and_never_passed_over(tmp_path, fresh_policy):
    save(tmp_path, fresh_policy, 1)
    path = save(tmp_path, fresh_policy, 2)
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps({**manifest, "format": 99}))
    for read in (lambda: read_state(path), lambda: newest_checkpoint(tmp_path)):
        with pytest.raises(RunError, match="newer version") as caught:
            read()
        assert "upgrade" in caught.value.next_step


PLACES = (
    "checkpoint.start:1",
    "checkpoint.file:1",
    "checkpoint.file:3",
    "checkpoint.before_manifest:1",
    "checkpoint.before_rename:1",
)


@pytest.mark.parametrize("fault", ["enospc", "error"])
@pytest.mark.parametrize("place", PLACES)
def test_a_save_that_fails_anywhere_leaves_no_trace(tmp_path, fresh_policy, place, fault):
    old = save(tmp_path, fresh_policy, 1)
    faults.set_plan(f"{place}:{fault}")
    with pytest.raises(RunError if fault == "enospc" else RuntimeError) as caught:
        save(tmp_path, fresh_policy, 2)
    if fault == "enospc":
        assert "No space left" in str(caught.value)
        assert "--resume" in caught.value.next_step
    assert names(tmp_path) == ["step_000001"]
    assert damage(old) is None


@pytest.mark.parametrize(
    ("place", "newest"),
    [(p, "step_000001") for p in PLACES] + [("checkpoint.after_rename:1", "step_000002")],
)
def test_a_killed_save_is_whole_or_not_there(tmp_path, fresh_policy, place, newest):
    save(tmp_path, fresh_policy, 1)
    in_a_child_that_is_killed(lambda: save(tmp_path, fresh_policy, 2), place)
    assert newest_checkpoint(tmp_path).name == newest
    clear_leftovers(tmp_path)
    assert all(n.startswith("step_") for n in names(tmp_path))
    assert save(tmp_path, fresh_policy, 2).name == "step_000002"


@pytest.mark.parametrize("place", ["checkpoint.between_renames:1", "checkpoint.after_rename:1"])
def test_a_kill_while_a_stage_end_replaces_its_last_step_loses_neither(tmp_path, fresh_policy, place):
    save(tmp_path, fresh_policy, 1)
    in_a_child_that_is_killed(lambda: save(tmp_path, fresh_policy, 1, finished=True), place)
    clear_leftovers(tmp_path)
    assert names(tmp_path) == ["step_000001"]
    assert read_state(tmp_path / "step_000001").finished is ("after" in place)


def in_a_child_that_is_killed(work, place):
    child = os.fork()
    if child == 0:
        faults.set_plan(f"{place}:kill")
        work()
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == 9


def test_what_is_there_already_is_not_written_again(tmp_path, fresh_policy):
    path = save(tmp_path, fresh_policy)
    before = (path / "manifest.json").stat().st_mtime_ns
    save(tmp_path, fresh_policy, seconds=99.0)
    assert (path / "manifest.json").stat().st_mtime_ns == before


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path, fresh_policy):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        save(blocked, fresh_policy)


def test_older_checkpoints_with_the_masters_beside_the_moments_are_read(tmp_path, fresh_policy):
    from safetensors.torch import load_file, save_file

    path = save(tmp_path, fresh_policy)
    masters = read_masters(path)
    file = path / "optimiser.safetensors"
    save_file({**load_file(file), **{f"master/{n}": m + 1 for n, m in masters.items()}}, file)
    old = read_optimiser(path)
    assert all(torch.equal(old[f"master/{n}"], m + 1) for n, m in masters.items())
