"""Judging answers: what is expected, and the comparison, never enter the jail of the candidate."""
