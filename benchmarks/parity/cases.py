"""Inputs of the comparisons, and how a fixture is written; runs inside the environment of the packages."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

GROUPS, SAMPLES, TOKENS = 3, 4, 6
LENGTHS = [6, 3, 1, 4, 2, 6, 5, 3, 4, 4, 6, 1]


def inputs(spread: float = 0.3) -> dict[str, torch.Tensor]:
    """Log-probs of 12 completions of up to 6 tokens under four policies, rewards and values; float64."""
    torch.manual_seed(20)
    count = GROUPS * SAMPLES
    old = -torch.rand(count, TOKENS, dtype=torch.float64) * 3 - 0.05

    def near(scale: float) -> torch.Tensor:
        return (old + scale * torch.randn(count, TOKENS, dtype=torch.float64)).clamp(max=-1e-3)

    lengths = torch.tensor(LENGTHS)
    rewards = torch.rand(count, dtype=torch.float64)
    rewards[:4] = torch.tensor([1.0, 0.0, 0.0, 1.0])
    return {
        "old": old,
        "new": near(spread),
        "ref": near(0.5),
        "mask": (torch.arange(TOKENS) < lengths[:, None]).double(),
        "lengths": lengths,
        "rewards": rewards,
        "advantages": torch.randn(count, 1, dtype=torch.float64).expand(count, TOKENS).clone(),
        "values": torch.rand(count, TOKENS, dtype=torch.float64),
        "old_values": torch.rand(count, TOKENS, dtype=torch.float64),
        "returns": torch.rand(count, TOKENS, dtype=torch.float64),
        "index": torch.arange(GROUPS).repeat_interleave(SAMPLES),
    }


def at_last_token(x: dict[str, torch.Tensor]) -> torch.Tensor:
    """Rewards as verl has them: on the last token of each completion."""
    placed = torch.zeros_like(x["mask"])
    placed[torch.arange(len(placed)), x["lengths"] - 1] = x["rewards"]
    return placed


def case(function: str, outputs: dict[str, Any], settings: dict[str, Any] | None = None) -> dict[str, Any]:
    """One comparison, ready for JSON."""
    return {
        "function": function,
        "settings": settings or {},
        "outputs": {k: v.detach().tolist() if isinstance(v, torch.Tensor) else v for k, v in outputs.items()},
    }


def write(
    folder: Path, name: str, package: str, cases: dict[str, Any], x: dict[str, torch.Tensor], module: str
) -> None:
    """One fixture file: where the numbers come from, the inputs, and the cases."""
    document = {
        "package": package,
        "version": version(package),
        "module": module,
        "torch": version("torch"),
        "inputs": {k: v.tolist() for k, v in x.items()},
        "cases": cases,
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{path.name}: {len(cases)} cases of {package} {document['version']}")
