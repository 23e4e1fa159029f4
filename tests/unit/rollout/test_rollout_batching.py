"""Continuous batching, prefix reuse, chunked prefill: the same completions, with less work."""

import dataclasses

import pytest
import torch

from burnish.models.load import load_policy
from burnish.models.settings import ModelSettings
from burnish.rollout import prefill as prefill_module
from burnish.rollout.decoder import TransformersDecoder
from burnish.rollout.engine import Request
from burnish.rollout.prefix import PrefixStore, common_beginnings
from burnish.rollout.torch_engine import TorchEngine, row_units

SMALL = ModelSettings(name="tiny", dtype="float32", tiny_layers=2, tiny_hidden=64, tiny_intermediate=128)


def prompt(seed, length, beginning=()):
    tail = torch.randint(8, 90, (length,), generator=torch.Generator().manual_seed(seed)).tolist()
    return (*beginning, *tail)


def requests(count, samples=3, max_tokens=10, beginning=()):
    return [
        Request(
            prompt(i, 5 + 3 * i, beginning), (1.0,) * samples, 1 + (max_tokens * (i + 1)) // count, ("t", i)
        )
        for i in range(count)
    ]


def bits(groups):
    return [[(s.token_ids, s.logprobs) for s in group] for group in groups]


def whole(length):
    """Padded to a multiple of four."""
    return -(-length // 4) * 4


class Counting:
    """A decoder that remembers the shape of every forward pass."""

    def __init__(self, decoder):
        self.decoder, self.shapes = decoder, []

    def refresh(self):
        self.decoder.refresh()

    def hidden(self, ids, positions, cache, columns):
        self.shapes.append(tuple(ids.shape))
        return self.decoder.hidden(ids, positions, cache, columns)

    @property
    def prompt_tokens(self):
        return sum(rows * length for rows, length in self.shapes if length > 1)


def counted(policy, **options):
    engine = TorchEngine(policy, **options)
    engine._decoder = Counting(engine._decoder)
    return engine


@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_lanes_do_not_change_a_bit(tiny_policy, lanes):
    asked = requests(12)
    assert len(row_units(asked, 3)) == 3
    assert bits(TorchEngine(tiny_policy, 3, lanes).generate(asked)) == bits(
        TorchEngine(tiny_policy, 3, 3).generate(asked)
    )


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_that_share_a_lane_do_not_change_a_bit(tiny_policy, threads):
    asked = requests(12)
    alone = bits(TorchEngine(tiny_policy, 64).generate(asked))
    torch.set_num_threads(threads)
    try:
        assert bits(TorchEngine(tiny_policy, 64).generate(asked)) == alone
    finally:
        torch.set_num_threads(1)


def test_finished_rows_are_replaced_from_the_queue(tiny_policy):
    asked = requests(8, samples=2, max_tokens=16)
    engine = counted(tiny_policy, batch_rows=4, lanes=1)
    policy = dataclasses.replace(engine.policy, stop_ids=frozenset({-1}))
    engine.policy = policy
    lane = engine._lane([asked], 1)
    lane.stops = torch.tensor([-1])
    drawn = lane.run(asked)
    assert [len(d.token_ids) for group in drawn for d in group] == [r.max_tokens for r in asked for _ in "ab"]
    steps = [rows for rows, length in engine._decoder.shapes if length == 1]
    # Waiting for the longest of every four would take the sum over batches of their maximum.
    one_after_another = sum(max(r.max_tokens for r in asked[i : i + 2]) - 1 for i in range(0, 8, 2))
    assert len(steps) <= one_after_another
    assert max(steps) == 4


def test_replacing_rows_changes_no_completion(tiny_policy):
    asked = requests(8, samples=2, max_tokens=16)
    alone = [TorchEngine(tiny_policy, 64, 1).generate([r])[0] for r in asked]
    lane = TorchEngine(tiny_policy, 4, 1)._lane([asked], 1)
    together = lane.run(asked)
    for one, many in zip(alone, together, strict=True):
        assert [s.token_ids for s in one] == [d.token_ids for d in many]
        for a, b in zip(one, many, strict=True):
            assert a.logprobs == pytest.approx(b.logprobs, abs=1e-5)


def test_a_common_system_text_is_computed_once(tiny_policy):
    system = prompt(99, 64)
    asked = requests(6, beginning=system)
    engine = counted(tiny_policy, batch_rows=64, lanes=1)
    shared = engine.generate(asked)
    apart = counted(tiny_policy, batch_rows=64, lanes=1)
    alone = [apart.generate([r])[0] for r in asked]
    longest = max(len(r.prompt_ids) for r in asked) - 64
    assert engine._decoder.prompt_tokens == 64 + 6 * whole(longest)
    assert apart._decoder.prompt_tokens == sum(whole(len(r.prompt_ids)) for r in asked)
    for one, many in zip(alone, shared, strict=True):
        assert [s.token_ids for s in one] == [s.token_ids for s in many]


def test_a_next_turn_computes_only_what_is_new(tiny_policy):
    engine = counted(tiny_policy, lanes=1, remembered_tokens=1024)
    first = Request(prompt(1, 60), (1.0,), 20, ("turn", 1))
    (reply,) = engine.generate([first])[0]
    engine._decoder.shapes.clear()
    second = Request((*first.prompt_ids, *reply.token_ids, *prompt(2, 9)), (1.0,), 20, ("turn", 2))
    (continued,) = engine.generate([second])[0]
    computed = engine._decoder.prompt_tokens
    known = (60 + len(reply.token_ids) - 1) // 16 * 16
    assert computed == whole(len(second.prompt_ids) - known)
    (fresh,) = TorchEngine(tiny_policy, lanes=1).generate([second])[0]
    assert continued.token_ids == fresh.token_ids


def test_new_weights_forget_what_was_remembered(fresh_policy):
    engine = TorchEngine(fresh_policy, lanes=1, remembered_tokens=1024)
    request = Request(prompt(1, 60), (1.0,), 8, ("x",))
    engine.generate([request])
    weights = {n: p + 0.1 * torch.randn_like(p) for n, p in fresh_policy.model.named_parameters()}
    engine.load(weights, 1)
    (sample,) = engine.generate([request])[0]
    plain = engine.score(request.prompt_ids, sample.token_ids)
    assert sample.logprobs == pytest.approx(plain, abs=1e-5)


def test_long_prompts_are_computed_in_chunks(tiny_policy, monkeypatch):
    request = Request(prompt(3, 150), (1.0,), 8, ("long",))
    (whole,) = TorchEngine(tiny_policy).generate([request])[0]
    monkeypatch.setattr(prefill_module, "_CHUNK", 32)
    engine = counted(tiny_policy)
    (chunked,) = engine.generate([request])[0]
    assert [s for s in engine._decoder.shapes if s[1] > 1] == [(1, 32)] * 4 + [(1, 24)]
    assert chunked.token_ids == whole.token_ids
    assert chunked.logprobs == pytest.approx(whole.logprobs, abs=1e-5)


def test_prompts_of_many_lengths_in_one_pass_and_in_several(tiny_policy, monkeypatch):
    asked = requests(10, samples=1)
    whole = TorchEngine(tiny_policy).generate(asked)
    monkeypatch.setattr(prefill_module, "TOKENS_AT_ONCE", 40)
    parts = TorchEngine(tiny_policy).generate(asked)
    assert [s.token_ids for (s,) in parts] == [s.token_ids for (s,) in whole]


def test_a_model_with_adapters_is_decoded_by_its_own_modules():
    policy = load_policy(SMALL.model_copy(update={"lora_rank": 4}), seed=1)
    engine = TorchEngine(policy)
    assert isinstance(engine._decoder, TransformersDecoder)
    for request, samples in zip(asked := requests(4), engine.generate(asked), strict=True):
        for sample in samples:
            plain = engine.score(request.prompt_ids, sample.token_ids)
            assert sample.logprobs == pytest.approx(plain, abs=1e-5)


def test_bfloat16_agrees_with_a_plain_forward_pass():
    policy = load_policy(SMALL.model_copy(update={"dtype": "bfloat16"}), seed=1)
    engine = TorchEngine(policy)
    for request, samples in zip(asked := requests(6), engine.generate(asked), strict=True):
        for sample in samples:
            plain = engine.score(request.prompt_ids, sample.token_ids)
            assert sample.logprobs == pytest.approx(plain, abs=2e-2)


def test_prefix_store_gives_up_what_was_used_least_recently(tiny_policy):
    lane = TorchEngine(tiny_policy)._lane([requests(2)], 1)
    store = PrefixStore(64)
    old, new = prompt(1, 48), prompt(2, 48)
    store.keep(old, lane.slots, 0)
    store.keep(new, lane.slots, 0)
    assert len(store) == 64
    assert store.restore((*new, 1), lane.slots, 1) == 48
    assert store.restore((*old, 1), lane.slots, 1) == 0


def test_only_beginnings_that_save_enough_are_computed_apart():
    system, topic = prompt(1, 32), prompt(2, 32)
    prompts = [(*system, *topic, i, 1) for i in range(4)] + [(*system, i, 2) for i in range(4)]
    rounds = common_beginnings(prompts)
    assert rounds == [[system], [(*system, *topic)]]
    assert common_beginnings([(*prompt(1, 16), 1), (*prompt(1, 16), 2)]) == []
