"""One run, from a recipe to a report: evaluate, fine-tune, evaluate, reinforce, evaluate."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.algorithms.build import build as build_algorithm
from burnish.domains.base import Domain
from burnish.domains.prefetch import TaskPool
from burnish.domains.registry import DomainSet
from burnish.errors import BurnishError, Interrupted
from burnish.evaluation.evaluation import Evaluation, save_evaluation
from burnish.evaluation.suite import evaluate, split_modes
from burnish.evaluation.summary import summarise
from burnish.faults import fault_point
from burnish.models.load import load_policy
from burnish.observe.console import Console
from burnish.observe.report import build_report
from burnish.observe.tables import print_summary
from burnish.observe.text import percent
from burnish.pipeline.parts import (
    curriculum_of,
    domains_of,
    engine_of,
    entries,
    evaluation_plan,
    reference_of,
    source_of,
    threads,
)
from burnish.pipeline.resume import Restored, open_run, restore
from burnish.pipeline.tasks import RunTasks
from burnish.recipe import Recipe, to_toml
from burnish.records import Task
from burnish.rollout.torch_engine import TorchEngine
from burnish.store.environment import collect_environment
from burnish.store.files import write_json_atomic
from burnish.store.rundir import RunDir
from burnish.store.runstore import RunStore
from burnish.training.checkpoint import newest_checkpoint
from burnish.training.optimiser import masters_of
from burnish.training.rl import Learner, prompt_text, train_rl
from burnish.training.sft import train_sft
from burnish.training.signals import StopRequest
from burnish.training.stage import Workbench
from burnish.training.state import RunState
from burnish.training.update import Reference

BYTES_PER_PARAMETER_ON_DISK = 20
"""Room for one checkpoint with optimiser state and two without."""


@dataclass(frozen=True)
class RunResult:
    """What a finished run leaves."""

    summary: dict[str, Any]
    """The content of `summary.json`."""
    run_dir: Path


@dataclass
class _Run:
    """Everything that lives as long as the run."""

    recipe: Recipe
    folder: RunDir
    domains: DomainSet
    bench: Workbench
    engine: TorchEngine
    eval_tasks: dict[str, list[Task]]
    evaluations: list[Evaluation]
    state: RunState
    reference: Reference | None
    """What KL is measured against in a stage that is taken up in its middle."""

    @property
    def console(self) -> Console:
        return self.bench.console


def train(
    recipe: Recipe,
    run_dir: Path,
    *,
    resume: bool = False,
    console: Console | None = None,
    extra_domains: Sequence[Domain] = (),
) -> RunResult:
    """Run a recipe into a new run directory, or continue the run that is there.

    Args:
        recipe: what to do.
        run_dir: new folder, or with `resume` that of an earlier run.
        resume: continue from the newest checkpoint that verifies.
        console: where progress is shown; a plain one by default.
        extra_domains: domain objects; those that the recipe does not name as held out are trained on.

    Raises:
        Interrupted: the user asked to stop; the run is saved.
        BurnishError: bad input or a failure, see `burnish.errors`; a started run keeps what it has.
    """
    console = console or Console()
    domains = domains_of(recipe, extra_domains)
    curriculum_of(recipe, domains) if domains.train else None
    folder = open_run(recipe, run_dir) if resume else RunDir.create(run_dir, recipe=to_toml(recipe))
    with ExitStack() as stack:
        stack.enter_context(folder.lock())
        stack.enter_context(threads(recipe.threads))
        run = _start_or_leave_nothing(stack, recipe, folder, domains, console, resume)
        stack.enter_context(_status(folder))
        for name, work in _chapters(run):
            _chapter(run, name, work)
        return _finish(run)


def _chapters(run: _Run) -> Iterator[tuple[str, Callable[[], None] | None]]:
    """Names of evaluations, each with the training that comes before it."""
    yield "before", None
    if "sft" in run.recipe.stages:
        yield "sft", lambda: _sft(run)
    if "rl" in run.recipe.stages:
        yield "rl", lambda: _rl(run)


def _chapter(run: _Run, name: str, work: Callable[[], None] | None) -> None:
    if any(e.name == name for e in run.evaluations):
        return
    done = run.state.stage == name and run.state.finished
    if work is not None and not done:
        work()
    if work is not None:  # also when the process was killed between the end of the stage and this
        _after_stage(run)
    _stop_if_asked(run)
    _evaluate(run, name)
    _stop_if_asked(run)


def _stop_if_asked(run: _Run) -> None:
    if not run.bench.stop.asked:
        return
    raise Interrupted(
        f"stopped on request after {run.state.stage} step {run.state.step}; everything is saved",
        next_step=f"burnish train --resume {run.folder.path}",
    )


@contextlib.contextmanager
def _status(folder: RunDir) -> Iterator[None]:
    """Keep `status.json` true whatever happens."""
    try:
        yield
    except BaseException as error:
        stopped = isinstance(error, Interrupted | KeyboardInterrupt)
        with contextlib.suppress(BurnishError, OSError):
            status = folder.read_status()
            folder.write_status("interrupted" if stopped else "failed", status.stage, status.step)
        raise


def _start_or_leave_nothing(
    stack: ExitStack, recipe: Recipe, folder: RunDir, domains: DomainSet, console: Console, resume: bool
) -> _Run:
    """Start; if that fails, remove the new run directory, so that a corrected retry finds no trace."""
    try:
        return _start(stack, recipe, folder, domains, console, resume)
    except BaseException:
        if not resume:
            stack.close()
            shutil.rmtree(folder.path, ignore_errors=True)
        raise


def _start(
    stack: ExitStack, recipe: Recipe, folder: RunDir, domains: DomainSet, console: Console, resume: bool
) -> _Run:
    console.say(f"{recipe.name}: {len(domains.train)} domains to train on, {len(domains.held_out)} held out")
    if not folder.environment.is_file():
        write_json_atomic(folder.environment, collect_environment(threads=recipe.threads or None))
    fault_point("run.before_database")
    store = stack.enter_context(_database(folder))
    console.say(f"loading the model {recipe.model.name}")
    policy = load_policy(recipe.model, recipe.seed)
    pool = stack.enter_context(TaskPool(domains.all, workers=recipe.rollout.task_workers))
    room = policy.context - recipe.rollout.max_tokens
    longest = min(room, recipe.domains.max_prompt_tokens or room)
    tasks = RunTasks(pool, policy, longest, store, console)
    plan = evaluation_plan(recipe)
    levels = [(domain, level) for domain, level, _ in entries(domains)]
    eval_tasks = tasks.evaluation_tasks(levels, plan.split, plan.tasks)
    stop = stack.enter_context(StopRequest())
    if not policy.trainable():
        raise AssertionError("a loaded policy has nothing to train")
    bench = stack.enter_context(
        Workbench(policy, masters_of(policy.trainable()), tasks, store, console, folder.checkpoints, stop)
    )
    found = restore(recipe, folder, bench) if resume else Restored(RunState(), [], None)
    engine = engine_of(policy, recipe)
    if resume:
        engine.load(bench.masters, found.state.version)
    return _Run(
        recipe, folder, domains, bench, engine, eval_tasks, found.evaluations, found.state, found.reference
    )


def _database(folder: RunDir) -> RunStore:
    """The run's database; a run that was ended before it had one, or a checkpoint, gets it now."""
    if folder.database.is_file() or folder.checkpoint_paths():
        return RunStore.open(folder.database, read_only=False)
    return RunStore.create(folder.database)


def _sft(run: _Run) -> None:
    run.folder.write_status("running", "sft", run.state.step)
    curriculum = curriculum_of(run.recipe, run.domains)
    run.state = train_sft(run.bench, curriculum, run.recipe.sft, run.state)


def _rl(run: _Run) -> None:
    run.folder.write_status("running", "rl", run.state.step)
    open_source = source_of(
        run.recipe, run.bench.policy, run.engine, run.domains.train, lambda said: _lost(run, said)
    )
    learner = Learner(
        open_source,
        build_algorithm(run.recipe.algorithm, run.recipe.rollout.max_tokens),
        curriculum_of(run.recipe, run.domains),
        run.reference or reference_of(run.bench.policy, run.recipe),
        run.recipe.seed,
        run.recipe.algorithm,
    )
    run.state = train_rl(run.bench, learner, run.recipe.rl, run.state)


def _lost(run: _Run, said: str) -> None:
    """A rollout worker was replaced."""
    run.console.warn(said)
    run.bench.store.add_event("rl", run.state.step, "warning", "worker", said)


def _after_stage(run: _Run) -> None:
    """Hand the trained weights to the engine and note what the stage cost."""
    s = run.state
    run.engine.load(run.bench.masters, s.version)
    run.bench.store.add_stage(
        s.stage, s.seconds, tokens_generated=s.tokens_generated, tokens_trained=s.tokens_trained,
        tasks=s.ordinal,
    )  # fmt: skip
    run.folder.write_status("running", s.stage, s.step)


def _evaluate(run: _Run, name: str) -> None:
    began = time.monotonic()
    plan = evaluation_plan(run.recipe)
    total = sum(map(len, run.eval_tasks.values()))
    with run.console.task(f"evaluating: {name}", total) as bar:
        evaluation, groups = evaluate(
            run.engine, lambda task: run.bench.policy.encode(task.messages), entries(run.domains),
            run.eval_tasks, plan, name=name, on_done=bar.advance,
        )  # fmt: skip
    for group in groups:
        greedy, sampled = split_modes(group)
        run.bench.store.add_group(f"evaluate {name}", 0, group, prompt_text(group.task))
        run.bench.store.add_evaluation(name, "greedy", greedy)
        run.bench.store.add_evaluation(name, "sampled", sampled)
    run.bench.store.add_stage(
        f"evaluate {name}", time.monotonic() - began, tokens_generated=evaluation.tokens, tasks=total
    )
    run.bench.store.flush()  # the file below says that the evaluation is done
    fault_point("run.before_evaluation_is_saved")
    save_evaluation(evaluation, run.folder.path)
    fault_point("run.after_evaluation_is_saved")
    run.evaluations.append(evaluation)
    _write_summary(run)
    macro = summarise([evaluation])["evaluations"][0]
    sampled, greedy = (percent(macro[mode]["macro"]["value"]) for mode in ("sampled", "greedy"))
    run.console.say(f"{name}: accuracy {sampled} sampled, {greedy} greedy")


def _write_summary(run: _Run) -> dict[str, Any]:
    summary = summarise(run.evaluations)
    costs = run.bench.store
    costs.flush()
    stages = costs.stages()
    summary["name"] = run.recipe.name
    summary["seconds"] = {c.name: c.seconds for c in stages}
    summary["tokens"] = {
        c.name: {"generated": c.tokens_generated, "trained": c.tokens_trained} for c in stages
    }
    summary["seconds"]["total"] = sum(c.seconds for c in stages)
    write_json_atomic(run.folder.summary, summary)
    return summary


def _finish(run: _Run) -> RunResult:
    summary = _write_summary(run)
    run.folder.write_status("finished", run.state.stage, run.state.step)
    report = build_report(run.folder.path, run.bench.store)
    checkpoint = newest_checkpoint(run.folder.checkpoints, hashes=False)
    places = {
        "report": report,
        "checkpoint": checkpoint / "hf" if checkpoint else "none",
        "samples": run.folder.database,
    }
    print_summary(run.console, summary, places)
    return RunResult(summary, run.folder.path)
