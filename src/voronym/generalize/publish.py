"""From groups to published values: ranges in some columns, centres in the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from voronym.core.registry import Registry
from voronym.errors import InputError, hint
from voronym.generalize.columns import RangeColumn, Tree, range_columns
from voronym.keyspaces import Coordinates, Keys, Published, Weighed
from voronym.partition import Partition
from voronym.request.checks import EVERY
from voronym.request.choices import ReleaseChoices
from voronym.table.schema import Column, Schema
from voronym.table.table import Table

PUBLISH: Registry[str] = Registry("way to publish")
"""The ways to publish a key of a group, each with a sentence."""
PUBLISH.add("mean", "the mean of numbers and dates, the most frequent category")
PUBLISH.add("median", "the median of numbers and dates, the most frequent category")
PUBLISH.add("interval", "a range such as 30–39; of categories, the list of those in the group")
PUBLISH.add("hierarchy", "the lowest common ancestor in a hierarchy")
RANGES = ("interval", "hierarchy")
RANGED = "published as ranges"
"""Reason why a published column is a text."""


def ways_of(choices: ReleaseChoices, keys: Sequence[str], usual: str = "mean") -> dict[str, str]:
    """Return how each key is published."""
    strange = [name for name in choices.publish or {} if name not in keys and name != EVERY]
    if strange:
        raise InputError(
            f"publish names {', '.join(map(repr, strange))}, which is no key; these are: {', '.join(keys)}"
        )
    trees = choices.hierarchies or {}
    return {name: choices.way(name, "hierarchy" if name in trees else usual) for name in keys}


def ranges_of(choices: ReleaseChoices, table: Table, k: int, chosen: Mapping[str, str]) -> list[RangeColumn]:
    """Return the chosen keys that are published as ranges."""
    ranged = {name: way for name, way in chosen.items() if way in RANGES}
    _whole_places(table.schema, ranged)
    trees = choices.hierarchies or {}
    unused = [name for name in trees if name in table.keys and ranged.get(name) != "hierarchy"]
    if unused:
        raise InputError(
            f"a hierarchy is given for {', '.join(map(repr, unused))}, which is not published by it: say "
            f"{hint('publish', {unused[0]: 'hierarchy'})}, or leave it out"
        )
    return range_columns(
        table, ranged, k, hierarchies=trees, widths=choices.widths, exact=choices.ends == "exact"
    )


def _whole_places(schema: Schema, chosen: Mapping[str, str]) -> None:
    for name in chosen:
        partner = schema[name].partner
        if partner is not None and partner not in chosen:
            raise InputError(f"{name!r} and {partner!r} are a place: publish both as intervals, or neither")


def published_ranges(
    table: Table, keys: Keys, part: Partition, published: Published, choices: ReleaseChoices, k: int
) -> Published:
    """Return the published values of groups, with ranges and medians for the keys that request them.

    Parameters
    ----------
    table : Table
        The records that were grouped.
    keys : Keys
        Their keys in the space.
    part : Partition
        The groups.
    published : Published
        The default published values of the groups.
    choices : ReleaseChoices
        The way to publish each key.
    k : int
        The smallest size of a group, and the smallest number of people behind an end of an interval.
    """
    chosen = ways_of(choices, table.keys)
    middle = [name for name, way in chosen.items() if way == "median"]
    if middle:
        published = _medians(table, keys, part, published, middle)
    columns = ranges_of(choices, table, k, chosen)
    return with_ranges(table, part, published, columns) if columns else published


def with_ranges(
    table: Table, part: Partition, published: Published, columns: Sequence[RangeColumn]
) -> Published:
    """Replace the published values of groups by their ranges."""
    library = table.frame.implementation
    made = {
        column.name: nw.new_series(
            column.name, column.texts(*column.span(part)), nw.String(), backend=library
        )
        for column in columns
    }
    frame = nw.from_dict({name: made[name] if name in made else published.frame[name] for name in table.keys})
    named = {item.name: item.says() for item in columns}
    return replace(
        published,
        frame=frame,
        published_as={**dict(published.published_as), **named},
        schema=ranged_schema(
            table.schema, list(made), trees=[entry.name for entry in columns if isinstance(entry, Tree)]
        ),
    )


def ranged_schema(schema: Schema, names: Sequence[str], *, trees: Collection[str] = ()) -> Schema:
    """Return the published schema, in which ranges are texts.

    ``trees``: columns with texts of a given hierarchy, which are not read as ranges.
    """

    def made(column: Column) -> Column:
        own = column.name not in trees and (
            column.ranges or column.kind in ("numeric", "location", "datetime")
        )
        bare = replace(column, categories=None, partner=None, axis=None, note=RANGED)
        return replace(bare, kind="nominal", ranges=own)

    return replace(
        schema, columns=tuple(made(column) if column.name in names else column for column in schema.columns)
    )


def _medians(
    table: Table, keys: Keys, part: Partition, published: Published, names: Sequence[str]
) -> Published:
    """Replace the means of groups by their medians, in the coordinates, and decode them again."""
    plain = keys.plain if isinstance(keys, Weighed) else Coordinates.of(table)
    weights = keys.weights if isinstance(keys, Weighed) else None
    centroids = np.array(plain.records.centroids(part))
    order = np.argsort(part.labels, kind="stable")
    ends = np.concatenate([[0], np.cumsum(part.sizes)])
    for block, encoder in zip(plain.codec.blocks, plain.codec.encoders, strict=True):
        absence = getattr(encoder, "absence", None)
        if absence is None or encoder.kind == "location" or not set(block.columns) & set(names):
            continue  # categories have no median: the most frequent one stays
        X = plain.X[:, block.start : block.stop]
        there = X[:, -1] < 0.0 if absence.width else np.ones(len(X), bool)
        _, observed = absence.decode(centroids[:, block.start : block.stop])
        for group in range(part.n_cells):
            rows = order[ends[group] : ends[group + 1]]
            seen = rows[there[rows]]
            if len(seen):
                middle = _median(X[seen, 0], None if weights is None else weights[seen])
                centroids[group, block.start] = middle * observed[group]
    again = plain.codec.decode(centroids, part.labels)
    kept = {name: (again if name in names else published.frame)[name] for name in published.frame.columns}
    ways = dict.fromkeys(names, "published as the median of the group")
    return replace(published, frame=nw.from_dict(kept), published_as={**dict(published.published_as), **ways})


def _median(values: NDArray[np.float64], weights: NDArray[np.float64] | None) -> float:
    """Return the median; with weights, the mean of the values around half of the total weight.

    Examples
    --------
    >>> _median(np.array([1.0, 2.0, 9.0]), np.array([1.0, 1.0, 3.0]))
    9.0
    """
    if weights is None:
        return float(np.median(values))
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    half = below[-1] / 2.0
    low = values[order[int(np.searchsorted(below, half * (1.0 - 1e-12), side="left"))]]
    high = values[order[min(int(np.searchsorted(below, half * (1.0 + 1e-12), side="right")), len(order) - 1)]]
    return float((low + high) / 2.0)
