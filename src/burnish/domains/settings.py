"""What the [domains] table of a recipe may say."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from burnish.rewards.code import CodeReward

AnswerFormat = Literal["plain", "tags"]
"""`plain`: the whole completion is the answer; `tags`: the answer is the last <answer>...</answer>."""

GraderName = Literal["exact", "number", "math", "choice"]
ColumnConvention = Literal["columns", "gsm8k", "trl", "verl"]
CodeConvention = Literal["mbpp", "humaneval", "apps", "livecodebench"]
"""Columns of rows whose answer is a program, judged in the sandbox."""

_CONFIG = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class RowsSettings(BaseModel):
    """One domain made of the rows of a JSONL or Parquet file."""

    model_config = _CONFIG

    name: str = Field(min_length=1)
    """Name of the domain, for example `math/gsm8k`; `train` and `held_out` refer to it."""
    path: str = Field(min_length=1)
    """A .jsonl or .parquet file."""
    adapter: ColumnConvention | CodeConvention = "columns"
    """Column convention: `columns` (the keys below), `gsm8k`, `trl`, `verl`; for code `mbpp`, `humaneval`,
    `apps`, `livecodebench`."""
    prompt: str | None = None
    """Column with the prompt, text or a list of messages; None takes the adapter's, else `prompt`."""
    answer: str | None = None
    """Column with the reference answer, dots reach into tables; None takes the adapter's, else `answer`."""
    level: str | None = None
    """Column with the difficulty, a number; its distinct values in order are the levels."""
    grader: GraderName | None = None
    """How answers are compared; None takes the adapter's, else `exact`."""


class CodeSettings(BaseModel):
    """How programs are run and what they are worth, in all code domains."""

    model_config = _CONFIG

    reward: CodeReward = "all_or_nothing"
    """`all_or_nothing`; `pass_ratio` (1, half the share that pass, -0.1), mapped to [0, 1]; `efficiency`."""
    show_tests: int = Field(default=1, ge=0)
    """Tests that the prompt shows; the others stay hidden."""
    cpu_seconds: float = Field(default=2.0, gt=0, le=300)
    """CPU time of one test."""
    memory_mb: int = Field(default=256, ge=16, le=65536)
    """Memory of one test."""
    tier: int = Field(default=2, ge=1, le=3)
    """Weakest wall that is accepted: 1 seccomp and Landlock, 2 namespaces too, 3 a kernel of its own."""
    engine: str = Field(default="native", min_length=1)
    """What builds the wall: `native`, `bwrap`, `nsjail`, or the address of a service, `http://host:port`."""
    profile: str = Field(default="bare", min_length=1)
    """Packages warmed in the sandbox: `bare`, `numpy`, or import names with commas between them."""
    workers: int = Field(default=2, ge=1, le=256)
    """Programs run at the same time."""


class DomainSettings(BaseModel):
    """What is trained on, what is only measured, and how answers are asked for."""

    model_config = _CONFIG

    train: tuple[str, ...] = ()
    """Domains to train on: names or patterns such as `reasoning-gym/arithmetic/*`."""
    held_out: tuple[str, ...] = ()
    """Domains that are only evaluated: names or patterns; never trained on."""
    exclude: tuple[str, ...] = ()
    """Names or patterns removed from what `train` and `held_out` match."""
    level: int = Field(default=0, ge=0)
    """Difficulty of every domain that `levels` does not name; 0 is the easiest."""
    levels: dict[str, int] = Field(default_factory=dict)
    """Difficulty of single domains: name or pattern -> level; the last entry that matches wins."""
    answer_format: AnswerFormat = "plain"
    """`plain`: the completion is the answer. `tags`: think first, then <answer>...</answer>."""
    instruction: str | None = None
    """System message; None takes the one that goes with answer_format, "" sends none."""
    graded: bool = False
    """Keep partial credit for the families that declare it; otherwise a reward is 0 or 1."""
    max_prompt_tokens: int | None = Field(default=None, ge=1)
    """Tasks whose prompt is longer are refused; None leaves it to the model's context."""
    rows: tuple[RowsSettings, ...] = ()
    """Domains made of files, one [[domains.rows]] table each."""
    code: CodeSettings = CodeSettings()
    """How programs are run and what they are worth."""

    @model_validator(mode="after")
    def _levels_are_not_negative(self) -> DomainSettings:
        wrong = {name: level for name, level in self.levels.items() if level < 0}
        if wrong:
            raise ValueError(f"levels must be 0 or more, got {wrong}")
        return self
