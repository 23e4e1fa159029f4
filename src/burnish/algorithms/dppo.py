"""DPPO with a binary total-variation mask: the default.

    A    = clip((R - mean of group) / max(std of domain, floor), +-limit)
    loss = -A sg(min(r, c)) log pi [not masked] + b (log r)^2 + k sg(min(r, c)) k2(pi, ref),   r = pi/mu

The mask drops a token once its probability moved more than `trust_region` from the sampler's in the
direction its advantage asks for. Token losses are averaged inside each prompt, then over prompts.

Papers: 2602.04879 (mask), 2512.12967 (std of the task instead of the group), 2510.13786 (prompt mean).
No signal: all valid rewards of a group are equal, or fewer than two are valid.
How ours differs: the std is a running one over the domain's groups, the quadratic pull towards the sampler
is that of prime-rl, and the cap c also bounds the weight of the KL term.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from burnish.algorithms import aggregation
from burnish.algorithms.advantages import centred
from burnish.algorithms.base import RewardBatch, TokenBatch
from burnish.algorithms.group import GroupRelative
from burnish.algorithms.losses import capped_ratio, outside_trust_region, policy_gradient
from burnish.algorithms.scales import DomainScales


@dataclass(frozen=True)
class Dppo(GroupRelative):
    """The preset `dppo`."""

    name: ClassVar[str] = "dppo"

    def advantages(self, batch: RewardBatch, scales: DomainScales) -> tuple[Tensor, DomainScales]:
        """Centred by group, divided by the domain's std including this step's rewards, clipped."""
        s = self.settings
        scales = scales.update(_by_domain(batch), s.std_decay)
        stds = batch.rewards.new_tensor([max(scales.std(name), s.std_floor) for name in batch.domains])
        scaled = centred(batch.rewards, batch.valid) / stds[:, None]
        return scaled.clamp(-s.advantage_clip, s.advantage_clip), scales

    def surrogate(self, batch: TokenBatch) -> tuple[Tensor, Tensor]:
        """Masked policy gradient with a pull towards the sampler."""
        s = self.settings
        ratio = capped_ratio(batch.logprobs, batch.behaviour, s.ratio_cap)
        masked = outside_trust_region(batch.logprobs, batch.behaviour, batch.advantages, s.trust_region)
        loss = torch.where(masked, 0.0, policy_gradient(batch.logprobs, batch.advantages, ratio))
        return loss + s.behaviour_coef * (batch.logprobs - batch.behaviour).square(), masked

    def weights(self, lengths: Tensor, active: Tensor) -> Tensor:
        """Prompt mean: long answers and talkative domains weigh no more than others."""
        return aggregation.prompt_mean(lengths, active)


def _by_domain(batch: RewardBatch) -> dict[str, list[list[float]]]:
    rows = defaultdict(list)
    for domain, rewards, valid in zip(
        batch.domains, batch.rewards.tolist(), batch.valid.tolist(), strict=True
    ):
        rows[domain].append([r for r, ok in zip(rewards, valid, strict=True) if ok])
    return dict(rows)
