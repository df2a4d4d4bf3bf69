"""The recipe of a table, read for its columns by verbs that make no release."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.errors import InputError, VoronymError

if TYPE_CHECKING:
    from voronym.request.recipe import Recipe

Recipes = Annotated[
    Path | None, typer.Option("--recipe", help="Take keys, kinds and how to read the file from a recipe.")
]


_OF_ORIGINAL = ("skip_rows", "skip_footer", "sheet", "query", "delimiter", "encoding")


def load(path: Path | None) -> Recipe | None:
    """Read a recipe; None without a path."""
    from voronym.request.recipe import Recipe

    return None if path is None else Recipe.load(path)


def reading(recipe: Recipe | None, source: str, result: dict[str, Any], **query: Any) -> dict[str, Any]:
    """Return the reading options of a table that may be a release: from the recipe, or as requested.

    A release has neither lines above its header nor the sheet of its original. If the keys are found
    without these options, they are dropped.
    """
    from voronym.table.read import fitting, read

    result = {**result, **{name: text for name, text in query.items() if text is not None}}
    known = {} if recipe is None else {**fitting(recipe.reading, source), **result}
    if recipe is None or not any(name in known and name not in result for name in _OF_ORIGINAL):
        return {**known, **result}
    bare = {name: value for name, value in known.items() if name in result or name not in _OF_ORIGINAL}
    with suppress(VoronymError):
        if set(recipe.schema.keys) <= set(read(source, **bare).columns):
            return bare
    return known


def columns(recipe: Recipe | None, options: dict[str, Any], present: Sequence[str]) -> dict[str, Any]:
    """Return the facts about columns, from the recipe or the command line, never from both.

    Parameters
    ----------
    recipe : Recipe, optional
        The recipe.
    options : dict
        Keyword arguments from the command line; empty values if they were not given.
    present : sequence of str
        The columns of the table; a release lacks the columns that its recipe dropped.
    """
    if recipe is None:
        return options
    given = [name for name, value in options.items() if value]
    if given:
        raise InputError(
            f"the recipe describes the columns, and so do options about {', '.join(given)}: use one of them"
        )
    schema = recipe.schema
    absent = [name for name in schema.keys if name not in present]
    if absent:
        raise InputError(f"the table lacks keys of the recipe: {', '.join(map(repr, absent))}")
    used = [item for item in schema.columns if item.name in (*schema.keys, *schema.confidential)]
    used = [entry for entry in used if entry.name in present]
    return {
        "keys": list(schema.keys),
        "confidential": [element.name for element in used if element.role == "confidential"],
        "kinds": {
            member.name: member.kind for member in used if member.kind != "location" and not member.categories
        },
        "orders": {result.name: list(result.categories) for result in used if result.categories},
        "locations": [(result.name, result.partner) for result in used if result.axis == "lat"],
    } | {name: column for name, column in schema.units.items() if column in present}
