"""Inside the jail: run a Python program, or load it and call a function; say how it ended.

An answer goes out as one frame, `{"kind": "value"}` and the coded value. Everything here runs in the
program's own process, so whatever it says is only ever an answer, never a verdict.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

from burnish.sandbox import values, wire

FILE_NAME = "solution.py"
_OURS = os.path.dirname(__file__) + "/"
Report = tuple[str, bytes]
"""Kind (`value`, `bad_type`, `error`, `exit`) and the coded value."""


def new_main() -> types.ModuleType:
    """An empty `__main__`, as a program finds it."""
    main = types.ModuleType("__main__")
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    main.__dict__["__file__"] = FILE_NAME
    sys.modules["__main__"] = main
    sys.argv = [FILE_NAME]
    return main


def compile_program(code: bytes) -> types.CodeType:
    """The program's code object; errors are the program's."""
    return compile(code, FILE_NAME, "exec", dont_inherit=True)


def guarded(action: Callable[[], Any]) -> tuple[str, int]:
    """Run `action` as the interpreter runs a program.

    Returns how it ended (empty, `exit` or `error`) and the exit code.
    """
    try:
        action()
    except SystemExit as stop:
        return "exit", _exit_code(stop.code)
    except BaseException as error:
        _show(error)
        return "error", 1
    return "", 0


def _exit_code(code: object) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return int(code) & 0xFF
    print(code, file=sys.stderr)  # noqa: T201 - as the interpreter does
    return 1


def _show(error: BaseException) -> None:
    """Traceback as the interpreter would print it, without our own frames."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OURS):
        trace = trace.tb_next
    try:
        sys.excepthook(type(error), error.with_traceback(trace), trace)
    except BaseException:
        os.write(2, b"error in sys.excepthook\n")


def run_program(code: bytes | types.CodeType) -> int:
    """Run a whole program; returns its exit code after its threads and exit handlers."""
    main = new_main()

    def action() -> None:
        program = code if isinstance(code, types.CodeType) else compile_program(code)
        exec(program, main.__dict__)  # noqa: S102 - the purpose of the room

    _, status = guarded(action)
    _, late = guarded(_wind_up)
    return status or late or flush()


def _wind_up() -> None:
    threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue]
    atexit._run_exitfuncs()


def flush() -> int:
    """Write out what the program printed; 120, as the interpreter says, when that fails."""
    code = 0
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            code = 120
    return code


def load(code: bytes) -> tuple[types.ModuleType, Report | None]:
    """Run a program for what it defines; a report when it did not come to its end."""
    main = new_main()
    main.__dict__["__name__"] = "solution"
    sys.modules["solution"] = main
    ended, _ = guarded(lambda: exec(compile_program(code), main.__dict__))  # noqa: S102
    flush()
    return main, (ended, b"") if ended else None


def call(main: types.ModuleType, coded: bytes, limits: dict[str, Any]) -> Report:
    """Call a function of the loaded program; the report says how it went."""
    caps = {"depth": limits["value_depth"], "digits": limits["int_digits"]}
    name, args, kwargs = values.decode(coded, depth=10_000, size=1 << 30, digits=1 << 20)
    reports: list[Report] = []

    def action() -> None:
        answer = _find(main, name)(*args, **kwargs)
        try:
            reports.append(("value", values.encode(answer, size=limits["value_bytes"], **caps)))
        except values.BadType as error:
            sys.stderr.write(f"the value cannot leave the sandbox: {error}\n")
            reports.append(("bad_type", b""))

    ended, _ = guarded(action)
    flush()
    return reports[0] if reports and not ended else (ended, b"")


def _find(main: types.ModuleType, name: str) -> Callable[..., Any]:
    head, *rest = name.split(".")
    try:
        found = main.__dict__[head]
    except KeyError:
        raise NameError(f"the program defines no {head!r}") from None
    for part in rest:
        if isinstance(found, type):
            found = found()
        found = getattr(found, part)
    return found


def send(fd: int, header: dict[str, Any], *blobs: bytes) -> None:
    """One frame out of the jail."""
    wire.write_all(fd, wire.pack(header, *blobs))
