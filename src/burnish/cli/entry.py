"""The entry point: runs a command and turns whatever happens into an exit code and a readable message.

Exit codes: 0 done, 1 something unforeseen or a check that found something, 2 wrong input, 3 training cannot
go on, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence

from burnish.errors import BurnishError

EXIT_UNFORESEEN = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
EXIT_PIPE = 141
"""What a shell reports for a program whose reader went away."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code and never shows a traceback for bad input.

    With BURNISH_DEBUG=1 the traceback of an unforeseen error is printed instead of saved.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(arguments)
    except BurnishError as error:
        if os.environ.get("BURNISH_DEBUG") == "1":
            traceback.print_exc()
        return _fail(f"error: {error.render()}", error.exit_code)
    except KeyboardInterrupt:
        return _fail("interrupted", EXIT_INTERRUPTED)
    except BrokenPipeError:
        # Python would complain once more when it flushes standard output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_PIPE
    except Exception as error:
        return _fail(_unforeseen(error), EXIT_UNFORESEEN)


def _run(arguments: list[str]) -> int:
    from cyclopts import CycloptsError  # noqa: PLC0415 - so that even a broken installation gets a message

    from burnish.cli.app import app  # noqa: PLC0415
    from burnish.cli.arguments import expand, usage_error  # noqa: PLC0415

    try:
        result = app(expand(arguments), exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        raise usage_error(error, arguments) from None
    sys.stdout.flush()
    return result if isinstance(result, int) else 0


def _fail(message: str, code: int) -> int:
    print(message, file=sys.stderr)
    return code


def _unforeseen(error: Exception) -> str:
    """A short message, with the place of the saved traceback."""
    trace = "".join(traceback.format_exception(error))
    headline = f"unexpected error: {type(error).__name__}: {error}"
    if os.environ.get("BURNISH_DEBUG") == "1":
        return f"{trace}{headline}"
    try:
        handle, path = tempfile.mkstemp(prefix="burnish-", suffix=".traceback.txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(trace)
    except OSError:
        return f"{trace}{headline}"
    next_step = "run `burnish doctor`; if it finds nothing, report this with that file"
    return f"{headline}\n  traceback: {path}\n  next:      {next_step}"
