"""Supervised fine-tuning on gold answers: the warm start without which a small model earns no reward.

    for each step:  draw tasks  ->  loss = mean over answers of mean over tokens of -log pi(gold)  ->  AdamW

Only completion tokens carry loss; a long answer weighs no more than a short one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import torch

from burnish.curriculum.base import Draw
from burnish.curriculum.base import Policy as Curriculum
from burnish.errors import TrainingError
from burnish.faults import fault_point
from burnish.models.policy import Policy
from burnish.recipe import SftSettings
from burnish.records import Split, Task
from burnish.training.logprobs import packed_logprobs
from burnish.training.optimiser import OptimiserPlan, learning_rate
from burnish.training.retention import retention_of
from burnish.training.stage import Deadline, Place, Workbench, save_is_due
from burnish.training.state import RunState
from burnish.training.tree import Tree, micro_batches

STAGE = "sft"


def plan_of(settings: SftSettings) -> OptimiserPlan:
    """Optimiser settings: warm-up, then cosine decay."""
    return OptimiserPlan(
        steps=settings.steps, lr=settings.lr, warmup=settings.warmup, schedule="cosine",
        floor=settings.min_lr_ratio, betas=settings.betas, weight_decay=settings.weight_decay,
        max_grad_norm=settings.max_grad_norm,
    )  # fmt: skip


def train_sft(bench: Workbench, curriculum: Curriculum, settings: SftSettings, state: RunState) -> RunState:
    """Run the stage from `state` to its end, or to the step after which the user asked to stop.

    Raises:
        TrainingError: a loss is not finite, or no task has a gold answer.
    """
    state = state.begin(STAGE)
    plan = plan_of(settings)
    optimiser = bench.optimiser(plan, state, saves=settings.checkpoint_every > 0)
    keep = retention_of(settings)
    deadline = Deadline(state.seconds, settings.max_minutes)
    position = curriculum.restore(state.curriculum) if state.curriculum else curriculum.start()
    while state.step < settings.steps and not (bench.stop.asked or deadline.passed):
        began = time.monotonic()
        draws, position = curriculum.draw(position, settings.batch)
        ahead, _ = curriculum.draw(position, settings.batch)
        bench.tasks.prefetch(places(ahead))
        tasks = [task for task in bench.tasks.get(places(draws)) if task is not None]
        trees = _trees(bench.policy, tasks)
        loss = accumulate_nll(bench.policy, trees, settings.tokens_per_micro_batch)
        lr = learning_rate(plan, state.step)
        norm = optimiser.step(lr)
        fault_point("sft.after_update")
        trained = sum(tree.tokens for tree in trees)
        state = replace(
            state,
            step=state.step + 1,
            version=state.version + 1,
            curriculum=position.to_json(),
            seconds=deadline.seconds,
            tokens_trained=state.tokens_trained + trained,
        )
        took = time.monotonic() - began
        figures = {
            "loss": loss,
            "lr": lr,
            "grad_norm": norm,
            "seconds": took,
            "tokens_per_second": trained / took,
        }
        bench.record(STAGE, state.step, settings.steps, {"": figures})
        if save_is_due(state.step, settings.steps, settings.checkpoint_every):
            bench.save(state, optimiser, keep)
    state = replace(state, finished=not bench.stop.asked or state.step >= settings.steps)
    bench.save(state, optimiser, keep)
    optimiser.close()
    return state


def places(draws: Sequence[Draw]) -> list[Place]:
    """Training tasks at these positions."""
    return [(d.domain, Split.TRAIN, d.level, d.index) for d in draws]


def _trees(policy: Policy, tasks: Sequence[Task]) -> list[Tree]:
    trees = [
        Tree(policy.encode(task.messages), (policy.encode_completion(task.gold),))
        for task in tasks
        if task.gold is not None
    ]
    if not trees:
        raise TrainingError(
            "no task of this step has a gold answer to learn from",
            got=sorted({t.domain for t in tasks}),
            expected="domains whose tasks carry a gold answer",
            next_step='leave the sft stage out (stages = ["rl"]) or choose other domains',
        )
    return trees


def accumulate_nll(policy: Policy, trees: Sequence[Tree], token_budget: int) -> float:
    """Add the gradient of the mean over answers of their mean token loss; returns that loss in nats.

    Raises:
        TrainingError: the loss is not finite; weights are untouched.
    """
    total = 0.0
    answers = sum(len(tree.completions) for tree in trees)
    for packed in micro_batches(trees, token_budget):
        lengths = torch.tensor([len(c) for i in packed.trees for c in trees[i].completions])
        weights = (1.0 / (lengths * answers)).repeat_interleave(lengths)
        loss = -(packed_logprobs(policy.causal, packed) * weights).sum()
        if not torch.isfinite(loss.detach()):
            raise TrainingError(
                "the loss is not a finite number; the weights before this step are kept",
                got=float(loss.detach()),
                expected="finite losses",
                next_step="lower sft.lr",
            )
        loss.backward()
        total += float(loss.detach())
    return total
