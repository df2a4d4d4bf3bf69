"""Convert recipes of earlier formats to the present format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voronym.core.formats import check_format
from voronym.errors import InputError
from voronym.request.choices import ReleaseChoices

FORMAT = 2
"""The format of recipes that are written. Format 1 kept choices of the run among the method's options."""


def upgraded(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of a recipe in the present format, from any known format."""
    entries = dict(data)
    given = entries.pop("format", FORMAT)
    check_format("the recipe", given, FORMAT)
    if entries.get("method") == "hierarchy":  # the word is kept for trees of values
        entries["method"] = "prepartition"
    if given == 1:
        return _from_1(entries)
    return entries


def _from_1(entries: dict[str, Any]) -> dict[str, Any]:
    """Bring a recipe of version 0.1.0 to the present format."""
    options = entries.pop("options", {})
    allow, plan = entries.pop("allow", {}), entries.pop("engine", {})
    if not all(isinstance(table, Mapping) for table in (options, allow, plan)):
        raise InputError("options, allow and engine must be tables of names and values")
    moved = {name: value for name, value in options.items() if name in ReleaseChoices.names()}
    rest = {name: value for name, value in options.items() if name not in moved}
    entries |= moved | ({"options": rest} if rest else {})
    names = {"near-unique": "allow_near_unique", "loss": "allow_loss"}
    unknown = sorted(set(allow) - set(names))
    if unknown:
        raise InputError(f"the recipe allows what this version does not know: {', '.join(unknown)}")
    entries |= {names[name]: columns for name, columns in allow.items()}
    return entries | {"engine" if name == "name" else name: value for name, value in plan.items()}
