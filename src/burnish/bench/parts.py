"""The parts of a training step, by the names of their spans."""

PARTS = ("draw", "tasks", "rollout", "grade", "update", "optimiser", "sync", "record", "checkpoint")
"""What a step is made of; they do not overlap."""
ARITHMETIC = ("rollout", "update", "optimiser")
"""Those that are the model's own arithmetic."""
