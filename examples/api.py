"""The Python interface in one file: a domain in ten lines, a run, and what it did.

command   python examples/api.py
cost      half a minute on two cores
expect    sampled accuracy 0 before, 0.11 after SFT, 0.15 after RL (seen on 2026-12-01)
"""

import tempfile
from pathlib import Path
from random import Random

import burnish


def larger(rng: Random, level: int) -> tuple[str, str]:
    """Which of two numbers is larger?"""
    low, high = 0, 50 * (level + 1)
    first, second = rng.randrange(low, high), rng.randrange(low, high)
    return f"larger of {first} and {second}?", str(max(first, second))


def main() -> None:
    """Train the tiny model on the domain above and print its accuracy before and after."""
    domain = burnish.domain("mine/larger", larger, levels=2)
    overrides = {
        "domains.train": ["mine/larger"],
        "domains.held_out": [],
        "sft.steps": 150,
        "rl.steps": 60,
        "evaluate.tasks": 32,
    }
    recipe = burnish.load_recipe(Path(__file__).parent / "tiny.toml", overrides)
    with tempfile.TemporaryDirectory() as folder:
        result = burnish.train(recipe, Path(folder) / "run", domains=[domain])
    for evaluation in result.summary["evaluations"]:
        print(evaluation["name"], evaluation["sampled"]["macro"]["value"])  # noqa: T201


if __name__ == "__main__":
    main()
