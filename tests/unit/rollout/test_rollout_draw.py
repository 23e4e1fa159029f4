import numpy as np
import pytest
import torch

from burnish.rollout.draw import draw


def tokens_of(mass, uniforms):
    """Tokens drawn from unnormalised probabilities."""
    count = len(uniforms)
    return draw(mass.log().expand(count, -1), uniforms, torch.ones(count))[0]


def test_a_draw_walks_through_the_vocabulary_in_order():
    u = torch.tensor([0, 0.2, 0.251, 0.7, 0.751, 0.99], dtype=torch.float64)
    assert tokens_of(torch.tensor([1.0, 2.0, 0.0, 1.0]), u).tolist() == [0, 0, 1, 1, 3, 3]


def test_a_token_without_mass_is_never_drawn():
    mass = torch.zeros(1000)
    mass[300:310] = 1.0
    u = torch.linspace(0, 1 - 1e-15, 64, dtype=torch.float64)
    assert set(tokens_of(mass, u).tolist()) == set(range(300, 310))


def test_frequencies_follow_the_softmax_across_blocks():
    torch.manual_seed(0)
    logits = torch.randn(700)
    u = torch.from_numpy((np.arange(20000) + 0.5) / 20000)
    counts = torch.bincount(tokens_of(logits.exp(), u), minlength=700) / 20000
    assert (counts - logits.softmax(-1)).abs().max() < 2 / 20000


@pytest.mark.parametrize("size", [1, 31, 32, 255, 256, 257, 5000])
def test_any_size_of_vocabulary(size):
    torch.manual_seed(size)
    logits = 3 * torch.randn(8, size)
    u = torch.rand(8, dtype=torch.float64)
    tokens, logprobs = draw(logits, u, torch.ones(8))
    expected = logits.double().log_softmax(-1).gather(-1, tokens[:, None])[:, 0]
    torch.testing.assert_close(logprobs.double(), expected, rtol=0, atol=2e-6)
    below = logits.double().softmax(-1).cumsum(-1)
    at = below.gather(-1, tokens[:, None])[:, 0]
    assert (at >= u - 1e-6).all()
    assert (at - expected.exp() <= u + 1e-6).all()


def test_any_number_of_threads_draws_the_same():
    torch.manual_seed(0)
    logits, u = torch.randn(13, 3000), torch.rand(13, dtype=torch.float64)
    alone = draw(logits, u, torch.ones(13))
    torch.set_num_threads(4)
    try:
        together = draw(logits, u, torch.ones(13))
    finally:
        torch.set_num_threads(1)
    assert all(torch.equal(a, b) for a, b in zip(alone, together, strict=True))


def test_logprobs_are_those_of_the_tempered_distribution():
    torch.manual_seed(0)
    logits = torch.randn(3, 50)
    temperatures = torch.tensor([0.0, 1.0, 0.5])
    tokens, logprobs = draw(logits, torch.full((3,), 0.4, dtype=torch.float64), temperatures)
    assert tokens[0] == logits[0].argmax()
    expected = [logits[0].log_softmax(-1), logits[1].log_softmax(-1), (logits[2] / 0.5).log_softmax(-1)]
    for row in range(3):
        assert abs(float(logprobs[row] - expected[row][tokens[row]])) < 1e-5
