"""What learns in a stage of reinforcement learning: the policy, and whatever follows it step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from burnish.algorithms.base import Algorithm, RewardBatch
from burnish.algorithms.settings import AlgorithmSettings
from burnish.curriculum.base import Policy as Curriculum
from burnish.recipe import RlSettings
from burnish.records import Group, WeightVersion
from burnish.spans import timed
from burnish.training.checkpoint import saved_checkpoints
from burnish.training.credit import Assigned, assign
from burnish.training.critic import HELD, Critic, Estimate
from burnish.training.guard import GuardState, Trip, last_good
from burnish.training.kl_controller import Steering
from burnish.training.metrics import Figures, merge_update
from burnish.training.monitors import Mismatch
from burnish.training.optimiser import OptimiserPlan, learning_rate
from burnish.training.source import Source
from burnish.training.stage import Workbench
from burnish.training.state import RunState
from burnish.training.thrift import with_less_memory
from burnish.training.update import GroupUpdate, Reference, accumulate


@dataclass(frozen=True, slots=True)
class Learner:
    """The parts that only reinforcement learning needs."""

    open_source: Callable[[WeightVersion], Source]
    """Makes the source of graded groups, given the weight version at which the stage began."""
    algorithm: Algorithm
    curriculum: Curriculum
    reference: Reference | None
    seed: int
    settings: AlgorithmSettings
    """Those of the algorithm."""


def plan_of(settings: RlSettings) -> OptimiserPlan:
    """Optimiser settings of the stage."""
    return OptimiserPlan(
        steps=settings.steps, lr=settings.lr, warmup=settings.warmup, schedule=settings.schedule, floor=0.0,
        betas=settings.betas, weight_decay=settings.weight_decay, max_grad_norm=settings.max_grad_norm,
    )  # fmt: skip


class Trainer:
    """Turns the credit of a step into new weights."""

    def __init__(self, bench: Workbench, learner: Learner, settings: RlSettings, state: RunState) -> None:
        """Take up the optimiser, and what else a checkpoint of this state holds."""
        self._bench = bench
        self._learner = learner
        self._settings = settings
        self._plan = plan_of(settings)
        self._steering = Steering.begin(learner.settings, learner.reference, bench)
        self._critic = None
        if learner.algorithm.needs.critic:
            self._critic = bench.held[HELD] = Critic(bench.policy, learner.settings, self._plan)
        self._estimates: list[list[Estimate]] = []
        self.optimiser = bench.optimiser(self._plan, state, saves=settings.checkpoint_every > 0)

    def close(self) -> None:
        """Let go of the model."""
        self.optimiser.close()
        if self._critic is not None:
            self._critic.close()
        self._bench.held.clear()

    def credit(self, groups: Sequence[Group], rewards: RewardBatch, state: RunState) -> Assigned:
        """Credit for samples, or for tokens where there is a critic."""
        credit = assign(self._learner.algorithm, groups, rewards, state.scales)
        if self._critic is None:
            return credit
        credit, self._estimates = self._critic.judge(credit, self._settings.tokens_per_micro_batch)
        return credit

    def learn(
        self, state: RunState, credit: Assigned, groups: Sequence[Group], figures: dict[str, Figures]
    ) -> RunState:
        """One optimiser step, if any group carries signal.

        Args:
            state: before the step is counted.
            credit: of the step.
            groups: with the completions of the policy.
            figures: of the step; those of the update are added.

        Returns:
            The state with what follows the policy moved on.

        Raises:
            TrainingError: a loss is not finite, or memory is short.
        """
        own, lr = figures[""], learning_rate(self._plan, state.step) * state.guard.rate
        warming = self._critic is not None and state.step < self._learner.settings.critic_warmup
        if credit.updates and not warming:
            self._gather(credit.updates, state, figures)
        if credit.updates and self._critic is not None:
            own |= self._teach_critic(self._critic, credit, alone=warming)
        if credit.updates and not warming:
            own["grad_norm"] = self.optimiser.step(lr)
        own["lr"] = lr
        controls = self._steering.after_step(self._bench, self.optimiser, state, own, groups)
        return self._guarded(replace(state, controls=controls), own)

    def _teach_critic(self, critic: Critic, credit: Assigned, *, alone: bool) -> Figures:
        """One step of the critic; a shared backbone gets its part of the gradient before its own step."""
        budget = self._settings.tokens_per_micro_batch
        figures = critic.gather(credit.updates, self._estimates, budget, alone=alone)
        return {**figures, "critic_grad_norm": critic.step()}

    def _guarded(self, state: RunState, figures: Figures) -> RunState:
        """The state after the rules of the guard have been applied to the step's figures."""
        step = state.step + 1
        guard, trips = state.guard.after(self._settings.guard, step, figures)
        for trip in trips:
            guard, said = self._act(guard, trip)
            sentence = f"step {step}: {trip.sentence} for {trip.rule.patience} steps; {said}"
            self._bench.console.warn(sentence)
            self._bench.store.add_event("rl", step, "warning", "guard", sentence)
        return replace(state, guard=guard)

    def _act(self, guard: GuardState, trip: Trip) -> tuple[GuardState, str]:
        """Do what a rule says; returns what was done, in words."""
        if trip.rule.act == "warn":
            return guard, "nothing is done"
        guard = guard.lowered(trip.rule.factor)
        lowered = f"the learning rate is now {guard.rate:.3g} of what the recipe says"
        if trip.rule.act == "lower_rate":
            return guard, lowered
        self._bench.saver.wait()
        good = last_good(saved_checkpoints(self._bench.checkpoints), before=trip.first)
        if good is None:
            return guard, f"there is no checkpoint from before it began; {lowered}"
        self._bench.take(good.path, self.optimiser)
        return guard.restored(), f"the weights are those of {good.path.name} again, and {lowered}"

    @timed("update")
    def _gather(self, updates: Sequence[GroupUpdate], state: RunState, figures: dict[str, Figures]) -> None:
        """Gather the gradient of the step."""

        def work(budget: int) -> tuple[dict[str, dict[str, float]], Mismatch]:
            seen, policy, our = Mismatch(), self._bench.policy, self._learner
            return accumulate(
                policy, our.algorithm, updates, budget, our.reference, seen, state.controls
            ), seen

        done, mismatch = with_less_memory(
            work, self._settings.tokens_per_micro_batch, self.optimiser.zero, self._bench.console.warn
        )
        merge_update(figures, done)
        figures[""] |= mismatch.figures()
