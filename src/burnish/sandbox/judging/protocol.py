"""The call protocol: how a call of the candidate is asked for, and what counts as an answer."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from burnish.sandbox.records import Call, Plain

Answer = tuple[Plain, ...]


@lru_cache
def inside(name: str) -> str:
    """The source of a program that runs in a jail."""
    return files("burnish.sandbox.judging.inside").joinpath(f"{name}.py").read_text(encoding="utf-8")


def candidate_program(code: str) -> str:
    """The candidate's code with its end of the call protocol behind it."""
    return f"{code}\n\n{inside('candidate')}"


def question(verb: str, call: Call) -> Call:
    """A call of the protocol that asks for one call of the candidate."""
    args = tuple(("value", value) for value in call.args)
    kwargs = {name: ("value", value) for name, value in call.kwargs.items()}
    return Call("burnish_answer", ([(verb, None, call.function, args, kwargs, False)],))


def read_answer(value: Plain) -> tuple[str, Answer]:
    """An answer of the protocol, checked: its kind and its parts; an empty kind when it is not one."""
    if not isinstance(value, tuple):
        return "", ()
    match value:
        case ("value", _, dict() as changed) if all(type(place) is int for place in changed):
            return "value", value
        case ("object", str()):
            return "object", value
        case ("raised", tuple() as names, str()) if all(isinstance(name, str) for name in names):
            return "raised", value
    return "", ()
