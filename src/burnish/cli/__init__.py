"""The command line: arguments in, text out; what it does lives in the rooms below."""

from burnish.cli.entry import main

__all__ = ["main"]
