"""`report.html`: one self-contained page about a run."""

from burnish.observe.report.build import build_report
from burnish.observe.report.source import ReportSource

__all__ = ["ReportSource", "build_report"]
