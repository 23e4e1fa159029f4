"""The compiled loops against the separate operations of torch that they stand for."""

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention, silu

from burnish.models import kernels

TYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
# One unit in the last place of the type, relative.
ULP = {torch.float32: 1e-6, torch.bfloat16: 2**-7}
EXACT = "AVX512" in torch.backends.cpu.get_cpu_capability()
"""ATen sums in registers of this processor's width; the loops have the order of the widest."""


def raw(tensor):
    return (tensor.view(torch.uint16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def numbers(*shape, dtype, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@TYPES
def test_add_is_exact(dtype):
    x, y = numbers(5, 96, dtype=dtype), numbers(5, 96, dtype=dtype, seed=1)
    expected = x + y
    kernels.add(raw(x), raw(y))
    assert torch.equal(x, expected)


@TYPES
@pytest.mark.parametrize("size", [16, 64, 96, 576, 1024, 40])
def test_rms_norm_is_that_of_transformers(dtype, size):
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    norm = LlamaRMSNorm(size, eps=1e-5).to(dtype)
    norm.weight.data = numbers(size, dtype=dtype, seed=1)
    x = numbers(7, size, dtype=dtype)
    out = torch.empty_like(x)
    kernels.rms_norm(raw(x), raw(norm.weight.data), np.float32(1e-5), raw(out))
    with torch.no_grad():
        torch.testing.assert_close(out, norm(x), rtol=ULP[dtype], atol=1e-6)


@TYPES
def test_gated_silu(dtype):
    both = 4 * numbers(3, 128, dtype=dtype)
    out = torch.empty(3, 64, dtype=dtype)
    kernels.gated_silu(raw(both), raw(out))
    torch.testing.assert_close(out, silu(both[:, :64]) * both[:, 64:], rtol=ULP[dtype], atol=1e-6)


def attend_both_ways(dtype, columns, positions, group, size=32, key_heads=2):
    """Outputs of the kernel and of torch for rows whose caches hold `positions` tokens before the new one."""
    rows, heads = len(positions), key_heads * group
    qkv = numbers(rows, (heads + 2 * key_heads) * size, dtype=dtype)
    keys, values = (numbers(rows, key_heads, columns, size, dtype=dtype, seed=s) for s in (1, 2))
    angle = torch.outer(torch.arange(columns).float(), 0.1 ** torch.arange(size // 2))
    cos, sin = (torch.cat((f(angle), f(angle)), -1).to(dtype).float() for f in (torch.cos, torch.sin))
    where = torch.tensor(positions)
    blocked = keys.view(rows, key_heads, columns // 16, 16, size).transpose(-1, -2).contiguous()
    out = torch.empty(rows, heads * size, dtype=dtype)
    held = values.clone()
    kernels.attend(
        raw(qkv), cos[where].numpy(), sin[where].numpy(), raw(blocked), raw(held),
        where.numpy(), raw(out), group, np.float32(size**-0.5),
    )  # fmt: skip
    split = qkv.view(rows, -1, size)
    c, s = cos[where].to(dtype)[:, None], sin[where].to(dtype)[:, None]
    turned = split[:, : heads + key_heads]
    turned = turned * c + torch.cat((-turned[..., size // 2 :], turned[..., : size // 2]), -1) * s
    keys[torch.arange(rows), :, where] = turned[:, heads:]
    values[torch.arange(rows), :, where] = split[:, heads + key_heads :]
    mask = (torch.arange(columns) <= where[:, None])[:, None, None]
    query = turned[:, :heads].view(rows, key_heads, group, size)
    expected = scaled_dot_product_attention(query, keys, values, attn_mask=mask, scale=size**-0.5)
    stored = blocked.transpose(-1, -2).reshape(keys.shape)
    return out, expected.reshape(rows, -1), (stored, keys), (held, values)


@TYPES
@pytest.mark.parametrize("group", [1, 3, 4, 7])
def test_attention_reads_and_writes_the_cache_as_torch_does(dtype, group):
    out, expected, (stored, keys), (held, values) = attend_both_ways(dtype, 64, [0, 1, 15, 16, 31, 63], group)
    torch.testing.assert_close(stored, keys, rtol=0, atol=0 if dtype == torch.bfloat16 else 1e-6)
    assert torch.equal(held, values)
    tolerance = 1e-2 if dtype == torch.bfloat16 else 2e-6
    torch.testing.assert_close(out, expected, rtol=tolerance, atol=tolerance)


@TYPES
def test_attention_over_more_columns_than_one_split(dtype):
    out, expected, _, _ = attend_both_ways(dtype, 1536, [511, 512, 513, 1040, 1535], 3)
    tolerance = 1e-2 if dtype == torch.bfloat16 else 2e-6
    torch.testing.assert_close(out, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.skipif(not EXACT, reason="ATen sums in another order on a processor without AVX-512")
def test_bfloat16_attention_has_the_bits_of_atens():
    out, expected, _, _ = attend_both_ways(torch.bfloat16, 128, [0, 5, 31, 64, 100, 127], 3, size=64)
    assert torch.equal(out, expected)


def test_a_masked_column_does_not_count():
    out, expected, _, _ = attend_both_ways(torch.float32, 32, [3], 3)
    assert torch.isfinite(out).all()
    torch.testing.assert_close(out, expected, rtol=2e-6, atol=2e-6)
