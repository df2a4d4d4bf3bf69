"""From groups to what they publish: ranges in some columns, centres in the others."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from voronym.core.options import Options, by_column, one_of, option
from voronym.errors import InputError
from voronym.keyspaces import Coordinates, Keys, Published
from voronym.partition import Partition
from voronym.ranges.columns import RangeColumn, Tree, range_columns
from voronym.table.hierarchy import Hierarchy
from voronym.table.schema import Column, Schema
from voronym.table.table import Table

WAYS = ("mean", "median", "interval", "hierarchy")
RANGES = ("interval", "hierarchy")
RANGED = "published as ranges"
"""Why a published column is a text."""
EVERY = "*"
"""Stands for all keys that are not named."""


def ways(name: str, value: Any) -> dict[str, str]:
    """Check how keys are published: a word for all of them, or a word by column; "*" are the others."""
    given = {EVERY: value} if isinstance(value, str) else by_column(name, value)
    for column, way in given.items():
        if way not in WAYS:
            where = "" if column == EVERY else f" of {column!r}"
            raise InputError(f"{name}{where} must be one of {', '.join(WAYS)}, not {way!r}")
    return given


def trees(name: str, value: Any) -> dict[str, Any]:
    """Check hierarchies by column; those that are objects become what a recipe can hold."""
    return {
        column: str(one) if isinstance(one, (Hierarchy, os.PathLike)) else one
        for column, one in by_column(name, value).items()
    }


def checked_widths(name: str, value: Any) -> dict[str, float]:
    """Check widths of steps by column."""
    given = by_column(name, value)
    for column, width in given.items():
        if isinstance(width, bool) or not isinstance(width, (int, float)) or not 0.0 < width < np.inf:
            raise InputError(f"{name}: that of {column!r} must be a number above 0, not {width!r}")
    return given


def said_of(publish: Any, hierarchies: Any) -> dict[str, Any]:
    """Return what was said of how keys are published, as options that a recipe can hold."""
    made = {
        "publish": None if publish is None else ways("publish", publish),
        "hierarchies": None if hierarchies is None else trees("hierarchies", hierarchies),
    }
    return {name: one for name, one in made.items() if one is not None}


@dataclass(frozen=True)
class RangeOptions(Options):
    """How keys are published."""

    publish: Mapping[str, str] | None = option(
        None,
        "what a group publishes of each key: mean, median, interval or hierarchy; '*' stands for all others",
        check=ways,
        shape="by column",
    )
    hierarchies: Mapping[str, Any] | None = option(
        None, "by column, the file of its hierarchy", check=trees, shape="by column"
    )
    widths: Mapping[str, float] | None = option(
        None,
        "by column, the least width of intervals; days for dates",
        check=checked_widths,
        shape="by column",
    )
    ends: str = option(
        "rounded",
        "ends of intervals: rounded, so that each may be of k people, or exact: somebody's values",
        check=one_of("rounded", "exact"),
    )

    def ways(self, keys: Sequence[str], usual: str = "mean") -> dict[str, str]:
        """Return how each key is published."""
        given = dict(self.publish or {})
        rest = given.pop(EVERY, usual)
        strange = [name for name in given if name not in keys]
        if strange:
            raise InputError(
                f"publish names {', '.join(map(repr, strange))}, which is no key; these are: "
                f"{', '.join(keys)}"
            )
        return {name: given.get(name, rest) for name in keys}

    def columns(self, table: Table, k: int, usual: str = "mean") -> list[RangeColumn]:
        """Return the keys that are published as ranges."""
        chosen = {name: way for name, way in self.ways(table.keys, usual).items() if way in RANGES}
        _whole_places(table.schema, chosen)
        unused = [
            name
            for name in (self.hierarchies or {})
            if name in table.keys and chosen.get(name) != "hierarchy"
        ]
        if unused:
            raise InputError(
                f"a hierarchy is given for {', '.join(map(repr, unused))}, which is not published by it: say "
                f"--publish {unused[0]}=hierarchy, or leave it out"
            )
        return range_columns(
            table, chosen, k, hierarchies=self.hierarchies, steps=self.widths, exact=self.ends == "exact"
        )


def _whole_places(schema: Schema, chosen: Mapping[str, str]) -> None:
    for name in chosen:
        partner = schema[name].partner
        if partner is not None and partner not in chosen:
            raise InputError(f"{name!r} and {partner!r} are a place: publish both as intervals, or neither")


def published_ranges(
    table: Table, keys: Keys, part: Partition, published: Published, options: RangeOptions, k: int
) -> Published:
    """Return what groups publish, with ranges and medians where they are asked for.

    Parameters
    ----------
    table : Table
        The records that were grouped.
    keys : Keys
        Their keys in the space.
    part : Partition
        The groups.
    published : Published
        What the groups publish by default.
    options : RangeOptions
        How each key is published.
    k : int
        The least size of a group, and of those whom an end of an interval may be of.
    """
    middle = [name for name, way in options.ways(table.keys).items() if way == "median"]
    if middle:
        published = _medians(keys, part, published, middle)
    columns = options.columns(table, k)
    return with_ranges(table, part, published, columns) if columns else published


def with_ranges(
    table: Table, part: Partition, published: Published, columns: Sequence[RangeColumn]
) -> Published:
    """Put the ranges of groups in place of what they would publish."""
    library = table.frame.implementation
    made = {
        one.name: nw.new_series(one.name, one.texts(*one.span(part)), nw.String(), backend=library)
        for one in columns
    }
    frame = nw.from_dict({name: made[name] if name in made else published.frame[name] for name in table.keys})
    named = {one.name: one.says() for one in columns}
    return replace(
        published,
        frame=frame,
        published_as={**dict(published.published_as), **named},
        schema=ranged_schema(
            table.schema, list(made), trees=[one.name for one in columns if isinstance(one, Tree)]
        ),
    )


def ranged_schema(schema: Schema, names: Sequence[str], *, trees: Collection[str] = ()) -> Schema:
    """Return the schema of what is published: ranges are texts.

    Texts of ``trees`` are those of a hierarchy that somebody wrote, and are left as they are.
    """

    def made(one: Column) -> Column:
        own = one.name not in trees and (one.ranges or one.kind in ("numeric", "location", "datetime"))
        bare = replace(one, categories=None, partner=None, axis=None, note=RANGED)
        return replace(bare, kind="nominal", ranges=own)

    return replace(schema, columns=tuple(made(one) if one.name in names else one for one in schema.columns))


def _medians(keys: Keys, part: Partition, published: Published, names: Sequence[str]) -> Published:
    """Put the medians of groups in place of their means, in the coordinates, and decode them again."""
    if not isinstance(keys, Coordinates):
        raise InputError(
            "medians are of keys as numbers, and of records and keys that count alike: leave out the space, "
            "the weights, the importance, or the median"
        )
    centroids = np.array(published.centroids)
    order = np.argsort(part.labels, kind="stable")
    ends = np.concatenate([[0], np.cumsum(part.sizes)])
    for block, encoder in zip(keys.codec.blocks, keys.codec.encoders, strict=True):
        absence = getattr(encoder, "absence", None)
        if absence is None or encoder.kind == "location" or not set(block.columns) & set(names):
            continue  # categories have no median: the most frequent one stays
        X = keys.X[:, block.start : block.stop]
        there = X[:, -1] < 0.0 if absence.width else np.ones(len(X), bool)
        _, observed = absence.decode(centroids[:, block.start : block.stop])
        for group in range(part.n_cells):
            rows = order[ends[group] : ends[group + 1]]
            seen = X[rows[there[rows]], 0]
            if len(seen):
                centroids[group, block.start] = np.median(seen) * observed[group]
    again = keys.codec.decode(centroids, part.labels)
    kept = {name: (again if name in names else published.frame)[name] for name in published.frame.columns}
    said = dict.fromkeys(names, "published as the median of the group")
    return replace(published, frame=nw.from_dict(kept), published_as={**dict(published.published_as), **said})
