"""The parts of a training step, by the names of their spans."""

PARTS: tuple[str, ...] = (
    "draw", "tasks", "rollout", "wait", "grade", "update", "optimiser", "sync", "record", "checkpoint",
)  # fmt: skip
"""What a step is made of; where one lies within another, the inner one counts."""
ARITHMETIC: tuple[str, ...] = ("rollout", "update", "optimiser")
"""Those that are the model's own arithmetic."""
