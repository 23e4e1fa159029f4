"""The Python interface in one file: a domain in ten lines, a run, and what it did.

command   python examples/api.py
cost      about a minute on two cores
"""

import tempfile
from pathlib import Path
from random import Random

import burnish


def larger(rng: Random, level: int) -> tuple[str, str]:
    """Which of two numbers is larger?"""
    low, high = 10**level, 10 ** (level + 2)
    first, second = rng.randrange(low, high), rng.randrange(low, high)
    return f"larger of {first} and {second}?", str(max(first, second))


def main() -> None:
    """Train the tiny model on the domain above and print its accuracy before and after."""
    domain = burnish.domain("mine/larger", larger, levels=2)
    overrides = {
        "domains.train": ["mine/larger"],
        "domains.held_out": [],
        "sft.steps": 60,
        "rl.steps": 20,
        "evaluate.tasks": 32,
    }
    recipe = burnish.load_recipe(Path(__file__).parent / "tiny.toml", overrides)
    with tempfile.TemporaryDirectory() as folder:
        result = burnish.train(recipe, Path(folder) / "run", domains=[domain])
    for evaluation in result.summary["evaluations"]:
        print(evaluation["name"], evaluation["sampled"]["macro"]["value"])  # noqa: T201


if __name__ == "__main__":
    main()
