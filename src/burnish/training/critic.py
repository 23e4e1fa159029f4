"""A learned critic: V of every token of a completion, GAE from it, and its own optimiser.

The head is one linear layer on hidden states, zero at first. Its backbone is the policy itself (`shared`: the
value loss also moves the policy, times `value_coef`) or a copy of the starting policy that only predicts
values (`own`). The critic learns from the first step; the policy follows after `critic_warmup` steps.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from burnish.algorithms import segments
from burnish.algorithms.settings import AlgorithmSettings
from burnish.models.policy import Policy, hidden_states
from burnish.training.credit import Assigned
from burnish.training.gae import gae, value_loss, whiten_tokens
from burnish.training.optimiser import MasterOptimiser, OptimiserPlan, masters_of
from burnish.training.tree import Packed, micro_batches
from burnish.training.update import Branch, GroupUpdate

HELD = "critic"
"""Its name in a checkpoint."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the critic thought of a completion when it was judged, and should have thought; each [L]."""

    values: Tensor
    returns: Tensor


class Critic:
    """Values of tokens; a checkpoint holds its weights and moments."""

    def __init__(self, policy: Policy, settings: AlgorithmSettings, plan: OptimiserPlan) -> None:
        """Begin with a head that says 0.

        Args:
            policy: that is trained; its weights are those the stage begins with.
            settings: `critic`, `critic_lr`, `critic_warmup`, `gae_decay`, `gae_discount`, `value_clip`,
                `value_coef`.
            plan: of the policy's optimiser; betas, decay and clipping are shared.
        """
        self._settings = settings
        self._shared = settings.critic == "shared"
        self._policy = policy if self._shared else _copied(policy)
        self._head = nn.Linear(policy.causal.config.hidden_size, 1)
        nn.init.zeros_(self._head.weight)
        nn.init.zeros_(self._head.bias)
        parameters = {f"head/{n}": p for n, p in self._head.named_parameters()}
        if not self._shared:
            parameters |= {f"backbone/{n}": p for n, p in self._policy.trainable().items()}
        self._optimiser = MasterOptimiser(parameters, masters_of(parameters), replace(plan, warmup=0))

    def close(self) -> None:
        """Let go of the model."""
        self._optimiser.close()

    def tensors(self) -> dict[str, Tensor]:
        """Weights and moments, for a checkpoint."""
        return self._optimiser.state()

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Inverse of `tensors`."""
        self._optimiser.restore(tensors)

    def judge(self, credit: Assigned, budget: int) -> tuple[Assigned, list[list[Estimate]]]:
        """Credit for tokens in the place of rewards for samples, and what the critic is to learn.

        Args:
            credit: whose branches carry rewards.
            budget: padded tokens in one forward pass.

        Returns:
            Credit whose branches carry whitened advantages of their tokens, and for each update and each of
            its branches an estimate.
        """
        s, values = self._settings, self._values(credit.updates, budget)
        estimates: list[list[Estimate]] = []
        raw: list[Tensor] = []
        counts: list[int] = []
        for update, own in zip(credit.updates, values, strict=True):
            row: list[Estimate] = []
            for branch, value in zip(update.branches, own, strict=True):
                earned = torch.zeros_like(value)
                earned[-1] = float(branch.advantage)  # pyright: ignore[reportArgumentType]
                mask = torch.ones(1, len(value), dtype=torch.bool)
                advantage, returns = gae(earned[None], value[None], mask, s.gae_discount, s.gae_decay)
                row.append(Estimate(value, returns[0]))
                raw.append(advantage[0])
                counts.append(branch.count)
            estimates.append(row)
        if not raw:
            return credit, estimates
        lengths = torch.tensor([len(a) for a in raw])
        times = segments.spread(torch.tensor(counts, dtype=torch.float32), lengths)
        white = whiten_tokens(torch.cat(raw), times)
        return replace(credit, updates=_credited(credit.updates, white.split(lengths.tolist()))), estimates

    def gather(
        self,
        updates: Sequence[GroupUpdate],
        estimates: Sequence[Sequence[Estimate]],
        budget: int,
        *,
        alone: bool,
    ) -> dict[str, float]:
        """Add the gradient of the value loss, weighted like the policy's; no step is taken.

        Args:
            updates: groups with credit.
            estimates: of their branches, as `judge` gave them.
            budget: padded tokens in one forward and backward pass.
            alone: keep the gradient out of a shared backbone.

        Returns:
            `value_loss`, `value_clipped` and `value_explained`, the share of the returns' variance that the
            values explain.
        """
        s, sums = self._settings, dict.fromkeys(("loss", "clipped", "weight"), 0.0)
        for packed in micro_batches([u.tree for u in updates], budget):
            branches = [b for i in packed.trees for b in updates[i].branches]
            known = [e for i in packed.trees for e in estimates[i]]
            lengths = torch.tensor([len(e.values) for e in known])
            weights = segments.spread(torch.tensor([b.weight for b in branches]), lengths)
            old, returns = torch.cat([e.values for e in known]), torch.cat([e.returns for e in known])
            scale = 1.0 if not self._shared else s.value_coef
            values = self._forward(packed, detached=self._shared and alone)
            loss, clipped = value_loss(values, old, returns, s.value_clip)
            (scale * loss * weights).sum().backward()
            sums["loss"] += float((loss.detach() * weights).sum())
            sums["clipped"] += float((clipped * weights).sum())
            sums["weight"] += float(weights.sum())
        weight = max(sums["weight"], 1e-12)
        return {
            "value_loss": sums["loss"] / weight,
            "value_clipped": sums["clipped"] / weight,
            "value_explained": _explained(estimates),
        }

    def step(self) -> float:
        """One step of its optimiser; returns the norm of its gradient before clipping."""
        return self._optimiser.step(self._settings.critic_lr)

    @torch.no_grad()
    def _values(self, updates: Sequence[GroupUpdate], budget: int) -> list[list[Tensor]]:
        """V of every token, by update and branch."""
        found: list[list[Tensor]] = [[] for _ in updates]
        for packed in micro_batches([u.tree for u in updates], budget):
            sizes = [len(b.sample.token_ids) for i in packed.trees for b in updates[i].branches]
            pieces = iter(self._forward(packed).split(sizes))
            for i in packed.trees:
                found[i] = [next(pieces).clone() for _ in updates[i].branches]
        return found

    def _forward(self, packed: Packed, *, detached: bool = False) -> Tensor:
        """V of the state before each completion token, [T] float32."""
        hidden = hidden_states(self._policy.causal, packed.ids, packed.mask, packed.positions)
        rows = hidden.reshape(-1, hidden.shape[-1])[packed.predictors].float()
        return self._head(rows.detach() if detached else rows)[:, 0]


def _credited(updates: Sequence[GroupUpdate], advantages: Sequence[Tensor]) -> list[GroupUpdate]:
    """The updates with one advantage a token, in the order of branches."""
    rest = iter(advantages)

    def credited(branch: Branch) -> Branch:
        return replace(branch, advantage=tuple(next(rest).tolist()))

    return [replace(u, branches=tuple(credited(b) for b in u.branches)) for u in updates]


def _explained(estimates: Sequence[Sequence[Estimate]]) -> float:
    known = [e for row in estimates for e in row]
    values, returns = torch.cat([e.values for e in known]), torch.cat([e.returns for e in known])
    spread = float(returns.var(correction=0))
    return 1 - float((returns - values).var(correction=0)) / spread if spread > 0 else float("nan")


def _copied(policy: Policy) -> Policy:
    """The same weights in a model of its own, as trainable as they are in the policy."""
    return replace(policy, model=copy.deepcopy(policy.model))
