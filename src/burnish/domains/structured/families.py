"""The structured families by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from burnish.domains.settings import DomainSettings
from burnish.domains.structured.base import Structured
from burnish.domains.structured.json_schema import JsonSchema
from burnish.domains.structured.regex import Regex
from burnish.domains.structured.sql import Sql
from burnish.domains.structured.table_to_json import TableToJson


def _made(kind: type[Structured[Any]]) -> Callable[[DomainSettings], Structured[Any]]:
    return lambda settings: kind(settings.answer_format, settings.instruction)


FAMILIES: Mapping[str, Callable[[DomainSettings], Structured[Any]]] = {
    kind().name: _made(kind) for kind in (JsonSchema, Regex, Sql, TableToJson)
}
