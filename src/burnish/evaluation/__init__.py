"""Evaluation: suites of held-out tasks, intervals and paired tests, the probe, and trivial agents."""
