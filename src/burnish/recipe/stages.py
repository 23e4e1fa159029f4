"""What the [sft], [rl] and [evaluate] tables of a recipe may say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

_CONFIG = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)

Beta = Annotated[float, Field(ge=0, lt=1)]


class SftSettings(BaseModel):
    """Supervised fine-tuning on gold answers: AdamW, warm-up, then cosine decay."""

    model_config = _CONFIG

    steps: int = Field(default=100, ge=1)
    """Optimiser steps."""
    batch: int = Field(default=16, ge=1)
    """Gold answers per step."""
    lr: float = Field(default=3e-5, gt=0)
    """Peak learning rate."""
    warmup: int = Field(default=10, ge=0)
    """Steps over which the learning rate rises from zero."""
    min_lr_ratio: float = Field(default=0.1, ge=0, le=1)
    """Learning rate of the last step, as a share of the peak."""
    tokens_per_micro_batch: int = Field(default=2048, ge=1)
    """Most tokens in one forward and backward pass; bounds memory."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Decoupled weight decay."""
    max_grad_norm: float = Field(default=1.0, gt=0)
    """Gradients are scaled down to this global norm."""
    betas: tuple[Beta, Beta] = (0.9, 0.95)
    """Decay rates of AdamW's two moments."""
    checkpoint_every: int = Field(default=0, ge=0)
    """Steps between checkpoints; 0 saves only at the end of the stage."""
    keep_checkpoints: int = Field(default=2, ge=1)
    """Newest checkpoints kept to resume from; the end of the stage always stays."""
    max_minutes: float | None = Field(default=None, gt=0)
    """Stop after the step in which this many minutes have passed; not set = no limit."""


class GuardRule(BaseModel):
    """What to do when a figure of the run goes wrong for some steps in a row."""

    model_config = _CONFIG

    watch: Literal["entropy", "kl", "grad_norm", "reward"]
    """Figure: `entropy` may not fall below the limit and `kl` not rise above it, both in nats a token;
    `grad_norm` may not exceed the limit times its median of 20 steps; the mean `reward` of 10 steps may not
    lie more than the limit under the best such mean."""
    limit: float = Field(gt=0)
    """Where it goes wrong."""
    patience: int = Field(default=3, ge=1)
    """Steps in a row after which the rule acts."""
    act: Literal["warn", "lower_rate", "restore"] = "lower_rate"
    """`warn` only says so, `lower_rate` lowers the learning rate, `restore` also takes the weights back from
    the newest checkpoint from before it went wrong."""
    factor: float = Field(default=0.5, gt=0, lt=1)
    """What the learning rate is multiplied by, for the rest of the stage."""
    rest: int = Field(default=10, ge=0)
    """Steps after an act in which the rule does nothing."""


class RlSettings(BaseModel):
    """Reinforcement learning: prompts per step, optimiser, schedule, reward and checkpoints."""

    model_config = _CONFIG

    steps: int = Field(default=60, ge=1)
    """Optimiser steps."""
    prompts_per_step: int = Field(default=16, ge=1)
    """Prompts drawn for a step; each gets rollout.samples completions."""
    lr: float = Field(default=1e-5, gt=0)
    """Peak learning rate."""
    warmup: int = Field(default=5, ge=0)
    """Steps over which the learning rate rises from zero."""
    schedule: Literal["constant", "cosine", "linear"] = "constant"
    """Learning rate after the warm-up; cosine and linear end at zero."""
    tokens_per_micro_batch: int = Field(default=2048, ge=1)
    """Most tokens in one forward and backward pass; bounds memory."""
    max_grad_norm: float = Field(default=1.0, gt=0)
    """Gradients are scaled down to this global norm."""
    betas: tuple[Beta, Beta] = (0.9, 0.95)
    """Decay rates of AdamW's two moments."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Decoupled weight decay."""
    reward: Literal["true", "random"] = "true"
    """`true` rewards what the grader says; `random` flips a coin instead, as a control arm."""
    fault_rate: float = Field(default=0.0, ge=0, lt=1)
    """A drill: this share of verdicts, chosen by chance, is thrown away as if the grader had broken."""
    quarantine_after: int = Field(default=3, ge=1)
    """Groups of a domain in a row without a single verdict after which it is drawn no more."""
    quarantine_steps: int = Field(default=20, ge=0)
    """Steps until such a domain is tried again, twice as many each further time; 0 = never."""
    checkpoint_every: int = Field(default=0, ge=0)
    """Steps between checkpoints; 0 saves only at the end of the stage."""
    keep_checkpoints: int = Field(default=2, ge=1)
    """Newest checkpoints kept to resume from; the end of a stage always stays."""
    keep_best: int = Field(default=1, ge=0)
    """Checkpoints kept because their best_metric is highest; 0 keeps none for that."""
    best_metric: str = Field(default="reward", min_length=1)
    """Figure of a step, averaged over the last 10 steps, that says which checkpoints are best."""
    keep_every: int = Field(default=0, ge=0)
    """Checkpoints whose step is a multiple of this are kept for good; 0 keeps none for that."""
    max_minutes: float | None = Field(default=None, gt=0)
    """Stop after the step in which this many minutes have passed; not set = no limit."""
    guard: tuple[GuardRule, ...] = ()
    """Rules against collapse, one table each."""


class EvaluateSettings(BaseModel):
    """How a model is measured before, between and after the stages."""

    model_config = _CONFIG

    tasks: int = Field(default=48, ge=1)
    """Tasks per domain."""
    samples: int = Field(default=4, ge=1)
    """Completions per task at temperature 1, beside one greedy completion."""
    split: Literal["eval", "holdout"] = "eval"
    """Part of a domain the tasks come from; neither shares a task with training."""
    confidence: float = Field(default=0.95, gt=0, lt=1)
    """Coverage of every interval."""
    resamples: int = Field(default=10_000, ge=100)
    """Bootstrap resamples behind an interval of a difference."""
