"""What people and scripts see of a run: progress, sentences, tables, the report."""

from burnish.observe.console import Console
from burnish.observe.progress import Bar, Progress, SilentProgress
from burnish.observe.tables import print_summary

__all__ = ["Bar", "Console", "Progress", "SilentProgress", "print_summary"]
