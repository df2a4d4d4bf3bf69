"""Checks before the work and on its result, so that no person is published by mistake."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

from voronym.errors import InputError, SchemaError, hint
from voronym.keyspaces import Coordinates
from voronym.methods.differential import private_columns, private_of
from voronym.methods.weights import averaged
from voronym.request.choices import ReleaseChoices
from voronym.request.recipe import Recipe
from voronym.result import Grouped, Masked
from voronym.table.doubts import Doubt, check_published, refuse, unit_columns
from voronym.table.table import Table

GONE, MUCH = 90.0, 150.0
"""A key is refused if it loses more than 90 % of the most it can lose and more than 150 % of its variance.
The second test exempts keys with the same value for nearly everybody.
"""

Losses = dict[str, tuple[float, float]]


def allowed(choices: ReleaseChoices, keys: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return, for each doubt, the keys for which it is allowed; refuse columns that are no keys."""
    out = {"near-unique": choices.allow_near_unique, "loss": choices.allow_loss}
    for name, columns in out.items():
        strange = [column for column in columns if column not in keys]
        if strange:
            raise InputError(f"allow {name}: {', '.join(map(repr, strange))} is no key of the table")
    return out


def before(table: Table, choices: ReleaseChoices, *, looked_at: float = 1.0) -> tuple[Doubt, ...]:
    """Return warnings about a table; raise an error if it must not be released.

    ``looked_at``: the share of all rows that the table holds.
    """
    private = private_of(choices)
    covered = private_columns(table, private) if private is not None else []  # not kept as they are
    doubts = [
        doubt
        for doubt in (*table.doubts, *joined_units(table, choices, looked_at=looked_at))
        if doubt.name not in ("near-unique", "tells", unit_columns.NAME) or doubt.column not in covered
    ]
    if choices.method == "local-suppression":  # nothing is averaged: every value that is published is true
        doubts = [doubt for doubt in doubts if doubt.name != "codes"]
    return refuse(doubts, allowed(choices, table.keys))


USUAL = 5
"""Default k while none is chosen."""


def joined_units(table: Table, choices: ReleaseChoices, *, looked_at: float = 1.0) -> tuple[Doubt, ...]:
    """Return doubts about kept columns whose values let an intruder join rows of a person or household.

    With pseudonyms rows are joined anyway. Allowed columns, and weights that are published as group
    means, are skipped. ``looked_at``: the share of all rows that the table holds.
    """
    strange = [name for name in choices.allow_unit_columns if name not in table.schema]
    if strange:
        raise InputError(f"allow unit columns: {', '.join(map(repr, strange))} is not a column of the table")
    if table.units is None or table.schema.pseudonyms:
        return ()
    k, gone = choices.k or USUAL, {*choices.allow_unit_columns}
    if isinstance(choices, Recipe):
        k = choices.required_k
        gone |= {averaged(table, choices, k) or ""}
    kept = [
        column.name
        for column in table.schema
        if column.role in ("confidential", "other") and column.name in table and column.name not in gone
    ]
    return tuple(
        doubt
        for what, codes in table.units.known.items()
        for doubt in unit_columns.doubts(
            unit_columns.joining(table, kept, codes, k, looked_at=looked_at), what, k
        )
    )


def of_recipe(table: Table, recipe: Recipe, *, looked_at: float = 1.0) -> tuple[Doubt, ...]:
    """Return warnings about a table after its steps, before a recipe masks it.

    Columns that a step draws afresh, and weights that are averaged, are not kept as they are. ``looked_at``
    is the share of all rows that are in the table.
    """
    redrawn = {name for step in recipe.column_steps if step.random for name in step.columns} - set(table.keys)
    if recipe.makes_groups and (heavy := averaged(table, recipe, recipe.required_k)):
        redrawn.add(heavy)
    return tuple(
        doubt
        for doubt in before(table, recipe, looked_at=looked_at)
        if doubt.name not in ("near-unique", "tells") or doubt.column not in redrawn
    )


def after(
    table: Table,
    made: Table,
    masked: Masked,
    losses: Mapping[str, tuple[float, float]],
    choices: ReleaseChoices,
) -> tuple[Doubt, ...]:
    """Return warnings about a result; raise if it must not be published.

    Parameters
    ----------
    table : Table
        The originals.
    made : Table
        The same rows, masked.
    masked : Masked
        The result of the method, with its remarks.
    losses : mapping
        For each key, the loss in percent of its variance, and of the most it can lose.
    choices : ReleaseChoices
        Which doubts are allowed.
    """
    if not isinstance(masked, Grouped):  # methods that stir records are compared by other figures
        return ()
    categories = [name for name in table.keys if table.schema[name].kind == "nominal"]
    result = list(check_published(table, made, categories))
    several = masked.partition is not None and masked.partition.n_cells > 1
    for name, (loss, gone) in losses.items():
        if several and (doubt := next_to_nothing(name, loss, gone)) is not None:
            result.append(doubt)
    each = [loss for loss, _ in losses.values()]
    if several and (outcome := useless(each)) is not None:
        result.append(Doubt("useless", "", outcome))
    if (k := _needless(masked)) and _mean(each) > 0.0:
        text = (
            f"all {table.n:,} records are in one group, though there are enough for several of k={k}: every "
            "key has one value for everybody, and nothing is left of the keys. Ask for a weaker model, or "
            "publish without the keys"
        )
        result.append(Doubt("one-group", "", text))
    return refuse(result, allowed(choices, table.keys))


def next_to_nothing(name: str, loss: float, gone: float) -> Doubt | None:
    """Return a doubt about a key that lost nearly all its information; otherwise None.

    ``loss``: in percent of its variance. ``gone``: in percent of the most it can lose.
    """
    if loss <= MUCH or gone <= GONE:
        return None
    text = (
        f"key {name!r} would lose {loss:.1f} % of its variance and {min(gone, 100.0):.0f} % of "
        f"what it can lose: nearly nothing is left. Drop it ({hint('identifiers', [name])}), give it "
        "fewer categories, take fewer keys or a smaller k; or allow it: "
        f"{hint('allow_loss', [name])}"
    )
    return Doubt("loss", name, text, "refuse")


def useless(losses: Sequence[float]) -> str | None:
    """Return a warning about keys that lost more than their variance on average, or None."""
    if (mean := _mean(losses)) <= 100.0:
        return None
    return (
        f"the {len(losses)} keys lost {mean:.0f} % of their variance: what is published is further from "
        "the truth than the average of all records, and of little use. Take fewer keys, or a smaller k"
    )


def single_leaves(leaves: Sequence[tuple[int, int, float]], k: int) -> str | None:
    """Return a warning about leaves that became a single group despite enough records; otherwise None.

    ``leaves`` has the number of records, the number of groups and the loss of each leaf.
    """
    held = [rows for rows, groups, lost in leaves if groups == 1 and rows >= 2 * k and lost > 0.0]
    if not held:
        return None
    return (
        f"{sum(held):,} of {sum(rows for rows, _, _ in leaves):,} records are in leaves that became one "
        f"group each ({len(held)} of {len(leaves)}), though there are enough for several of k={k}: every key "
        "has one value for all records of such a leaf, and nearly nothing is left of the keys. Ask for a "
        "weaker model, or publish without the keys"
    )


def _mean(losses: Sequence[float]) -> float:
    return sum(losses) / len(losses) if losses else 0.0


def _needless(masked: Grouped) -> int | None:
    """Return k if all people are in one group although there are enough for several; otherwise None."""
    part = masked.partition
    if part is None or part.k is None or part.n_cells > 1 or len(part.labels) < 2 * part.k:
        return None
    return part.k


def lost(table: Table, made: Table) -> tuple[Coordinates | None, float | None, Losses]:
    """Return the keys as numbers, their loss of variance, and the loss of each key.

    None if a key has no numbers, such as text, or has another type in the release.
    """
    if any(made.frame[name].dtype != table.frame[name].dtype for name in table.keys):
        return None, None, {}
    with contextlib.suppress(SchemaError):
        coordinates = Coordinates.of(table)
        errors = coordinates.errors(made, table)
        return coordinates, coordinates.percent(errors), coordinates.losses(errors, table)
    return None, None, {}
