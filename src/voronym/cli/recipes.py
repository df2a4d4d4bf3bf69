"""A recipe beside a table: what it says about columns, for verbs that make no release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from voronym.errors import InputError

if TYPE_CHECKING:
    from voronym.recipe import Recipe

Recipes = Annotated[
    Path | None, typer.Option("--recipe", help="Take keys, kinds and how to read the file from a recipe.")
]


def load(path: Path | None) -> Recipe | None:
    """Read a recipe, where one is named."""
    from voronym.recipe import Recipe

    return None if path is None else Recipe.load(path)


def columns(recipe: Recipe | None, said: dict[str, Any], present: Sequence[str]) -> dict[str, Any]:
    """Return what is said about columns, by the recipe or on the command line; never by both.

    Parameters
    ----------
    recipe : Recipe, optional
        The recipe.
    said : dict
        Keyword arguments from the command line, empty where nothing was said.
    present : sequence of str
        The columns of the table: a release lacks those that its recipe dropped.
    """
    if recipe is None:
        return said
    given = [name for name, value in said.items() if value]
    if given:
        raise InputError(
            f"the recipe says what the columns are, and so do options about {', '.join(given)}: use one"
        )
    schema = recipe.schema
    absent = [name for name in schema.keys if name not in present]
    if absent:
        raise InputError(f"the table lacks keys of the recipe: {', '.join(map(repr, absent))}")
    used = [one for one in schema.columns if one.name in (*schema.keys, *schema.confidential)]
    used = [one for one in used if one.name in present]
    return {
        "keys": list(schema.keys),
        "confidential": [one.name for one in used if one.role == "confidential"],
        "kinds": {one.name: one.kind for one in used if one.kind != "location" and not one.categories},
        "orders": {one.name: list(one.categories) for one in used if one.categories},
        "locations": [(one.name, one.partner) for one in used if one.axis == "lat"],
    } | {name: column for name, column in schema.units.items() if column in present}
