"""Whole jobs, composed of the rooms below: train, evaluate, probe, export, estimate."""

from burnish.pipeline.estimate import Estimate, dry_run
from burnish.pipeline.export import export
from burnish.pipeline.measure import evaluate_model, probe_model
from burnish.pipeline.run import RunResult, train

__all__ = ["Estimate", "RunResult", "dry_run", "evaluate_model", "export", "probe_model", "train"]
