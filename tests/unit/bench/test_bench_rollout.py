import torch

from burnish.bench.plain import PlainModel
from burnish.bench.rollout import endless, requests_for
from burnish.rollout.torch_engine import TorchEngine


def test_no_token_ends_a_completion_on_either_side(tiny_policy):
    policy = endless(tiny_policy)
    requests = requests_for(policy, 4, 2, 6)
    drawn = TorchEngine(policy, batch_rows=4).generate(requests)
    assert {len(s.token_ids) for samples in drawn for s in samples} == {6}
    assert PlainModel(policy).generate([r.prompt_ids for r in requests], 6).shape == (2, 6)


def test_rows_are_prompts_times_samples(tiny_policy):
    requests = requests_for(tiny_policy, 8, 2, 4)
    assert len(requests) == 4
    assert {len(r.temperatures) for r in requests} == {2}
    assert len({r.prompt_ids for r in requests}) == 4


def test_the_plain_model_scores_like_one_forward_pass(tiny_policy):
    prompt, completion = (5, 6, 7), (8, 9)
    ids = torch.tensor([[*prompt, *completion]])
    with torch.no_grad():
        logits = tiny_policy.causal(input_ids=ids).logits[0, 2:-1].float()
    wanted = logits.log_softmax(-1).gather(-1, ids[0, 3:, None])[:, 0]
    assert torch.allclose(PlainModel(tiny_policy).logprobs(prompt, completion), wanted, atol=1e-5)
