"""Measure any model without training it: evaluate and probe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from burnish.domains.base import Domain
from burnish.domains.prefetch import TaskPool
from burnish.domains.registry import DomainSet
from burnish.evaluation.cost import RunShape
from burnish.evaluation.evaluation import Evaluation
from burnish.evaluation.plan import EvaluationPlan
from burnish.evaluation.probe import ProbeReport, ProbeSettings, grid, probe
from burnish.evaluation.suite import evaluate
from burnish.models.load import load_policy
from burnish.models.policy import Policy
from burnish.observe.console import Console
from burnish.pipeline.parts import domains_of, entries, evaluation_plan, threads
from burnish.pipeline.tasks import RunTasks
from burnish.recipe import Recipe
from burnish.records import Split, Task
from burnish.rollout.torch_engine import TorchEngine
from burnish.training.checkpoint import newest_checkpoint


def resolve_model(name: str) -> str:
    """A run directory or a checkpoint stands for its weights; any other name is left as it is."""
    path = Path(name)
    if (path / "hf" / "config.json").is_file():
        return str(path / "hf")
    if (path / "checkpoints").is_dir():
        newest = newest_checkpoint(path / "checkpoints")
        if newest is not None:
            return str(newest / "hf")
    return name


@dataclass
class _Bench:
    policy: Policy
    engine: TorchEngine
    domains: DomainSet
    tasks: RunTasks


@contextmanager
def _bench(model: str, recipe: Recipe, console: Console, extra: Sequence[Domain]) -> Iterator[_Bench]:
    domains = domains_of(recipe, extra)
    settings = recipe.model.model_copy(update={"name": resolve_model(model), "lora_rank": 0})
    console.say(f"loading the model {model}")
    policy = load_policy(settings, recipe.seed)
    room = policy.context - recipe.rollout.max_tokens
    longest = min(room, recipe.domains.max_prompt_tokens or room)
    with threads(recipe.threads), TaskPool(domains.all, workers=recipe.rollout.task_workers) as pool:
        tasks = RunTasks(pool, policy, longest, None, console)
        yield _Bench(policy, TorchEngine(policy, recipe.rollout.batch_rows), domains, tasks)


def evaluate_model(
    model: str,
    recipe: Recipe,
    *,
    plan: EvaluationPlan | None = None,
    console: Console | None = None,
    extra_domains: Sequence[Domain] = (),
) -> Evaluation:
    """Evaluate a model, run or checkpoint on the domains of a recipe.

    Args:
        model: hub id, directory, run, checkpoint, `package:NAME` or `tiny`.
        recipe: domains, completion length and threads.
        plan: sizes; those of the recipe by default.
        console: where progress is shown.
        extra_domains: domain objects beside those that the recipe names.
    """
    console = console or Console()
    plan = plan or evaluation_plan(recipe)
    with _bench(model, recipe, console, extra_domains) as bench:
        levels = [(domain, level) for domain, level, _ in entries(bench.domains)]
        tasks = bench.tasks.evaluation_tasks(levels, plan.split, plan.tasks)
        with console.task(f"evaluating {model}", sum(map(len, tasks.values()))) as bar:
            evaluation, _ = evaluate(
                bench.engine, lambda task: bench.policy.encode(task.messages), entries(bench.domains), tasks,
                plan, name=model, on_done=bar.advance,
            )  # fmt: skip
    return evaluation


def probe_model(
    model: str,
    recipe: Recipe,
    *,
    levels: Sequence[int] | None = (0,),
    plan: EvaluationPlan | None = None,
    console: Console | None = None,
    extra_domains: Sequence[Domain] = (),
) -> ProbeReport:
    """Profile a model over the domains of a recipe and the given levels (None: all levels)."""
    console = console or Console()
    plan = plan or evaluation_plan(recipe)
    with _bench(model, recipe, console, extra_domains) as bench:

        def fetch(domain: Domain, split: Split, level: int, count: int) -> list[Task]:
            made = bench.tasks.get([(domain.name, split, level, i) for i in range(count)])
            return [task for task in made if task is not None]

        cells = grid(bench.domains.all, levels)
        shape = RunShape(recipe.rl.steps, recipe.rl.prompts_per_step, recipe.rollout.samples)
        with console.task(f"probing {model}", len(cells)) as bar:
            return probe(
                bench.engine, lambda task: bench.policy.encode(task.messages), cells, plan, tasks=fetch,
                settings=ProbeSettings(shape=shape), on_cell=lambda cell: bar.advance(1, domain=cell.domain),
            )  # fmt: skip
