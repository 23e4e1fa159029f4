import pytest
import torch

from burnish.algorithms import aggregation

LENGTHS = torch.tensor([[2, 6], [4, 8], [5, 0]])
ACTIVE = torch.tensor([[True, True], [False, False], [True, True]])
MODES = (
    aggregation.prompt_mean,
    aggregation.sequence_mean_token_mean,
    aggregation.sequence_mean_token_sum,
)


def test_prompt_mean_by_hand():
    # Two groups have active tokens: 2 + 6 = 8 and 5. Each gets half: 1/2 * 1/8 and 1/2 * 1/5 a token.
    expected = torch.tensor([[1 / 16, 1 / 16], [0, 0], [1 / 10, 0]])
    torch.testing.assert_close(aggregation.prompt_mean(LENGTHS, ACTIVE), expected)


def test_sequence_mean_token_mean_by_hand():
    # Three active samples with tokens: 1/3 each, spread over 2, 6 and 5 tokens.
    expected = torch.tensor([[1 / 6, 1 / 18], [0, 0], [1 / 15, 0]])
    torch.testing.assert_close(aggregation.sequence_mean_token_mean(LENGTHS, ACTIVE), expected)


def test_sequence_mean_token_sum_by_hand():
    # Three active samples with tokens: every token of theirs weighs 1/3.
    expected = torch.tensor([[1 / 3, 1 / 3], [0, 0], [1 / 3, 0]])
    torch.testing.assert_close(aggregation.sequence_mean_token_sum(LENGTHS, ACTIVE), expected)


@pytest.mark.parametrize("mode", MODES)
def test_nothing_active_weighs_nothing(mode):
    weights = mode(LENGTHS, torch.zeros_like(ACTIVE))
    assert weights.dtype == torch.float32
    assert not weights.any()


@pytest.mark.parametrize("mode", MODES)
def test_shapes_are_named(mode):
    with pytest.raises(ValueError, match=r"active has shape \[3, 1\], expected \[3, 2\]"):
        mode(LENGTHS, ACTIVE[:, :1])
