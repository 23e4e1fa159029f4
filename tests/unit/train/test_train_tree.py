import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.training.logprobs import packed_logprobs, token_logprobs
from burnish.training.optimiser import MasterOptimiser, OptimiserPlan, masters_of
from burnish.training.tree import Tree, micro_batches, pack

PLAN = OptimiserPlan(10, 1e-3, 2, "constant", 0.1, (0.9, 0.95), 0.0, 1.0)
tokens = st.lists(st.integers(5, 200), min_size=1, max_size=9).map(tuple)
trees = st.lists(
    st.builds(Tree, tokens, st.lists(tokens, min_size=1, max_size=4).map(tuple)), min_size=1, max_size=6
)


def gradients(policy, batches, weights_of):
    optimiser = MasterOptimiser(policy.trainable(), masters_of(policy.trainable()), PLAN)
    for packed in batches:
        (packed_logprobs(policy.causal, packed) * weights_of(packed)).sum().backward()
    optimiser.close()
    return optimiser.gradients


def test_tree_equals_separate_sequences_in_loss_and_every_gradient(fresh_policy):
    torch.manual_seed(0)
    forest = [Tree((7, 8, 9), ((10, 11), (12,), (13, 14, 15))), Tree((20,) * 12, ((21,), (22, 23)))]
    apart = [Tree(t.prompt, (c,)) for t in forest for c in t.completions]
    weight = torch.randn(sum(len(c) for t in forest for c in t.completions))
    starts = torch.tensor([0, *[len(c) for t in apart for c in t.completions]]).cumsum(0)

    def spread(packed, owners):
        return torch.cat([weight[starts[a] : starts[b]] for a, b in (owners[i] for i in packed.trees)])

    joint = gradients(fresh_policy, micro_batches(forest, 64), lambda p: spread(p, [(0, 3), (3, 5)]))
    single = gradients(
        fresh_policy, micro_batches(apart, 40), lambda p: spread(p, [(i, i + 1) for i in range(5)])
    )
    for name, gradient in joint.items():
        scale = single[name].abs().max().clamp(min=1e-8)
        assert (gradient - single[name]).abs().max() / scale < 1e-5, name


@given(trees, st.integers(1, 80))
@settings(max_examples=40, deadline=None)
def test_every_completion_token_appears_once(forest, budget):
    packed = micro_batches(forest, budget)
    assert sorted(i for p in packed for i in p.trees) == list(range(len(forest)))
    for p in packed:
        expected = [t for i in p.trees for c in forest[i].completions for t in c]
        assert p.targets.tolist() == expected
        fits = p.ids.numel() <= max(budget, *(t.tokens for t in forest))
        assert fits


def test_mask_hides_other_trees_and_sibling_completions():
    packed = pack([Tree((5, 6), ((7,), (8,))), Tree((9,), ((10,),))], [[0, 1]])
    mask = packed.mask[0, 0]
    # columns: 5 6 | 7 | 8 | 9 | 10
    assert mask[3].tolist() == [True, True, False, True, False, False]
    assert mask[5].tolist() == [False, False, False, False, True, True]
    assert packed.positions[0].tolist() == [0, 1, 2, 2, 0, 1]
    assert packed.predictors.tolist() == [1, 1, 4]


def test_token_logprobs_gradient_matches_autograd():
    torch.manual_seed(0)
    hidden = torch.randn(1100, 8, requires_grad=True)
    weight = torch.randn(30, 8, requires_grad=True)
    targets = torch.randint(0, 30, (1100,))
    g = torch.randn(1100)
    ours = token_logprobs(hidden, weight, targets)
    grads = torch.autograd.grad((ours * g).sum(), [hidden, weight])
    plain = (hidden @ weight.T).log_softmax(-1).gather(-1, targets[:, None])[:, 0]
    expected = torch.autograd.grad((plain * g).sum(), [hidden, weight])
    assert torch.allclose(ours, plain, atol=1e-5)
    for a, b in zip(grads, expected, strict=True):
        assert torch.allclose(a, b, atol=1e-4)
