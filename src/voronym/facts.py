"""What may be said about columns beside their roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from voronym.table import Kind


class ColumnFacts(TypedDict, total=False):
    """What may be said about columns beside their roles, see `voronym.Schema.build`."""

    drop_undeclared: bool
    """Drop columns that have no role, instead of refusing them."""
    kinds: Mapping[str, Kind] | None
    """Kind of a column where the type does not say it: ``{"zip": "nominal"}``."""
    orders: Mapping[str, Sequence[str]] | None
    """Levels of ordinal columns, from low to high."""
    locations: Sequence[tuple[str, str]]
    """Pairs of key columns that are places on the globe."""
    person: str | None
    """The column whose values are people, where a person has several rows: k counts people."""
    household: str | None
    """The column whose values are households: k counts households."""
    pseudonyms: bool
    """Keep these two columns, with fresh random numbers in place of their values."""
    allow_near_unique: Sequence[str]
    """Keys that may publish a category which one person alone has."""
    allow_loss: Sequence[str]
    """Keys of which next to nothing need be left."""


ALLOW = {"allow_near_unique": "near-unique", "allow_loss": "loss"}
"""Arguments that allow what would be refused, and what it is called in a recipe."""

OTHER_WORDS = {
    "quasi_identifiers": "keys", "qi": "keys", "qis": "keys", "key": "keys", "identifier": "identifiers",
    "direct_identifiers": "identifiers", "sensitive": "confidential", "sensitive_attributes": "confidential",
    "insensitive": "other", "model": "models", "step": "steps", "option": "options", "file": "data",
}  # fmt: skip
"""What others call the arguments of `anonymize`."""
