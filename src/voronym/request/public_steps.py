"""Steps combined with differential privacy: which steps cost no privacy, and how they change public bounds.

A step *before* changes the values of each row. If the new values depend only on that row and on public rules,
two tables that differ in one unit still differ in one unit, so the promise holds. A step *after* that reads
only private columns works on published values. Columns outside the promise may change in any way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voronym.request.recipe import Recipe


def private_names(recipe: Recipe) -> set[str]:
    """Return the columns that a private release covers."""
    schema, model = recipe.schema, recipe.private
    if model is not None and model.scope == "all":
        return {column.name for column in schema if column.role != "identifier"}
    return set(schema.keys) - set(recipe.strata)


def uncounted_steps(recipe: Recipe) -> list[str]:
    """Return the steps that would let values bypass the noise."""
    private, schema = private_names(recipe), recipe.schema
    units = bool(schema.person or schema.household)
    out = []
    for step in recipe.column_steps:
        sees = {*step.columns, *step.asks()}
        if not set(step.columns) & private:
            continue
        if step.when == "before":
            free = step.by_row
        else:  # rows of one person that are drawn alike, or counted once, would show that they are one's
            free = sees <= private and (not units or (step.by_row and not step.random))
        if not free:
            out.append(str(step))
    return out


def stepped_bounds(recipe: Recipe) -> dict[str, Any] | None:
    """Return the public bounds after the earlier steps; categories as those they become."""
    bounds = dict(recipe.bounds or {})
    for step in recipe.column_steps:
        for name in step.columns if step.when == "before" else ():
            given = bounds.get(name)
            if given is None:
                continue
            if step.cuts_lines:
                del bounds[name]  # the ranges are the domain
            elif recipe.schema[name].kind in ("nominal", "ordinal"):
                bounds[name] = list(dict.fromkeys(step.becomes([str(value) for value in given])))
    return bounds or None
