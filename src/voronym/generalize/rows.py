"""Ranges of values with added noise, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import narwhals as nw
import numpy as np

from voronym.generalize.grid import public_width
from voronym.generalize.publish import published_ranges
from voronym.keyspaces import Coordinates, Published
from voronym.partition import Partition
from voronym.request.choices import ReleaseChoices
from voronym.result import Masked
from voronym.table.schema import Schema
from voronym.table.table import Table


def in_widths(table: Table, masked: Masked, choices: ReleaseChoices) -> Masked:
    """Return perturbed numbers as ranges, if these are requested.

    Widths are given, or follow from public bounds, or else from the perturbed numbers: a table of these would
    show them, too. No other value is looked at.
    """
    asked = [name for name in choices.publish or {} if name in table.keys and choices.way(name) == "interval"]
    if not asked:
        return masked
    noisy = table.like(masked.frame)
    alone = Partition(np.arange(len(masked.frame)))
    keys = Coordinates.of(noisy)
    widths = {**{name: _width(noisy, name, choices) for name in asked}, **(choices.widths or {})}
    only = replace(choices, publish=dict.fromkeys(asked, "interval"), widths=widths, hierarchies=None)
    published = published_ranges(noisy, keys, alone, keys.publish(alone), only, 1)
    columns = {name: nw.maybe_reset_index(published.frame[name]) for name in asked}
    note = f"{', '.join(asked)}: ranges are those of the values with noise; the original may lie outside"
    return replace(
        masked,
        frame=masked.frame.with_columns(**columns),
        schema=joined_schema(masked.schema, published, asked, table.schema),
        public_notes=(*masked.public_notes, note),
        notes=(*masked.notes, note),
    )


def _width(noisy: Table, name: str, choices: ReleaseChoices) -> float:
    """Return a round width: about a tenth of the bounds, or of the middle nine tenths of the numbers."""
    if choices.bounds and name in choices.bounds:
        return public_width(choices.bounds[name])
    numbers = noisy.numbers(name).astype(np.float64)
    low, high = np.quantile(numbers, (0.05, 0.95)) if len(numbers) else (0.0, 0.0)
    return public_width((float(low), float(high))) if high > low else 1.0


def joined_schema(
    schema: Schema | None, published: Published, asked: Sequence[str], original: Schema
) -> Schema | None:
    """Return the published schema: some columns by the method, some in another way."""
    if schema is None and published.schema is None:
        return None
    base = original if schema is None else schema
    other = original if published.schema is None else published.schema
    columns = tuple(other[column.name] if column.name in asked else column for column in base.columns)
    return replace(base, columns=columns)
