"""Continuing a run: what may have changed since, and taking up the newest checkpoint that verifies."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from burnish.errors import RunError
from burnish.evaluation.evaluation import Evaluation, evaluation_path, load_evaluation
from burnish.pipeline.parts import reference_of
from burnish.recipe import Recipe, differences, load_recipe, to_toml
from burnish.store.environment import collect_environment
from burnish.store.files import read_json, write_text_atomic
from burnish.store.rundir import RunDir
from burnish.store.runstore import RunStore
from burnish.training.checkpoint import (
    clear_leftovers,
    newest_checkpoint,
    read_masters,
    read_state,
    saved_checkpoints,
    set_aside,
)
from burnish.training.stage import Workbench
from burnish.training.state import RunState
from burnish.training.update import Reference

MAY_CHANGE: Mapping[str, str] = {
    "sft.checkpoint_every": "when to save",
    "sft.keep_checkpoints": "what to keep",
    "sft.max_minutes": "when to stop",
    "rl.checkpoint_every": "when to save",
    "rl.keep_checkpoints": "what to keep",
    "rl.keep_best": "what to keep",
    "rl.best_metric": "what to keep",
    "rl.keep_every": "what to keep",
    "rl.max_minutes": "when to stop",
    "rollout.task_workers": "who makes the tasks",
    "rollout.grading_workers": "who grades",
    "rollout.workers": "who draws",
    "rollout.lease_seconds": "when a worker is given up",
}
"""Keys that a resumed run may change, because no weight depends on them, and what each decides."""

_SAME_FOR_SAME_BITS = ("torch", "transformers", "reasoning-gym")


@dataclass(frozen=True)
class Restored:
    """Where a run goes on."""

    state: RunState
    evaluations: list[Evaluation]
    reference: Reference | None
    """What KL is measured against, when the run goes on in the middle of reinforcement learning."""


def open_run(recipe: Recipe, run_dir: Path) -> RunDir:
    """The directory of a run that can be continued with this recipe; changes nothing.

    Raises:
        RunError: there is no such run, it is finished, or the recipe differs in a key that may not change.
    """
    folder = RunDir.open(run_dir)
    forbidden = {k: v for k, v in _changed(folder, recipe).items() if k not in MAY_CHANGE}
    if forbidden:
        raise RunError(
            "a run cannot be resumed with another recipe",
            got=_told(forbidden),
            expected=f"the recipe the run was started with; only {', '.join(MAY_CHANGE)} may change",
            next_step=f"burnish train --resume {run_dir} (without a recipe), or start a new run",
        )
    if folder.read_status().state == "finished":
        raise RunError(
            f"the run {str(run_dir)!r} is finished; there is nothing to resume",
            next_step=f"burnish report {run_dir}, or start a new run with another --run-dir",
        )
    return folder


def _changed(folder: RunDir, recipe: Recipe) -> dict[str, tuple[Any, Any]]:
    return differences(load_recipe(folder.recipe), recipe)


def _told(changes: Mapping[str, tuple[Any, Any]]) -> str:
    return "; ".join(f"{key}: {old!r} -> {new!r}" for key, (old, new) in changes.items())


def restore(recipe: Recipe, folder: RunDir, bench: Workbench) -> Restored:
    """Take up the newest good checkpoint and the evaluations made up to it.

    Weights are put in place; records of what will be done again are taken back. The new recipe is written
    last, when nothing can refuse any more.

    Raises:
        RunError: a checkpoint is from a newer version, the folder cannot be written, or the weights that KL
            is measured against are lost.
    """
    clear_leftovers(folder.checkpoints)
    checkpoint = _newest(folder, bench)
    state = RunState() if checkpoint is None else read_state(checkpoint)
    reference = None
    if checkpoint is None:
        bench.console.say("no checkpoint yet: starting from the first step")
    else:
        if state.stage == "rl" and not state.finished:
            reference = _reference(recipe, folder, bench)
        put_weights(bench, read_masters(checkpoint))
        bench.console.say(f"resuming after {state.stage} step {state.step} ({checkpoint.name})")
    evaluations = _evaluations(recipe, folder, state)
    _rewind(bench.store, recipe, state, [e.name for e in evaluations])
    _tell_changes(recipe, folder, bench, state)
    folder.write_status("running", state.stage, state.step)
    return Restored(state, evaluations, reference)


def _newest(folder: RunDir, bench: Workbench) -> Path | None:
    damaged: list[tuple[Path, str]] = []
    newest = newest_checkpoint(folder.checkpoints, on_damaged=lambda path, why: damaged.append((path, why)))
    for path, why in damaged:
        aside = set_aside(path)
        instead = f"resuming from {newest.name}" if newest else "starting from the first step"
        sentence = f"checkpoint {path.name} is damaged: {why}; it is now {aside.name}; {instead}"
        bench.console.warn(sentence)
        bench.store.add_event("resume", 0, "error", "checkpoint", sentence)
    return newest


@torch.no_grad()
def put_weights(bench: Workbench, saved: Mapping[str, Tensor]) -> None:
    """Copy float32 weights into the masters and the model.

    Raises:
        RunError: they are those of another model.
    """
    odd = sorted(n for n, m in bench.masters.items() if n not in saved or saved[n].shape != m.shape)
    if odd:
        raise RunError(
            "the checkpoint is of another model",
            got=f"no fitting tensor for {odd[:3]}",
            expected=f"the {len(bench.masters)} trainable tensors of {bench.policy.name!r}",
            next_step="restore the model the run was started with, or start a new run",
        )
    trainable = bench.policy.trainable()
    for name, master in bench.masters.items():
        master.copy_(saved[name])
        trainable[name].copy_(saved[name])


def _reference(recipe: Recipe, folder: RunDir, bench: Workbench) -> Reference | None:
    """KL is measured against the policy that the stage began with, not the one it has become."""
    if "sft" in recipe.stages:
        ends = [s for s in saved_checkpoints(folder.checkpoints) if s.stage == "sft" and s.finished]
        if recipe.algorithm.needs_reference and not ends:
            raise RunError(
                "the checkpoint that ended sft is damaged or missing, and KL is measured against it",
                got=[p.name for p in folder.checkpoint_paths()],
                expected="a complete checkpoint of the end of sft",
                next_step="restore it from a copy, or start a new run",
            )
        if ends:
            put_weights(bench, read_masters(ends[0].path))
    return reference_of(bench.policy, recipe)


def _evaluations(recipe: Recipe, folder: RunDir, state: RunState) -> list[Evaluation]:
    """Those made of models that the state has reached; that of the present model may have to be made yet."""
    started = state.stage in recipe.stages
    past = ("before", *recipe.stages[: recipe.stages.index(state.stage)]) if started else ()
    present = (state.stage,) if started and state.finished else () if started else ("before",)
    paths = [evaluation_path(folder.path, name) for name in (*past, *present)]
    lost = [path.name for path in paths[: len(past)] if not path.is_file()]
    if lost:
        raise RunError(
            "an evaluation of an earlier model is missing, and that model is gone",
            got=f"no {', '.join(lost)} in {folder.path}",
            expected="the files that the run wrote",
            next_step="restore them from a copy, or start a new run",
        )
    return [load_evaluation(path) for path in paths if path.is_file()]


def _rewind(store: RunStore, recipe: Recipe, state: RunState, evaluated: Sequence[str]) -> None:
    """Forget rows of steps and evaluations that will be made again."""
    started = recipe.stages.index(state.stage) if state.stage in recipe.stages else -1
    with store.together():
        for number, stage in enumerate(recipe.stages):
            if number >= started:
                store.rewind(
                    stage,
                    state.step if number == started else 0,
                    frontier=state.ledger.frontier,
                    open_entries=state.ledger.open,
                )
        for name in ("before", *recipe.stages):
            if name not in evaluated:
                store.rewind(f"evaluate {name}", -1)


def _tell_changes(recipe: Recipe, folder: RunDir, bench: Workbench, state: RunState) -> None:
    changed = _changed(folder, recipe)
    if changed:
        bench.console.say(f"changed: {_told(changed)}")
        bench.store.add_event(state.stage, state.step, "info", "recipe", _told(changed))
        write_text_atomic(folder.recipe, to_toml(recipe))
    moved = _moved(folder, recipe)
    if moved:
        sentence = f"resumed under other conditions, so the last bits may differ: {'; '.join(moved)}"
        bench.console.warn(sentence)
        bench.store.add_event(state.stage, state.step, "warning", "environment", sentence)


def _moved(folder: RunDir, recipe: Recipe) -> list[str]:
    """What has changed about the machine or the packages that the bits of a result depend on."""
    with contextlib.suppress(RunError, LookupError, TypeError, AttributeError):
        then = _conditions(read_json(folder.environment), recipe)
        now = _conditions(collect_environment(threads=recipe.threads or None), recipe)
        return [f"{key} {then[key]} -> {now[key]}" for key in then if then[key] != now[key]]
    return []


def _conditions(environment: Mapping[str, Any], recipe: Recipe) -> dict[str, object]:
    packages, cpu = environment["packages"], environment["cpu"]
    cores = {} if recipe.threads else {"cores": cpu["cores"], "threads": environment["threads"]}
    return {name: packages.get(name) for name in _SAME_FOR_SAME_BITS} | {"processor": cpu["model"]} | cores
