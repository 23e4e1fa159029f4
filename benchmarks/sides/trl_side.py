"""TRL's GRPOTrainer, one step at a time: reports each step and waits to be told to go on.

Runs in an environment with TRL, started by `against_trl.py`; it asks that program for rewards.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from pipe import Pipe

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch
from datasets import Dataset
from transformers import AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

PIPE = Pipe()


class Halting(TrainerCallback):
    """Reports the step that ended, then waits."""

    def on_step_end(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """Called after the optimiser step."""
        PIPE.send(kind="step", step=state.global_step)
        if PIPE.receive()["kind"] != "go":
            control.should_training_stop = True


def reward(prompts: list[Any], completions: list[Any], row: list[int], **rest: Any) -> list[float]:
    """Rewards of a batch, from the graders of the other side."""
    texts = [c[0]["content"] for c in completions]
    tokens = [len(ids) for ids in rest.get("completion_ids", [])]
    PIPE.send(kind="grade", rows=row, texts=texts, tokens=tokens)
    return PIPE.receive()["rewards"]


def main(settings: dict[str, Any]) -> None:
    """Train on the given prompts, in the given order."""
    torch.set_num_threads(settings["threads"])
    rows = [json.loads(line) for line in Path(settings["prompts"]).read_text().splitlines()]
    data = Dataset.from_list([{"prompt": r["messages"], "row": i} for i, r in enumerate(rows)])
    samples, batch = settings["samples"], settings["batch"]
    config = GRPOConfig(
        output_dir=settings["folder"],
        use_cpu=True,
        bf16=settings["bf16"],
        model_init_kwargs={"dtype": settings["dtype"]},
        per_device_train_batch_size=batch,
        gradient_accumulation_steps=settings["prompts_per_step"] * samples // batch,
        num_generations=samples,
        max_completion_length=settings["max_tokens"],
        max_steps=settings["steps"],
        learning_rate=settings["lr"],
        lr_scheduler_type="constant",
        adam_beta2=0.95,
        beta=0.0,
        loss_type="grpo",
        epsilon=0.2,
        epsilon_high=0.28,
        gradient_checkpointing=settings["checkpointing"],
        shuffle_dataset=False,
        temperature=1.0,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        seed=settings["seed"],
    )  # fmt: skip
    trainer = GRPOTrainer(
        model=settings["model"],
        reward_funcs=reward,
        args=config,
        train_dataset=data,
        processing_class=AutoTokenizer.from_pretrained(settings["model"], padding_side="left"),
        callbacks=[Halting()],
    )
    trainer.train()
    PIPE.send(kind="end")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
