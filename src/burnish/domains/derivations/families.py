"""The families of derivations by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from burnish.domains.derivations.arithmetic import Arithmetic
from burnish.domains.derivations.base import Derivation
from burnish.domains.derivations.equation import LinearEquation
from burnish.domains.derivations.puzzle import Moves
from burnish.domains.settings import DomainSettings


def _made(kind: type[Derivation[Any]]) -> Callable[[DomainSettings], Derivation[Any]]:
    return lambda settings: kind(settings.answer_format, settings.instruction)


FAMILIES: Mapping[str, Callable[[DomainSettings], Derivation[Any]]] = {
    kind().name: _made(kind) for kind in (Arithmetic, LinearEquation, Moves)
}
