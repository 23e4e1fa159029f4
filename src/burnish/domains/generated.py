"""The families that this package generates, by folder. Naming them imports none of them.

A folder `domains/<folder>/` has a module `families` with a table `FAMILIES` from full names to what makes the
domain from the `DomainSettings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from burnish.domains.base import Domain
from burnish.domains.settings import DomainSettings

NAMES: Mapping[str, tuple[str, ...]] = {
    "code": (
        "code/python/fix_bug",
        "code/python/predict_output",
        "code/python/write_function",
    ),
    "derivations": (
        "derivations/arithmetic",
        "derivations/equation",
        "derivations/puzzle",
    ),
    "documents": (
        "documents/key_chain",
        "documents/multi_hop",
        "documents/needle",
        "documents/table_aggregation",
        "documents/variable_tracking",
    ),
    "instructions": (
        "instructions/case",
        "instructions/combined",
        "instructions/format",
        "instructions/keywords",
        "instructions/language",
        "instructions/length",
        "instructions/punctuation",
        "instructions/structure",
    ),
    "structured": (
        "structured/json_schema",
        "structured/regex",
        "structured/sql",
        "structured/table_to_json",
    ),
}
"""Full names of the families of each folder."""


def make_generated(folder: str, name: str, settings: DomainSettings) -> Domain:
    """The domain of a family; its folder is imported now."""
    return import_module(f"burnish.domains.{folder}.families").FAMILIES[name](settings)
