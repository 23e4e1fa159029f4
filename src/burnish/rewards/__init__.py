"""Verdicts: running graders safely, and reward functions of other frameworks as graders."""
