import pytest

from burnish.errors import ModelError
from burnish.models.fused import Head
from burnish.models.policy import output_weight
from burnish.records import Message, StopReason
from burnish.rollout.engine import Request
from burnish.rollout.torch_engine import TorchEngine, row_units


@pytest.fixture(scope="module")
def engine(tiny_policy):
    return TorchEngine(tiny_policy, batch_rows=8)


def requests(policy, count, temperatures=(0.0, 1.0, 1.0), max_tokens=6):
    prompts = [policy.encode([Message("user", "say " + "ab" * i)]) for i in range(count)]
    return [Request(p, temperatures, max_tokens, (3, "test", i)) for i, p in enumerate(prompts)]


def test_logprobs_equal_a_plain_forward_pass(engine, tiny_policy):
    for request, samples in zip(asked := requests(tiny_policy, 5), engine.generate(asked), strict=True):
        for sample in samples:
            plain = engine.score(request.prompt_ids, sample.token_ids)
            assert max(abs(a - b) for a, b in zip(plain, sample.logprobs, strict=True)) < 1e-5


def test_score_equals_transformers(engine, tiny_policy):
    import torch

    ids = torch.tensor([[7, 8, 9, 10, 11]])
    logits = tiny_policy.causal(input_ids=ids).logits.log_softmax(-1)
    expected = [float(logits[0, i, ids[0, i + 1]]) for i in (2, 3)]
    assert engine.score([7, 8, 9], [10, 11]) == pytest.approx(expected, abs=1e-5)


def test_a_request_draws_the_same_alone_and_in_company(engine, tiny_policy):
    asked = requests(tiny_policy, 6)
    together = engine.generate(asked)
    for i in (0, 3, 5):
        alone = engine.generate([asked[i]])[0]
        assert [s.token_ids for s in alone] == [s.token_ids for s in together[i]]


def test_streams_differ_between_samples_and_seeds(engine, tiny_policy):
    (first,) = engine.generate([Request(tiny_policy.encode([Message("user", "x")]), (1.0,) * 4, 8, (1, "a"))])
    (other,) = engine.generate([Request(tiny_policy.encode([Message("user", "x")]), (1.0,) * 4, 8, (2, "a"))])
    assert len({s.token_ids for s in (*first, *other)}) == 8


def test_length_stop_is_told_apart(engine, tiny_policy):
    (samples,) = engine.generate(
        [Request(tiny_policy.encode([Message("user", "x")]), (1.0,) * 8, 3, (1, "b"))]
    )
    for sample in samples:
        ended = sample.token_ids[-1] in tiny_policy.stop_ids
        assert sample.stop is (StopReason.EOS if ended else StopReason.LENGTH)
        assert len(sample.token_ids) <= 3


def test_own_limits_of_requests_in_one_batch(engine, tiny_policy):
    prompt = tiny_policy.encode([Message("user", "x")])
    short, long = engine.generate(
        [Request(prompt, (1.0,), 2, (1, "c")), Request(prompt, (1.0,), 9, (1, "d"))]
    )
    assert len(short[0].token_ids) <= 2 < len(long[0].token_ids)


def test_end_token_stops_a_row(tiny_policy):
    engine = TorchEngine(tiny_policy, batch_rows=8)
    engine._head = Head(output_weight(tiny_policy.causal) * 0)  # equal logits: greedy takes token 0
    (samples,) = engine.generate([Request((7, 8), (0.0,), 5, ("z",))])
    assert samples[0].token_ids == (0,) * 5
    engine.policy = type(tiny_policy)(tiny_policy.model, tiny_policy.tokenizer, "tiny", frozenset({0}))
    (samples,) = engine.generate([Request((7, 8), (0.0,), 5, ("z",))])
    assert samples[0].token_ids == (0,)
    assert samples[0].stop is StopReason.EOS


def test_a_prompt_that_does_not_fit_is_refused(engine, tiny_policy):
    with pytest.raises(ModelError, match="does not fit"):
        engine.generate([Request((7,) * tiny_policy.context, (1.0,), 1, ("long",))])


def test_units_hold_every_request_once_and_grow_when_there_are_many():
    asked = [Request((1,) * (1 + i % 7), (1.0,) * 3, 4, (i,)) for i in range(20)]
    units = row_units(asked, 8)
    assert sorted(i for u in units for i in u) == list(range(20))
    assert len(units) == 1
    assert len(row_units(asked, 5)) == 3
    assert len(row_units(asked, 1)) == 8


def test_loading_weights_changes_what_is_drawn(fresh_policy):
    import torch

    engine = TorchEngine(fresh_policy)
    before = engine.score([7, 8], [9])
    weights = {n: p + 0.1 * torch.randn_like(p) for n, p in fresh_policy.model.named_parameters()}
    engine.load(weights, 5)
    assert engine.version == 5
    assert engine.score([7, 8], [9]) != before
    with pytest.raises(ModelError, match="does not fit the model"):
        engine.load({"no.such": torch.zeros(1)}, 6)
