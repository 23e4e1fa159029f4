import numpy as np
import torch

from burnish.rollout.draw import draw, inverse_cdf


def test_inverse_cdf_walks_through_the_vocabulary_in_order():
    mass = torch.tensor([[1.0, 2.0, 0.0, 1.0]])
    picks = [
        int(inverse_cdf(mass, torch.tensor([u], dtype=torch.float64))[0])
        for u in (0, 0.2, 0.25, 0.7, 0.75, 0.99)
    ]
    assert picks == [0, 0, 1, 1, 3, 3]


def test_a_token_without_mass_is_never_drawn():
    mass = torch.zeros(64, 1000)
    mass[:, 300:310] = 1.0
    u = torch.linspace(0, 1 - 1e-15, 64, dtype=torch.float64)
    assert set(inverse_cdf(mass, u).tolist()) <= set(range(300, 310))


def test_frequencies_follow_the_softmax_across_blocks():
    torch.manual_seed(0)
    logits = torch.randn(700)
    u = torch.from_numpy((np.arange(20000) + 0.5) / 20000)
    tokens = inverse_cdf(logits.softmax(-1).expand(20000, -1), u)
    counts = torch.bincount(tokens, minlength=700) / 20000
    assert (counts - logits.softmax(-1)).abs().max() < 2 / 20000


def test_logprobs_are_those_of_the_tempered_distribution():
    torch.manual_seed(0)
    logits = torch.randn(3, 50)
    temperatures = torch.tensor([0.0, 1.0, 0.5])
    tokens, logprobs = draw(logits, torch.full((3,), 0.4, dtype=torch.float64), temperatures)
    assert tokens[0] == logits[0].argmax()
    expected = [logits[0].log_softmax(-1), logits[1].log_softmax(-1), (logits[2] / 0.5).log_softmax(-1)]
    for row in range(3):
        assert abs(float(logprobs[row] - expected[row][tokens[row]])) < 1e-5
