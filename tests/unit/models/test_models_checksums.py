import pytest
import torch

from burnish.models.checksums import checksum, checksums


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("size", [1, 3, 7, 4096])
def test_any_flipped_bit_changes_the_checksum(dtype, size):
    tensor = torch.randn(size, generator=torch.Generator().manual_seed(size)).to(dtype)
    before = checksum(tensor)
    raw = tensor.view(torch.uint8)
    for place in {0, len(raw) // 2, len(raw) - 1}:
        for bit in (1, 128):
            raw[place] ^= bit
            assert checksum(tensor) != before
            raw[place] ^= bit
    assert checksum(tensor) == before


def test_type_shape_and_layout():
    tensor = torch.arange(12.0).reshape(3, 4)
    assert checksum(tensor) != checksum(tensor.bfloat16())
    assert checksum(tensor) != checksum(tensor.reshape(4, 3))
    assert checksum(tensor.T.contiguous().T) == checksum(tensor)
    assert checksum(torch.arange(13.0)[1:]) == checksum(torch.arange(13.0)[1:].clone())
    assert checksums({"a": tensor}) == {"a": checksum(tensor)}
