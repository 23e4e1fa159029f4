"""The families of documents by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from burnish.domains.documents.base import Documents
from burnish.domains.documents.facts import KeyChain, MultiHop, Needle
from burnish.domains.documents.tables import TableAggregation
from burnish.domains.documents.tracking import VariableTracking
from burnish.domains.settings import DomainSettings


def _made(kind: type[Documents]) -> Callable[[DomainSettings], Documents]:
    return lambda settings: kind(settings.answer_format, settings.instruction)


FAMILIES: Mapping[str, Callable[[DomainSettings], Documents]] = {
    kind().name: _made(kind) for kind in (KeyChain, MultiHop, Needle, TableAggregation, VariableTracking)
}
